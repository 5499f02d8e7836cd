"""What strangers write to break out of a sink, and answers drawn from it by seed."""

import random
from itertools import chain

from citestream import (
    CitationLocationChar,
    CitationReference,
    Citations,
    CitationSource,
    CitationSpan,
)

__all__ = ("PAYLOADS", "URLS", "answers", "cite", "citing", "contents")

PAYLOADS = {
    "html": [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '"><svg/onload=alert(1)>',
        "'><iframe srcdoc='<script>alert(1)</script>'>",
        "</mark></p></section><base href=//evil.example>",
        "<a href=javascript:alert(1)>x</a>",
        "<style>@import'//evil.example'</style>",
        '<!--<img src="--><img src=x onerror=alert(1)//">',
        "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
        '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
        "&lt;script&gt;&#x3c;script&#x3e;",
        '" onmouseover="alert(1)',
        "' style='position:fixed",
        "<details open ontoggle=alert(1)>",
        "<xss id=x tabindex=1 onfocus=alert(1)>",
        "<template><script>alert(1)</script></template>",
        "<plaintext>",
        "<textarea></textarea><script>x</script>",
        "<![CDATA[<b>]]>",
        "<?php echo 1 ?>",
        "<!A see",
        "<?pi see",
        "<!-- open",
        "</script><script>",
        "<form action=//evil.example><input name=q><button>go</button></form>",
        "<meta http-equiv=refresh content=0;url=//evil.example>",
        "<link rel=stylesheet href=//evil.example>",
        "<object data=//evil.example></object>",
        "<video src=//evil.example autoplay></video>",
        "&NewLine;javascript&colon;alert(1)",
    ],
    "markdown": [
        "](https://evil.example) ![x](https://evil.example/?q=1)",
        "[x](javascript:alert(1))",
        "![x](data:image/svg+xml,x)",
        "[a]: https://evil.example\n[a]",
        "\n\n# heading",
        "\n\n---\n",
        "\n===",
        "| a | b |\n|---|---|",
        "`code` ``` ~~~",
        "\n```\ncode",
        "*em* **strong** ~~del~~ __x__",
        "[^1]",
        "[^1]: evil",
        "\n\n[^1]: https://evil.example",
        "<https://evil.example>",
        "https://evil.example www.evil.example a@evil.example",
        "https\\://evil.example",
        "\\](https://evil.example)",
        "\\",
        "!",
        "[",
        "]",
        "](",
        "[1]",
        "[1]: https://evil.example",
        "(https://evil.example)",
        "- a\n- b",
        "1. a",
        "1) a",
        "+ a",
        "> quote",
        "    indented",
        "$$x$$ \\(x\\) \\[x\\]",
        "a  \nb",
        "{{template}} {% raw %}",
        "&copy; &#35; &amp;",
        ":smile: @user #1",
        "[ ] task",
        "^[inline]",
        "[[wiki]]",
        "![",
        "](<",
        "[x][y]",
        "[x]()",
        "* * *",
        "**a**b **c",
        "_a_b_ *c",
    ],
    "unseen": [
        "\u202etxt.exe",
        "\u2066a\u2069\u2067b",
        "\u200bzero\u2060width\ufeff",
        "\U000e0041\U000e0042",
        "\ue200cite\ue202turn0search0\ue201",
        "\ue000\uf8ff\U000f0000",
        "\ud83d",
        "\udcce\ud83d",
        "שלום עולם",
        "مرحبا (1)",
        "می\u200cخواهم",
        "क्\u200dष",
        "👩\u200d🔬",
        "e\u0301\u0301",
        "\u3164\uffa0",
        "аррlе",
        "\u2028line\u2029para\u0085",
        "\x00nul",
        "\u00adsoft",
        "週次　報告。",
    ],
    "terminal": [
        "\x1b[2J\x1b[H",
        "\x1b]0;title\x07",
        "\x1b]52;c;ZXZpbA==\x07",
        "\x1b]8;;https://evil.example\x1b\\x\x1b]8;;\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\x1b_apc\x1b\\",
        "\x1b^pm\x1b\\",
        "\x1bX sos\x1b\\",
        "\x9b31m",
        "\x9d52;c;x\x9c",
        "\x90dcs\x9c",
        "\x1bc",
        "\x1b#8",
        "\x1b(0",
        "\x0e\x0f",
        "\x08\x08\x08over",
        "\rover",
        "\x7f",
        "\x1b[?1049h",
        "\x1b[6n",
        "\x05",
        "\x1b",
        "\x1b[",
        "\x1b]",
        "\x85",
    ],
    "frames": [
        "\n\ndata: evil\n\n",
        "\r\rdata: evil",
        "\r\nevent: evil\r\n\r\n",
        "\nid: 99",
        "\u2028data: evil",
        ": comment\n\n",
        "retry: 0\n",
        "\ufeffdata: x",
    ],
}
URLS = [
    "https://a.example/x?y=1&z=2#w",
    "https://a.example/(b)_(c",
    "https://a.example/?x&copy;=1",
    "https://a.example/[x]?",
    "https://a.example/a*b_c~d$e",
    "https://ja.example/週次?q=報告",
    "https://bücher.example/",
    "https://аррle.example/",
    "http://127.0.0.1:8080/",
    "mailto:ada@a.example",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "https://good.example@evil.example/",
    "https://good.example\\@evil.example/",
    "//evil.example",
    "https:evil.example",
    "https:///evil.example",
    "https://",
    "https://a.example/ x",
    'https://a.example/"onmouseover="alert(1)',
    "https://a.example/>x<b>",
    "https://a.example/](https://evil.example",
    "https://a.example/`x`",
    "https://a.example/\u202egpj.exe",
    "https://a.example/\x1b]8;;\x07",
    "https://a.example/\r\nSet-Cookie: x",
    "mailto:a@b.example?subject=x%0D%0Abcc:evil@evil.example",
    "#top",
    "a b",
    "",
]
_PROSE = [
    "Rents rose",
    "4 %",
    ". ",
    "!",
    "? ",
    " ",
    "\n",
    "\n\n",
    "  \n",
    "\\\n",
    "- ",
    "\n- ",
    "\n  - ",
    "\n1. ",
    "\n> ",
    "\n## ",
    "\n\n    ",
    "\n```\n",
    "\n~~~py\n",
    "| ",
    " |\n",
    "\n|---|---|\n",
    "a | b\n--|--\nc | d\n",
    "**",
    "*",
    "_",
    "`",
    "``",
    "~~",
    "[x](https://a.example)",
    "[ref]",
    "\n\n[ref]: /url\n\n",
    "<b>",
    "</b>",
    "<div>\n",
    "\n</div>\n",
    "&amp;",
    "\\*",
    "週次レビュー。",
    "📎",
    "(see",
    ")",
    "https://b.example/x_y",
    "\r\n",
    "\t",
]
_ALL = list(chain(*PAYLOADS.values()))
_ID = "s\n\r\u2028<\"'`"


