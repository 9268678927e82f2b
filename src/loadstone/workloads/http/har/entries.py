"""What a recording holds: the requests of a browser, each with its answer. Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

Pairs = tuple[tuple[str, str], ...]
"""Names and values in their order; a name may come several times."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_REDIRECTS = (301, 302, 303, 307, 308)
_LONGEST_SHOWN = 100


def origin_of(url: str) -> str:
    """Scheme, host and port of an address, as `https://app.example:8443`.

    Args:
        url: An absolute address. The default port of its scheme is left out.

    Raises:
        ValueError: If the host or the port cannot be read.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    usual = parts.port is None or parts.port == _DEFAULT_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}" + ("" if usual else f":{parts.port}")


def media_type(content_type: str) -> str:
    """A content type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def header_of(headers: Pairs, name: str) -> str:
    """The first header of a name in lower case, or an empty text."""
    return next((value for own, value in headers if own == name), "")


@dataclass(frozen=True)
class Body:
    """What a request sends."""

    content_type: str
    """With its parameters, as `multipart/form-data; boundary=x`."""
    text: str
    fields: Pairs = ()
    """Of a form that the recording holds without its text."""
    lack: str = ""
    """Why it cannot be sent again; empty: it can."""

    @property
    def media_type(self) -> str:
        """As `application/json`."""
        return media_type(self.content_type)


@dataclass(frozen=True)
class Answer:
    """What the server answered."""

    status: int
    """0: there was no answer."""
    headers: Pairs
    """Names in lower case."""
    cookies: Pairs
    """Those that it set."""
    media_type: str
    text: str | None
    """None: it is no text, or it is not in the recording."""
    location: str
    """Where a redirect leads, as the server wrote it."""
    error: str
    """What the browser said of a request that failed."""


@dataclass(frozen=True)
class Entry:
    """A request and its answer, as the browser's network tool wrote them."""

    number: int
    """Its position in the recording, from 1."""
    started_s: float
    """Unix time."""
    ended_s: float
    page: str
    kind: str
    """What the browser asked for, as `document` or `script`; empty: the recording does not say."""
    method: str
    """In upper case."""
    url: str
    """Absolute, without fragment and without user name and password."""
    user_info: str
    """What stood before the host, as `me:password`."""
    headers: Pairs
    """Names in lower case."""
    cookies: Pairs
    """Those that the browser sent."""
    body: Body | None
    answer: Answer
    cached: bool
    """The browser asked nobody."""

    def header(self, name: str) -> str:
        """The first header of a name in lower case, or an empty text."""
        return header_of(self.headers, name)

    @property
    def scheme(self) -> str:
        """As `https` or `data`."""
        return urlsplit(self.url).scheme

    @property
    def origin(self) -> str:
        """As `https://app.example:8443`."""
        return origin_of(self.url)

    @property
    def host(self) -> str:
        """Without the port."""
        return urlsplit(self.url).hostname or ""

    @property
    def path(self) -> str:
        """At least a slash."""
        return urlsplit(self.url).path or "/"

    @property
    def is_document(self) -> bool:
        """Whether it is a page, and not what a page asks for."""
        if self.kind:
            return self.kind == "document"
        if mode := self.header("sec-fetch-mode"):
            return mode == "navigate"
        by_script = self.header("x-requested-with") != ""
        return not by_script and "text/html" in self.header("accept")

    @property
    def redirects_to(self) -> str:
        """The address that a redirect leads to, or an empty text."""
        if self.answer.status not in _REDIRECTS or not self.answer.location:
            return ""
        try:
            target = urljoin(self.url, self.answer.location).partition("#")[0]
            origin_of(target)
        except ValueError:
            return ""
        return target

    @property
    def shown(self) -> str:
        """Method and address for a list; without the query, which may hold secrets."""
        parts = urlsplit(self.url)
        if not parts.netloc:
            return f"{self.method} {parts.scheme}:"
        text = f"{self.method} {parts.netloc}{parts.path or '/'}"
        return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


@dataclass(frozen=True)
class LeftOut:
    """An entry of the recording that is not in the scenario."""

    number: int
    what: str
    """Method and address."""
    reason: str


@dataclass(frozen=True)
class Exchange:
    """A request of the scenario: what the browser asked, and the answer after all redirects."""

    hops: tuple[Entry, ...]
    """The request and those that its redirects led to."""
    keeps: bool = False
    """The redirect leads to a host that is not asked: it is itself the answer."""

    @property
    def asked(self) -> Entry:
        """The request."""
        return self.hops[0]

    @property
    def answered(self) -> Entry:
        """The last entry, whose answer the page saw."""
        return self.hops[-1]

    @property
    def number(self) -> int:
        """Position of the request in the recording."""
        return self.asked.number

    @property
    def started_s(self) -> float:
        """Unix time."""
        return self.asked.started_s

    @property
    def ended_s(self) -> float:
        """Unix time."""
        return self.answered.ended_s
