import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citestream import errors
from citestream.claims import CLAIM_SPANS, claim_spans, regions
from citestream.claims import spans as module
from citestream.markers import parse_markers
from texts import marker_texts, prose


def claims(text, **options):
    """Return the words that each § of ``text`` supports."""
    parts = text.split("§")
    content = "".join(parts)
    positions = [sum(map(len, parts[: index + 1])) for index in range(len(parts) - 1)]
    return [content[start:end] for start, end in claim_spans(content, positions, **options)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # Sentences
        ("Rents rose.§ Wages fell.§", ["Rents rose.", "Wages fell."]),
        ("Rents rose.§", ["Rents rose."]),
        ("Rents rose§. Wages fell§.", ["Rents rose", "Wages fell"]),
        ("Rents rose. Wages fell.§", ["Wages fell."]),
        ("Rents rose! Wages fell?§", ["Wages fell?"]),
        ("Dr. Lee of St. Ives paid.§", ["Dr. Lee of St. Ives paid."]),
        ("Fruit, e.g. figs, sold.§", ["Fruit, e.g. figs, sold."]),
        ("It cost 3.5 million.§ Then $4.20.§", ["It cost 3.5 million.", "Then $4.20."]),
        ("See (Lee).§ She wrote “it fell.”§", ["See (Lee).", "She wrote “it fell.”"]),
        ("日本は島国です。§人口は多い。§", ["日本は島国です。", "人口は多い。"]),
        ("日本は島国です§。人口は多い§。", ["日本は島国です", "人口は多い"]),
        ("是吗？§是的！§", ["是吗？", "是的！"]),
        ("كم عمرك؟§ أنا هنا.§", ["كم عمرك؟", "أنا هنا."]),
        ("It works 🎉.§ Done 📎.§", ["It works 🎉.", "Done 📎."]),
        ("It works 🎉§ and goes on§", ["It works 🎉", "and goes on"]),
        ("Rents\nrose.§", ["Rents\nrose."]),
        # Groups
        ("Rents rose§, and wages fell§.", ["Rents rose", "and wages fell"]),
        ("Rents rose,§ and wages fell.§", ["Rents rose,", "and wages fell."]),
        ("Rents rose.§§ §\t§ Wages", ["Rents rose."] * 4),
        ("Rents rose§ and§ wages§.", ["Rents rose", "and", "wages"]),
        ("Rents rose§.§", ["Rents rose", "Rents rose."]),
        ("A b c§. D e f§ g§.", ["A b c", "D e f", "g"]),
        # Nothing before
        ("§", [""]),
        ("§Rents", [""]),
        ("\n\n§", [""]),
        ("**§**", [""]),
        ("- §", [""]),
        ("| § | a§ |", ["", "a"]),
        # Regions
        ("- Rents rose.§\n- Wages fell.§", ["Rents rose.", "Wages fell."]),
        ("- Rents§\n- Wages§", ["Rents", "Wages"]),
        ("1. Rents rose§\n2. Wages§", ["Rents rose", "Wages"]),
        ("- [ ] Rents§\n- [x] Wages§", ["Rents", "Wages"]),
        ("- A\n  - B§\n    goes on§", ["B", "goes on"]),
        ("| a | b§ |\n|---|---|\n| c§ | d e.§ |", ["b", "c", "d e."]),
        ("a | b§\n--|--\nc§ | d§", ["b", "c", "d"]),
        ("| a \\| b§ | c |", ["a \\| b"]),
        ("| A. B.§ | C. D§ |", ["A. B.", "C. D"]),
        ("| a |§", ["a"]),
        ("# Rents in May§\nThey rose.§", ["Rents in May", "They rose."]),
        ("> Rents rose.§\n> Wages fell.§", ["Rents rose.", "Wages fell."]),
        ("> Rents rose\n> in May.§", ["Rents rose\n> in May."]),
        ("Rents rose  \nWages fell§", ["Wages fell"]),
        ("Rents rose\\\nWages fell§", ["Wages fell"]),
        ("Rents rose.§  \nWages fell.§", ["Rents rose.", "Wages fell."]),
        ("```\na = 1. B§\nc = 2§\n```\nText§", ["a = 1. B", "c = 2", "Text"]),
        ("Rents rose.\n\n§", ["Rents rose."]),
        ("Rents rose.\n§\nWages fell.§", ["Rents rose.", "Wages fell."]),
        ("Rents rose.\n§\n§\n", ["Rents rose.", "Rents rose."]),
        ("Rents rose.\r\nSo did wages.§\r\n\r\nB§", ["So did wages.", "B"]),
        ("A\r\nb§", ["A\r\nb"]),
        # Emphasis
        ("**Rents rose.**§ Wages", ["Rents rose."]),
        ("**Rents rose.§** Wages fell.§", ["Rents rose.", "Wages fell."]),
        ("**Rents rose§.**", ["Rents rose"]),
        ("*Rents* rose.§", ["*Rents* rose."]),
        ("Rents **rose**§.", ["Rents **rose**"]),
        ("**Rents**: they rose.§", ["**Rents**: they rose."]),
        ("~~Rents~~§ Wages§", ["Rents", "Wages"]),
        ("***Rents***§", ["Rents"]),
        ("**Rents rose.** Wages fell.§", ["Wages fell."]),
        ("It fell.” Wages rose.§", ["Wages rose."]),
        ("Rents rose.*§", ["Rents rose."]),
        ("*Rents rose§", ["Rents rose"]),
        ("Rents*§", ["Rents"]),
        ("** a** b§", ["** a** b"]),
    ],
)
def test_the_sentence_before_a_marker(text, found):
    assert claims(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A. Rents rose.§ Wages fell.§", ["A. Rents rose.", "A. Rents rose. Wages fell."]),
        ("A\n\nRents rose. Wages fell.§", ["Rents rose. Wages fell."]),
        ("- A\n- Rents rose. Wages fell§.", ["Rents rose. Wages fell"]),
        ("| A. B.§ | C |", ["A. B."]),
        ("```\na\nb§\n```", ["b"]),
        ("Rents.§§", ["Rents.", "Rents."]),
        ("§", [""]),
    ],
)
def test_the_paragraph_before_a_marker(text, found):
    assert claims(text, spans="paragraph") == found


