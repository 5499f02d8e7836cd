from citestream import format_marker, render, resolve


def test_a_notebook_shows_it_with_its_sources():
    found = resolve(f"Rents rose.{format_marker('turn0file0', locator='L8')}")
    shown = render.answer(found)
    assert found._repr_html_() == shown._repr_html_()
    assert found._repr_markdown_() == shown._repr_markdown_()
    assert "<sup" in found._repr_html_()
    assert "turn0file0" in found._repr_markdown_()
