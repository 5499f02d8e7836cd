import attrs
import pytest
from hypothesis import given

from citestream import events as kinds
from citestream import model
from citestream.wire.build import blank, builder, setters
from strategies import events

CLASSES = [
    cls
    for module in (model, kinds)
    for cls in vars(module).values()
    if isinstance(cls, type) and attrs.has(cls)
]


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
def test_a_value_built_by_its_slots_is_the_value_that_the_call_makes(cls):
    given_values = values(cls)
    built, called = builder(cls)(list(given_values.values())), cls(**given_values)
    assert built == called
    assert hash(built) == hash(called)
    assert repr(built) == repr(called)
    assert type(built) is cls
    assert attrs.evolve(built) == called
    name = attrs.fields(cls)[0].name
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(built, name, None)


@pytest.mark.parametrize("cls", CLASSES)
def test_nothing_but_checks_and_defaults_is_skipped(cls):
    assert not hasattr(cls, "__attrs_post_init__")
    assert not hasattr(cls, "__pre_init__")
    slots = [name for base in cls.__mro__ for name in getattr(base, "__slots__", ())]
    assert set(slots) - {"__weakref__"} == {field.name for field in attrs.fields(cls)}


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
    with pytest.raises(ValueError, match="argument 2 is"):
        builder(model.CitationLocationOther)(["x"])
    assert len(setters(model.CitationLocationOther)) == 2
    assert type(blank(model.CitationLocationOther)) is model.CitationLocationOther
