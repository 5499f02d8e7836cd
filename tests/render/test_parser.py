import subprocess
import sys

from citestream.render.parser import block_tokens, inline_tokens


def test_rows_of_tables_say_where_they_begin():
    text = "> | a |\n> |---|\n> | b |"
    rows = [token for token in block_tokens(text, {}, html=True) if token.type == "tr_open"]
    assert [text[row.meta["at"] :].partition("\n")[0] for row in rows] == ["| a |", "| b |"]


def test_links_are_taken_as_they_are_written():
    found = {}
    block_tokens("[x]: javascript:a\\&b", found, html=True)
    opened = [token for token in inline_tokens("[x] [y](z:週)", found, html=True) if token.attrs]
    assert [token.attrs["href"] for token in opened] == ["javascript:a&b", "z:週"]


def test_deep_nesting_ends():
    tokens = block_tokens("> " * 3000 + "a", {}, html=True)
    assert len(tokens) <= 400
    assert inline_tokens("[" * 3000 + "a" + "](b)" * 3000, {}, html=True)


def test_who_renders_nothing_does_not_import_the_parser():
    code = "import sys, citestream; sys.exit('markdown_it' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603
