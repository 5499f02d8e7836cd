"""The examples of the CommonMark spec, cited at random: marks change nothing but what they add."""

import json
import random
from pathlib import Path

import pytest

from citestream.render import markdown
from citestream.render.labels import free_prefix
from citestream.render.structure import read
from render.grammars import blocks, unmarked
from render.hostile import cite

DATA = Path(__file__).parents[1] / "data" / "commonmark" / "examples.json"
EXAMPLES = json.loads(DATA.read_text("utf-8"))
ROUNDS = 5
END = "\n\nthe-end\n"
URL = "https://source.example/(x)"


def test_all_examples_are_there():
    assert len(EXAMPLES) == 652


@pytest.mark.parametrize("style", ["footnotes", "links", "list"])
def test_blocks_stay_what_they_were(style):
    draw = random.Random(style)  # noqa: S311 - not for secrets
    for example in EXAMPLES * ROUNDS:
        structure = read(example, html=True)
        text = structure.text + structure.closing
        units = len(example.encode("utf-16-le")) // 2
        ends = [draw.randrange(units + 1) for _ in range(draw.choice((1, 1, 2, 3)))]
        made = markdown(example, cite(*ends, url=URL), style=style)
        if style == "footnotes":
            prefix = "^" + free_prefix(text, before="[^", prefix="", digits=False)
            body = made[: made.rindex(f"\n\n[{prefix}1]: ")]
        else:
            prefix = free_prefix(text, before="[", prefix="", digits=True)
            body = made[: made.rindex("\n\nSources:\n\n1. ")]
        mark = rf"\[\{prefix}1\]" if style == "footnotes" else rf"\[{prefix}1\]"
        assert body != text
        assert unmarked(blocks(body + END), mark, {URL}) == unmarked(blocks(text + END), "\0")
