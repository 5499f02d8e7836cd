import weakref

import attrs
import pytest
from hypothesis import given

from citestream import events as kinds
from citestream import model
from citestream.wire.build import blank, builder, column_builder, defer_spans, draft
from strategies import events

CLASSES = [
    cls
    for module in (model, kinds)
    for cls in vars(module).values()
    if isinstance(cls, type) and attrs.has(cls) and cls.__module__ != "citestream.events.native"
]
"""All that travels as JSON; what providers hand on never does."""


def values(cls):
    """Values that every validator lets pass."""
    ends = ("index", "page", "block")
    numbers = {f"{side}_{end}" for side in ("start", "end") for end in ends}
    tuples = {"references", "sources", "spans"}
    return {
        field.name: 1 if field.name in numbers else () if field.name in tuples else field.name
        for field in attrs.fields(cls)
    }


@pytest.mark.parametrize("cls", CLASSES)
def test_a_value_built_from_a_draft_is_the_value_that_the_call_makes(cls):
    given_values = values(cls)
    called = cls(**given_values)
    column = column_builder(cls)([value] * 2 for value in given_values.values())
    for built in (builder(cls)(list(given_values.values())), *column):
        assert built == called
        assert hash(built) == hash(called)
        assert repr(built) == repr(called)
        assert type(built) is cls
        assert attrs.evolve(built) == called
        assert weakref.ref(built)() is built
        name = attrs.fields(cls)[0].name
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(built, name, None)
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            delattr(built, name)


@pytest.mark.parametrize("cls", CLASSES)
def test_nothing_but_checks_and_defaults_is_skipped(cls):
    assert not hasattr(cls, "__attrs_post_init__")
    assert not hasattr(cls, "__pre_init__")
    slots = [name for base in cls.__mro__ for name in getattr(base, "__slots__", ())]
    names = {field.name for field in attrs.fields(cls)}
    assert set(slots) - {"__weakref__"} - names == (
        {"_pending"} if cls is model.Citations else set()
    )


def rebuilt(value):
    """The same value, made by calls, so that validators and converters see all of it."""
    if attrs.has(type(value)):
        fields = attrs.fields(type(value))
        return type(value)(**{f.name: rebuilt(getattr(value, f.name)) for f in fields})
    return tuple(map(rebuilt, value)) if isinstance(value, tuple) else value


@given(events)
def test_decoded_events_are_those_that_calls_would_make(event):
    assert rebuilt(event) == event
    assert repr(rebuilt(event)) == repr(event)


def test_values_of_the_wrong_number_are_refused():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'extra'"):
        builder(model.CitationLocationOther)(["x"])


def test_a_draft_can_be_written_until_it_is_no_draft():
    made = blank(draft(model.CitationLocationOther))
    made.type = "x"
    made.extra = model.NO_EXTRA
    made.__class__ = model.CitationLocationOther
    assert made == model.CitationLocationOther(type="x")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        made.type = "y"


def test_deferred_spans_are_made_once():
    calls = []
    span = model.CitationSpan(start_index=0, end_index=1, references=())
    citations = model.Citations(sources=(), spans=())
    defer_spans(citations, lambda: calls.append(1) or [span])
    assert not calls
    assert citations.spans == (span,)
    assert citations.spans is citations.spans
    assert calls == [1]