def test_just_the_place_of_a_marker():
    assert claim_spans("Rents rose.", [5, 11], spans="point") == [(5, 5), (11, 11)]


def test_no_markers():
    assert claim_spans("Rents rose.", []) == []


@pytest.mark.parametrize("spans", ["word", "", None])
def test_other_spans_are_refused(spans):
    with pytest.raises(errors.OptionError) as caught:
        claim_spans("Rents", [5], spans=spans)
    assert str(caught.value) == f"spans: wanted one of sentence, paragraph, point, got {spans!r}"


contents = marker_texts(max_size=40).map(lambda text: parse_markers(text).content) | prose
places = st.lists(st.integers(0, 300), max_size=6)
EDGES = "*_~> \t\r\n\u00a0\u3000"  # marks and white space that no claim begins or ends with


@pytest.mark.parametrize("spans", ["sentence", "paragraph"])
@given(contents | marker_texts(max_size=30), places)
@example("a. \ud83d b.", [4, 7])
def test_claims_stand_before_their_markers_in_one_region(spans, content, places):
    positions = sorted(min(place, len(content)) for place in places)
    found = claim_spans(content, positions, spans=spans)
    assert len(found) == len(positions)
    known = regions(content)
    before = (0, 0)
    for position, (start, end) in zip(positions, found, strict=True):
        assert 0 <= start <= end <= position
        if start < end:
            assert any(region.start <= start and end <= region.end for region in known)
        # Claims never go back, but for marks that have no partner in one of them.
        assert not content[start : before[0]].strip(EDGES)
        assert not content[end : before[1]].strip(EDGES)
        before = (start, end)


@given(marker_texts(max_size=40))
def test_the_claims_of_real_positions(text):
    read = parse_markers(text)
    positions = [placed.position for placed in read.markers]
    for spans in CLAIM_SPANS:
        found = claim_spans(read.content, positions, spans=spans)
        assert all(end <= position for (_, end), position in zip(found, positions, strict=True))


# -- cost


SENTENCE = "Rents rose in May. "


@pytest.mark.parametrize(
    "content", [SENTENCE * 3000, "家賃が上がった。" * 3000, "word " * 9000, "A" * 30_000]
)
def test_long_paragraphs_are_split_in_parts(monkeypatch, content):
    sizes = []
    split = module.split_sentences

    def counting(text):
        sizes.append(len(text))
        return split(text)

    monkeypatch.setattr(module, "split_sentences", counting)
    claim_spans(content, range(0, len(content), 100))
    assert max(sizes) <= 4096
    assert sum(sizes) <= 1.2 * len(content)


def test_the_parts_of_a_long_paragraph_end_between_sentences():
    content = SENTENCE * 3000
    size = len(SENTENCE)
    positions = range(size - 1, len(content), size)
    assert claim_spans(content, positions) == [(end - size + 1, end) for end in positions]
    long = f"{'word ' * 2000}end. Short one.§ {SENTENCE * 300}Last.§"
    assert claims(long) == ["Short one.", "Last."]
    assert claims(f"Rents rose. So {'word ' * 2000}end.§") == [f"So {'word ' * 2000}end."]


def test_marks_of_very_long_ranges_stay():
    assert claims("**" + "word " * 1000 + "end**§") == ["**" + "word " * 1000 + "end**"]
