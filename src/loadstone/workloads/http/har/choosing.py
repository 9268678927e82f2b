"""Which entries of a recording become requests of the scenario, and why the others do not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from loadstone.errors import WrongInputError
from loadstone.secret import shown
from loadstone.workloads.http.har.entries import Entry, Exchange, LeftOut, origin_of
from loadstone.workloads.http.har.reading import Recording

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")

_STATIC = "a static file: --keep-static takes it"
_STATIC_KINDS = ("script", "stylesheet", "image", "font", "media", "manifest", "texttrack")
_STATIC_MEDIA = ("image/", "font/", "audio/", "video/", "text/css", "text/javascript")
_STATIC_TYPES = (
    *("application/javascript", "application/x-javascript", "application/wasm"),
    *("application/font-woff", "application/vnd.ms-fontobject", "application/manifest+json"),
)
_STATIC_NAMES = (
    *(".js", ".mjs", ".css", ".map", ".wasm", ".webmanifest"),
    *(".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".webp", ".avif", ".bmp"),
    *(".woff", ".woff2", ".ttf", ".otf", ".eot", ".mp3", ".mp4", ".webm", ".ogg"),
)
_REPORTS = ("application/csp-report", "application/reports+json")
_MOST_HOPS = 20
_MOST_HOSTS_SHOWN = 12


@dataclass(frozen=True)
class Choice:
    """What of a recording is used."""

    origin: str
    """The application, as `https://app.example`: the target's address."""
    exchanges: tuple[Exchange, ...]
    """In the order in which the browser asked."""
    static: tuple[Entry, ...]
    """Entries of static files in their order, if they are wanted."""
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class _Hosts:
    """Whom the scenario may ask."""

    origin: str
    aliases: frozenset[str]
    """Other origins of the same host, from which the first page was redirected."""
    named: tuple[str, ...]

    def allow(self, origin: str) -> bool:
        return origin in self.aliases or any(_is_named(each, origin) for each in self.named)


def choose(recording: Recording, hosts: Sequence[str], *, keep_static: bool) -> Choice:
    """Chooses the entries that are asked again.

    Args:
        recording: What was recorded.
        hosts: Further hosts that may be asked: `host`, `host:port` or `http(s)://host:port`.
        keep_static: Static files are wanted, too.

    Raises:
        WrongInputError: If nothing was answered, nothing is left, or a host was never asked.
    """
    allowed = _hosts(recording.entries, hosts)
    left_out, kept, static = list(recording.broken), list[Entry](), list[Entry]()
    for entry in recording.entries:
        reason = _reason(entry, allowed)
        if not reason:
            kept.append(entry)
        elif reason == _STATIC and keep_static and entry.answer.status < 400:
            static.append(entry)
        else:
            left_out.append(LeftOut(entry.number, entry.shown, reason))
    exchanges = _folded(kept, allowed, left_out)
    if not exchanges:
        raise WrongInputError(
            f"nothing of the recording is left to ask {allowed.origin} for",
            advice="record pages or what their scripts ask for; --host NAME takes further hosts",
        )
    return Choice(
        allowed.origin,
        tuple(exchanges),
        tuple(static),
        tuple(sorted(left_out, key=lambda each: each.number)),
    )


# -- hosts -----------------------------------------------------------------------------------------


def _hosts(entries: Sequence[Entry], named: Sequence[str]) -> _Hosts:
    asked = [each for each in entries if each.scheme in ("http", "https")]
    answered = [each for each in asked if each.answer.status > 0]
    if not answered:
        raise WrongInputError("no request of the recording was answered over HTTP")
    first = next((each for each in answered if each.is_document), answered[0])
    origin, aliases = first.origin, {first.origin}
    at = first
    for _ in range(_MOST_HOPS):
        target = at.redirects_to
        if not target or urlsplit(target).hostname != first.host:
            break
        origin = origin_of(target)
        aliases.add(origin)
        following = [
            each for each in answered if each.number > at.number and _key(each.url) == _key(target)
        ]
        if not following:
            break
        at = following[0]
    for each in named:
        if not any(_is_named(each, own.origin) for own in asked):
            there = sorted({own.origin for own in asked})
            more = ", ..." if len(there) > _MOST_HOSTS_SHOWN else ""
            raise WrongInputError(
                f"--host {shown(each)}: the recording asks no such host",
                advice=f"it asks {', '.join(there[:_MOST_HOSTS_SHOWN])}{more}",
            )
    return _Hosts(origin, frozenset(aliases), tuple(named))


def _is_named(named: str, origin: str) -> bool:
    name, parts = named.lower().rstrip("/"), urlsplit(origin)
    try:
        return name == parts.hostname or origin in (
            origin_of(name) if "://" in name else origin_of(f"{parts.scheme}://{name}"),
        )
    except ValueError:
        return False


