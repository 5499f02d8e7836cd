"""What Gemini says of its sources: grounding chunks and annotations, as facts with a place in them.

In: objects of google-genai, or plain dicts in either spelling. Out: ``CitedSource``, None for what
names no source. Nothing here raises: what is absent or of another type reads as absent.
Deliberately elsewhere: the answer itself and the ranges in it (``gemini``).
"""

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from ..events import SourceFacts
from ..model import CitationLocationPage
from .chunks import field, number, text

__all__ = ("PROVIDER", "CitedSource", "annotation_source", "grounding_source", "known", "spelled")

PROVIDER = "gemini"


@attrs.frozen(kw_only=True)
class CitedSource:
    """A source, and what of it is cited. ``metadata`` is what has no place of its own."""

    facts: SourceFacts
    cited_text: str | None = None
    location: CitationLocationPage | None = None
    metadata: dict[str, Any] = attrs.field(hash=False)


class _WireNames(dict[str, str]):
    """The names of the wire, by those of the SDK."""

    def __missing__(self, name: str) -> str:
        first, *rest = name.split("_")
        self[name] = first + "".join(map(str.title, rest))
        return self[name]


_wire_names = _WireNames()


def spelled(value: object, name: str, /) -> str:
    """Return how ``value`` spells ``name``: objects as the SDK does, mappings either way.

    >>> spelled({"pageNumber": 1}, "page_number"), spelled({"page_number": 1}, "page_number")
    ('pageNumber', 'page_number')
    """
    return name if not isinstance(value, Mapping) or name in value else _wire_names[name]


def known(value: object, /, *, kind: str) -> Any:  # noqa: ANN401 - whatever the vendor sent
    """Return ``value``, or what the SDK wrapped as it did not know its ``kind``."""
    return field(value, "raw") if field(value, kind) == "UNKNOWN" else value


def grounding_source(chunk: object, /) -> CitedSource | None:
    """Read a member of ``groundingChunks``.

    >>> grounding_source({"web": {"uri": "https://a.example", "title": "A"}}).facts.url
    'https://a.example'
    """
    for name, read in _CHUNKS.items():
        value = field(chunk, spelled(chunk, name))
        if value is not None:
            return read(value)
    return None


def annotation_source(annotation: object, /) -> CitedSource | None:
    """Read an annotation of the Interactions API; other kinds than citations are None.

    >>> annotation_source({"type": "url_citation", "url": "https://a.example"}).facts.url
    'https://a.example'
    """
    read = _ANNOTATIONS.get(text(annotation, "type"))
    return None if read is None else read(annotation)


def _cited(
    kind: str,
    names: tuple[object, ...],
    title: str | None,
    url: str | None,
    /,
    **more: Any,  # noqa: ANN401 - whatever the vendor notes
) -> CitedSource | None:
    """Make a source of ``kind``; the first of ``names`` is what it is recognised by.

    What of ``more`` is no field of a source is metadata.
    """
    url = url if url is not None and url.lower().startswith(("https://", "http://")) else None
    key = next((name for name in (*names, title) if name is not None), None)
    if key is None and url is None:
        return None
    return CitedSource(
        facts=SourceFacts(provider=PROVIDER, key=(kind, key), title=title, url=url),
        cited_text=more.pop("cited_text", None),
        location=more.pop("location", None),
        metadata={name: value for name, value in more.items() if value is not None},
    )


def _pages(first: int | None, last: int | None) -> CitationLocationPage | None:
    if first is None or last is None or last < first:
        return None
    return CitationLocationPage(start_page=first, end_page=last)


def _web(web: object) -> CitedSource | None:
    uri = text(web, "uri")
    return _cited("web", (uri,), text(web, "title"), uri, domain=text(web, "domain"))


def _retrieved(context: object) -> CitedSource | None:
    def named(name: str) -> str | None:
        return text(context, spelled(context, name))

    title, uri = named("title"), named("uri")
    store, document = named("file_search_store"), named("document_name")
    chunk = field(context, spelled(context, "rag_chunk"))
    words = named("text") or text(chunk, "text")
    page = number(context, spelled(context, "page_number"))
    span = field(chunk, spelled(chunk, "page_span"))
    first, last = (number(span, spelled(span, name)) for name in ("first_page", "last_page"))
    return _cited(
        "document",
        # Without a name the text tells sources apart.
        (document, uri, (store, title, words) if words else None),
        title,
        uri,
        location=_pages(page, page) or _pages(first, last),
        documentName=document,
        fileSearchStore=store,
        mediaId=named("media_id"),
        text=words,  # the whole chunk that was found, not what is quoted of it
    )


def _maps(maps: object) -> CitedSource | None:
    uri, place = text(maps, "uri"), text(maps, spelled(maps, "place_id"))
    title, words = text(maps, "title"), text(maps, "text")
    return _cited("place", (place, uri), title, uri, cited_text=words, placeId=place)


def _image(image: object) -> CitedSource | None:
    page, picture = (text(image, spelled(image, name)) for name in ("source_uri", "image_uri"))
    title, domain = text(image, "title"), text(image, "domain")
    return _cited("image", (page, picture), title, page, imageUri=picture, domain=domain)


_CHUNKS: dict[str, Callable[[object], CitedSource | None]] = {
    "web": _web,
    "retrieved_context": _retrieved,
    "maps": _maps,
    "image": _image,
}


def _url_citation(annotation: object) -> CitedSource | None:
    url = text(annotation, "url")
    return _cited("web", (url,), text(annotation, "title"), url)


def _file_citation(annotation: object) -> CitedSource | None:
    document, source = text(annotation, "document_uri"), text(annotation, "source")
    page = number(annotation, "page_number")
    noted = field(annotation, "custom_metadata")
    return _cited(
        "document",
        (document, source),
        text(annotation, "file_name"),
        document,
        location=_pages(page, page),
        source=source,
        mediaId=text(annotation, "media_id"),
        customMetadata=dict(noted) if isinstance(noted, Mapping) else None,
    )


def _place_citation(annotation: object) -> CitedSource | None:
    url, place = text(annotation, "url"), text(annotation, "place_id")
    return _cited("place", (place, url), text(annotation, "name"), url, placeId=place)


def _early_citation(annotation: object) -> CitedSource | None:
    source = text(annotation, "source")
    return _cited("web", (source,), text(annotation, "title"), source, source=source)


_ANNOTATIONS: dict[str | None, Callable[[object], CitedSource | None]] = {
    "url_citation": _url_citation,
    "file_citation": _file_citation,
    "place_citation": _place_citation,
    None: _early_citation,  # of versions before there were kinds
}
