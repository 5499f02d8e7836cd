"""What tests of providers share: an answer from chunks, what it cites, and damaged chunks."""

import json

from hypothesis import strategies as st

from citestream import Resolver
from citestream.resolver import AnswerAssembler
from strategies import json_values

__all__ = ("answer", "cited", "damaged", "events_of", "joined", "places", "warnings_of")


def events_of(exchange, chunks, *, registry=None):
    """Send chunks all the way: decoded, put together, resolved."""
    assembler, resolver = AnswerAssembler(new_id=lambda: "m"), Resolver(registry=registry)
    made = [
        event
        for chunk in chunks
        for item in exchange.decode(chunk)
        for upstream in assembler.feed(item)
        for event in resolver.feed(upstream)
    ]
    return [*made, *assembler.finish(), *resolver.finish()]


def answer(exchange, chunks, *, registry=None):
    """Return the one message that ``chunks`` make."""
    events = events_of(exchange, chunks, registry=registry)
    [message] = [e.data for e in events if e.type.value == "assistant.message"]
    return message


def cited(message):
    """Return every span as its words and what names its sources."""
    if message.citations is None:
        return []
    names = {s.id: s.title or s.url or s.path for s in message.citations.sources}
    return [
        (span.slice(message.content), [names[r.source_id] for r in span.references])
        for span in message.citations.spans
    ]


def warnings_of(events):
    return [e.data.warning_type for e in events if e.type.value == "session.warning"]


def joined(exchange, chunks):
    """Return the text of all items, in order."""
    return "".join(getattr(i, "text", "") for chunk in chunks for i in exchange.decode(chunk))


def places(tree, path=()):
    """Give the path of everything in a JSON value."""
    yield path
    members = tree.items() if isinstance(tree, dict) else ()
    members = enumerate(tree) if isinstance(tree, list) else members
    for key, value in members:
        yield from places(value, (*path, key))


def replaced(tree, path, value):
    """Return a copy of ``tree`` with ``value`` at ``path``."""
    if not path:
        return value
    copy = json.loads(json.dumps(tree))
    parent = copy
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return copy


@st.composite
def damaged(draw, chunks, *, keep=lambda _path: False):
    """Draw ``chunks`` with any JSON in up to three places; ``keep`` says where not."""
    for _ in range(draw(st.integers(1, 3))):
        free = [path for path in places(chunks) if path and not keep(path)]
        path = draw(st.sampled_from(free))
        chunks = replaced(chunks, path, draw(st.none() | json_values))
    return chunks