# -- reasons ---------------------------------------------------------------------------------------


def _reason(entry: Entry, allowed: _Hosts) -> str:
    """Why an entry is left out; empty: it is not."""
    for is_so, reason in _FIRST_REASONS:
        if is_so(entry):
            return reason
    if not allowed.allow(entry.origin):
        return f"of another host: --host {urlsplit(entry.url).netloc} takes it"
    for is_so, reason in _REASONS:
        if is_so(entry):
            return reason
    return entry.body.lack if entry.body else ""


def _is_socket(entry: Entry) -> bool:
    return entry.scheme in ("ws", "wss") or entry.kind == "websocket" or entry.answer.status == 101


def _is_other(entry: Entry) -> bool:
    return entry.scheme not in ("http", "https")


def _is_preflight(entry: Entry) -> bool:
    asks = entry.method == "OPTIONS" and entry.header("access-control-request-method") != ""
    return asks or entry.kind == "preflight"


def _has_no_answer(entry: Entry) -> bool:
    return entry.answer.status <= 0 or entry.answer.error != ""


def _is_static(entry: Entry) -> bool:
    if entry.method not in ("GET", "HEAD") or entry.is_document:
        return False
    media = entry.answer.media_type
    if entry.kind in _STATIC_KINDS or media.startswith(_STATIC_MEDIA) or media in _STATIC_TYPES:
        return True
    by_name = PurePosixPath(entry.path).suffix.lower() in _STATIC_NAMES
    return by_name and entry.kind not in ("xhr", "fetch")


def _is_cached(entry: Entry) -> bool:
    return entry.cached or (entry.answer.status == 304 and not entry.answer.text)


def _is_stream(entry: Entry) -> bool:
    return entry.kind == "eventsource" or entry.answer.media_type == "text/event-stream"


def _is_report(entry: Entry) -> bool:
    return "csp" in entry.kind or (entry.body is not None and entry.body.media_type in _REPORTS)


def _has_other_method(entry: Entry) -> bool:
    return entry.method not in METHODS


_FIRST_REASONS: tuple[tuple[Callable[[Entry], bool], str], ...] = (
    (_is_socket, "a WebSocket, which the load driver does not speak"),
    (_is_other, "its address is not one of HTTP"),
    (_is_preflight, "a preflight request, which only browsers make"),
    (_has_no_answer, "it has no answer: it was aborted, blocked, or did not end"),
)
"""Those that hold for any host."""
_REASONS: tuple[tuple[Callable[[Entry], bool], str], ...] = (
    (_is_static, _STATIC),
    (_is_cached, "answered by the browser's cache, without content"),
    (_is_stream, "a stream of events, which does not end"),
    (_is_report, "a report of the browser itself"),
    (_has_other_method, f"its method is none of {', '.join(METHODS)}"),
)


# -- redirects -------------------------------------------------------------------------------------


def _folded(kept: Sequence[Entry], allowed: _Hosts, left_out: list[LeftOut]) -> list[Exchange]:
    """Each request with those that its redirects led to; these are left out."""
    places = defaultdict[str, list[int]](list)
    for index, entry in enumerate(kept):
        places[_key(entry.url)].append(index)
    taken = set[int]()
    found = []
    for index, entry in enumerate(kept):
        if index in taken:
            continue
        hops = [entry]
        last = index
        while (target := hops[-1].redirects_to) and len(hops) < _MOST_HOPS:
            there = places.get(_key(target), [])
            following = next((each for each in there if each > last and each not in taken), None)
            if following is None:
                break
            taken.add(following)
            hops.append(kept[following])
            last = following
        begin = _begin_on_origin(hops, allowed.origin)
        asked, only = hops[begin].number, f"it only redirects to {allowed.origin}"
        leads = f"a redirect leads here from entry {asked}, and is followed by itself"
        left_out += [LeftOut(each.number, each.shown, only) for each in hops[:begin]]
        left_out += [LeftOut(each.number, each.shown, leads) for each in hops[begin + 1 :]]
        keeps = bool(target) and not allowed.allow(origin_of(target))
        found.append(Exchange(tuple(hops[begin:]), keeps))
    return found


def _begin_on_origin(hops: Sequence[Entry], origin: str) -> int:
    """How many redirects only lead from another origin of the same host, as from http to https."""
    host = urlsplit(origin).hostname
    for index, each in enumerate(hops[:-1]):
        if each.origin == origin or each.host != host:
            return index
    return len(hops) - 1


def _key(url: str) -> str:
    """An address in the one spelling in which a redirect and its target are compared."""
    parts = urlsplit(url)
    return f"{origin_of(url)}{parts.path or '/'}?{parts.query}"
