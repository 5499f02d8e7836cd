"""The markers that a prompt shows, written so that the parser reads them back as they are meant.

In: source ids with or without locators. Out: one marker. Every marker in a prompt comes from here.
Deliberately elsewhere: the syntax and the writing of a simple marker (``markers``).
"""

from ..errors import OptionError
from ..markers import format_marker
from .prompt_options import PromptOptions

__all__ = ("show_marker",)


def show_marker(*targets: tuple[str, str | None], options: PromptOptions) -> str:
    r"""Write a marker that cites ``targets``, pairs of a source id and a locator or None.

    Raises OptionError where the syntax would not read it back.

    >>> show_marker(("a", "L1"), ("b", "L4-L9"), options=PromptOptions())
    '\ue200cite\ue202a\ue202L1\ue202b\ue202L4-L9\ue201'
    """
    syntax = options.syntax
    bodies: list[str] = []
    for source_id, locator in targets:
        marker = format_marker(source_id, locator=locator, family=options.family, syntax=syntax)
        head = len(syntax.start) + len(options.family) + len(syntax.delimiter)
        bodies.append(marker[head : -len(syntax.stop)])
    marker = syntax.start + syntax.delimiter.join([options.family, *bodies]) + syntax.stop
    if len(marker) > syntax.max_length:
        raise OptionError(f"a marker wants at most {syntax.max_length} characters: {len(marker)}")
    return marker
