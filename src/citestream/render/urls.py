"""Which addresses become links: those of the web and of mail that every parser reads alike.

In: what a stranger gave as a URL. Out: the same address in ASCII, or nothing. Letters of other
scripts become what browsers make of them: punycode in the host, percent signs behind it; so a host
that only looks like another is seen to be one.
Nothing is fetched here or anywhere in this package.
"""

import ipaddress
import re
import unicodedata

__all__ = ("MAX_URL_LENGTH", "safe_url", "shown_url")

MAX_URL_LENGTH = 2048
"""Characters of a URL that may be a link, in ASCII; longer ones are no addresses of pages."""

_WEB = re.compile(r"(https?)://([^/?#]+)(.*)", re.IGNORECASE)
_MAIL = re.compile(r"mailto:[a-z0-9.!#$%&*+/=?_~@,;:-]+", re.IGNORECASE)
_BREAKS = re.compile("%0[ad]", re.IGNORECASE)  # in mail they would be further headers
_PLAIN = re.compile(r"[^\s\"'<>\\^`{|}\x00-\x20\x7f-\xa0]+")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:@%]+)(?::([0-9]{1,5}))?", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)
_PORTS = 65535
_HOST_LENGTH = 253


def safe_url(url: str | None, /) -> str | None:
    """Return ``url`` in ASCII when it is a plain http, https or mailto address, else None.

    None for any other scheme; for a user name, a backslash, a blank, a quote or an angle; for a
    character that nobody sees or that turns the text around; for a host that is empty, not in
    normal form, or a number; for what is longer than ``MAX_URL_LENGTH``.

    >>> safe_url("https://ja.example/週"), safe_url("https://good.example@evil.example")
    ('https://ja.example/%E9%80%B1', None)
    """
    if url is None or len(url) > MAX_URL_LENGTH or not _PLAIN.fullmatch(url) or _hidden(url):
        return None
    if _MAIL.fullmatch(url):
        return None if _BREAKS.search(url) else url
    parts = _WEB.fullmatch(url)
    host = _host(parts[2]) if parts else None
    if parts is None or host is None:
        return None
    safe = f"{parts[1]}://{host}{_percent(parts[3])}"
    return safe if len(safe) <= MAX_URL_LENGTH else None


def shown_url(url: str, /) -> str | None:
    """Return a safe URL as it is shown: the host in ASCII, what is behind it as it was written."""
    if safe_url(url) is None:
        return None
    parts = _WEB.fullmatch(url)
    return f"{parts[1]}://{_host(parts[2])}{parts[3]}" if parts else url


def _hidden(text: str) -> bool:
    return not text.isascii() and any(unicodedata.category(c)[0] in "CZ" for c in text)


def _percent(text: str) -> str:
    return text if text.isascii() else "".join(c if c.isascii() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


def _host(text: str) -> str | None:
    parts = _HOST.fullmatch(text)
    if parts is None or (parts[2] and int(parts[2]) > _PORTS):
        return None
    port = f":{parts[2]}" if parts[2] else ""
    if parts[1].startswith("["):
        return f"{parts[1]}{port}" if _is_address(parts[1][1:-1], ipaddress.IPv6Address) else None
    labels = [_label(label) for label in parts[1].removesuffix(".").split(".")]
    host = ".".join(label or "" for label in labels)
    if not all(labels) or len(host) > _HOST_LENGTH:
        return None
    # Browsers read a host that ends in a number as an address, in more ways than people do.
    if _NUMBER.fullmatch(host.rpartition(".")[2]) and not _is_address(host, ipaddress.IPv4Address):
        return None
    return host + "." * parts[1].endswith(".") + port


def _is_address(text: str, kind: type[ipaddress.IPv4Address] | type[ipaddress.IPv6Address]) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _label(label: str) -> str | None:
    """Return a label of a host in ASCII; None where browsers would read it as another one."""
    if label.isascii():
        coded = label.lower().startswith("xn--")
        return label if _LABEL.fullmatch(label) and (not coded or _is_code(label)) else None
    if label != unicodedata.normalize("NFKC", label.lower()) or label.startswith("xn--"):
        return None
    if any(unicodedata.category(c)[0] not in "LMN" and c != "-" for c in label):
        return None
    if label.startswith("-") or label.endswith("-") or unicodedata.combining(label[0]):
        return None
    code = "xn--" + label.encode("punycode").decode("ascii")
    return code if _LABEL.fullmatch(code) else None


def _is_code(label: str) -> bool:
    """Tell whether ``label`` is the code of a label that might have been written out."""
    try:
        plain = label[4:].lower().encode("ascii").decode("punycode")
    except UnicodeError:
        return False
    return not plain.isascii() and _label(plain) == label.lower()