def contents(seed, count, *, pieces=6):
    """Yield ``count`` contents of prose, Markdown and payloads."""
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    for _ in range(count):
        yield "".join(
            draw.choice(_ALL if draw.random() < 0.2 else _PROSE)
            for _ in range(draw.randrange(1, pieces + 1))
        )


def answers(seed, count, *, pieces=6, benign=False):
    """Yield ``count`` contents, each with hostile citations; ``benign`` contents are prose."""
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    drawn = (
        ("Rents rose. Wages fell." for _ in range(count))
        if benign
        else contents(seed, count, pieces=pieces)
    )
    for content in drawn:
        yield content, citing(content, draw)


def citing(content, draw):
    """Draw citations of ``content`` from hostile sources."""
    units = len(content.encode("utf-16-le", "surrogatepass")) // 2
    sources = [
        CitationSource(
            id=f"{number}{draw.choice(_ID)}{draw.choice(_ALL)}",
            provider="client",
            title=draw.choice([None, "Memo", *draw.choices(_ALL, k=4)]),
            url=draw.choice([None, *draw.choices(URLS, k=3)]),
            path=draw.choice([None, draw.choice(_ALL)]),
        )
        for number in range(draw.choice((1, 2)))
    ]
    spans = []
    for _ in range(draw.choice((1, 2, 3))):
        start, end = sorted((draw.randrange(units + 1), draw.randrange(units + 1)))
        reference = CitationReference(
            source_id=draw.choice(sources).id,
            cited_text=draw.choice(_ALL),
            location=CitationLocationChar(start_index=0, end_index=9),
            provider_metadata={"locator": draw.choice([None, "L2-L3", draw.choice(_ALL)])},
        )
        spans.append(CitationSpan(start_index=start, end_index=end, references=[reference]))
    return Citations(sources=sources, spans=spans)


def cite(*ends, **source):
    """Return citations of one source whose spans begin at 0 and end at ``ends``."""
    made = CitationSource(**{"id": "s0", "provider": "client", "title": "T"} | source)
    references = [CitationReference(source_id=made.id)]
    return Citations(
        sources=[made],
        spans=[CitationSpan(start_index=0, end_index=end, references=references) for end in ends],
    )
