"""Texts to read: the characters of markers, builders of markers by hand, and drawn texts."""

from itertools import chain

from hypothesis import strategies as st

from citestream.markers import BLOCKS, CHARACTERS, LINES, PAGES, MarkerSyntax

__all__ = (
    "CLOSE",
    "DELIM",
    "OPEN",
    "PAIR",
    "PARIS",
    "PLACEHOLDER",
    "START",
    "STOP",
    "SYNTAXES",
    "cite",
    "marker",
    "marker_texts",
    "prose",
    "texts",
)

START, STOP, DELIM, OPEN, CLOSE, PAIR, PLACEHOLDER = map(chr, range(0xE200, 0xE207))

SYNTAXES = {
    "default": MarkerSyntax(),
    "no highlight": MarkerSyntax(highlight=None),
    "ascii": MarkerSyntax(start="[[", delimiter="|", stop="]]", highlight=None),
    "ascii highlight": MarkerSyntax(
        start="<<", delimiter="::", stop=">>", highlight=("{", "}", "^")
    ),
    "short": MarkerSyntax(max_length=24),
    "locators": MarkerSyntax(locators=(LINES, PAGES, BLOCKS, CHARACTERS)),
}


def marker(*fields):
    """Write a marker by hand: the family and its fields."""
    return START + DELIM.join(fields) + STOP


def cite(*fields):
    return marker("cite", *fields)


PARIS = marker("entity", '["place","Paris"]')
"""A marker that bears prose: the name stays."""

_WORDS = {
    "ascii": [
        "Rents",
        "rose",
        "in 3.5",
        "Dr.",
        "e.g.",
        "e",
        "te",
        "-",
        "3",
        "\\",
        "`",
        "```",
        "\0",
    ],
    "cjk": ["日本", "語です", "人口", "（注）", "。", "、", "「引用」", "\u3000"],
    "astral": ["📎", "👩\u200d🔬", "𝒳", "🎉🎉"],
    "combining": ["e\u0301", "\u0301", "n\u0303o", "ก\u0e49", "\u200d", "\ufe0f"],
    "arabic": ["أنا", "هنا", "؟", "،"],
    "surrogates": ["\ud83d", "\udcce", "\ud83d\udcce", "\udcce\ud83d", "\udfff"],
}
_SPACE = [" ", "  ", "\t", "\n", "\n\n", "\r", "\r\n", "  \n", "\\\n", "\u2028", "\x0c"]
_MARKDOWN = ["*", "**", "***", "_", "~~", "|", "| ", "- ", "1. ", "# ", "> ", ">", "---", "[", "]("]
_CLOSING = [".", ",", ")", "!", "?", ":", "”", "…"]

prose = st.lists(
    st.sampled_from([*chain(*_WORDS.values()), *_SPACE * 2, *_MARKDOWN, *_CLOSING]), max_size=20
).map("".join)
"""Text of many scripts and Markdown, without marker characters."""


def _pieces(syntax):
    """Return the pieces that marker-dense text is made of."""
    start, delimiter, stop = syntax.start, syntax.delimiter, syntax.stop
    marks = [start, delimiter, stop, OPEN, CLOSE, PAIR, PLACEHOLDER, *(syntax.highlight or ())]
    marks += [mark[:1] for mark in (start, delimiter, stop)]
    families = ["cite", "filecite", "link", "entity", "url", "navlist", "memcite", "i", "code"]
    parts = [name[:size] for name in ("cite", "entity", "memcite") for size in (1, 2, 3)]
    names = ['["place","Paris"]', '["p", "A\\|B \\ud83d", 0]', '["p","cut', "Label", "*b*", "nope"]
    ids = [
        "a",
        "turn0search4",
        "b-1",
        "_",
        "L8",
        "L8-L13",
        "l8-13",
        "L9-L2",
        "P3",
        "B1-B2",
        "C0-C9",
    ]
    whole = [
        start + delimiter.join(fields) + stop
        for fields in (
            ("cite", "a"),
            ("cite", "a", "L1", "b", "L4-L9"),
            ("cite",),
            ("filecite", "a b"),
            ("entity", '["place","Paris"]'),
            ("url", "*Label*", "a"),
            ("navlist", "Title", "a,b"),
            ("nope", "a"),
        )
    ]
    common = [*whole * 2, whole[0], whole[0], *marks * 2, *_SPACE, *_MARKDOWN[:6], *_CLOSING[:3]]
    rare = [
        *families,
        *parts,
        *names,
        *ids,
        *(words[0] for words in _WORDS.values()),
        "語",
        "\udcce",
    ]
    return common + rare


def marker_texts(syntax=SYNTAXES["default"], *, max_size=20):
    """Draw texts dense with markers and parts of markers of ``syntax``."""
    return st.lists(st.sampled_from(_pieces(syntax)), max_size=max_size).map("".join)


texts = st.one_of(marker_texts(), prose, marker_texts(max_size=30))
"""Any text: what a model may write."""
