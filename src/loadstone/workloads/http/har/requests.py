"""A recorded request as a request of the scenario: address, headers, body, what is expected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, unquote_plus, urlsplit

from loadstone.workloads.http.har.bodies import (
    NotJsonError,
    boundary_of,
    is_json,
    json_of,
    pairs_of,
    parts_of,
)
from loadstone.workloads.http.har.entries import Body, Entry, Exchange, origin_of
from loadstone.workloads.http.har.templates import (
    Rewriter,
    Use,
    as_it_is,
    is_plain,
    written,
)
from loadstone.workloads.http.har.values import names_csrf

_OF_BROWSERS = frozenset(
    (
        *("accept", "accept-charset", "accept-encoding", "accept-language", "authorization"),
        *("cache-control", "connection", "content-encoding", "content-length", "content-type"),
        *("cookie", "cookie2", "date", "device-memory", "dnt", "downlink", "dpr", "ect", "expect"),
        *("host", "http2-settings", "if-modified-since", "if-none-match", "if-range"),
        *("if-unmodified-since", "keep-alive", "last-event-id", "origin", "pragma", "priority"),
        *("purpose", "range", "referer", "rtt", "save-data", "te", "trailer"),
        *("transfer-encoding", "upgrade", "upgrade-insecure-requests", "user-agent", "via"),
        *("viewport-width", "width", "x-client-data"),
    )
)
"""Headers that a browser sends by itself; all others are the page's, which its server may read."""
_OF_BROWSERS_BEGIN = ("sec-", "proxy-", "access-control-request-", "x-devtools-")
_UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
_JSON = "application/json"


@dataclass(frozen=True)
class Writer:
    """Writes requests.

    Args:
        origin: The application's: addresses there are written as paths.
        mark: What only the page of the log-in holds; empty: not known.
    """

    origin: str
    mark: str = ""

    def request(self, exchange: Exchange, name: str, values: Rewriter) -> dict[str, Any]:
        """A request as a scenario has it, without what is extracted from its answer.

        Args:
            exchange: The request and its answer.
            name: What it is called in figures.
            values: Says what stands in the place of its values.
        """
        asked = exchange.asked
        request: dict[str, Any] = {"request": name}
        request[asked.method.lower()] = self.address(asked.url, values)
        body, content_type = self._body(asked.body, asked.path, values)
        headers = self._headers(asked, values)
        if content_type:
            headers["content-type"] = as_it_is(content_type)
        if headers:
            request["headers"] = headers
        request |= body
        if expected := self._expected(exchange):
            request["expect"] = expected
        if exchange.keeps:
            request["redirects"] = "keep"
        return request

    def address(self, url: str, values: Rewriter) -> str:
        """An address with references in it: a path, or all of it where the origin is another."""
        parts, origin = urlsplit(url), origin_of(url)
        path = "/".join(_segments(parts.path or "/", values))
        query = "&".join(_parameters(parts.query, parts.path, values))
        head = "" if origin == self.origin else origin
        return f"{head}{path}?{query}" if query else f"{head}{path}"

    # -- headers ---------------------------------------------------------------------------------
    def _headers(self, asked: Entry, values: Rewriter) -> dict[str, str]:
        found = {}
        if "json" in asked.header("accept"):
            found["accept"] = as_it_is(asked.header("accept"))
        for name, value in asked.headers:
            if name not in _OF_BROWSERS and not name.startswith(_OF_BROWSERS_BEGIN):
                use = Use(f"header {name}", name, asked.path)
                one_line = ", ".join(value.splitlines())
                found[name] = written(values.text(one_line, use))
        if credential := asked.header("authorization"):
            found["authorization"] = written(values.credential(credential))
        if _sends_csrf(asked):
            found |= self._sent_from(asked, values)
        return found

    def _sent_from(self, asked: Entry, values: Rewriter) -> dict[str, str]:
        """Where a request with a token comes from: its server may look at that, too."""
        found = {}
        referer = asked.header("referer")
        try:
            is_own = referer != "" and origin_of(referer) == self.origin
        except ValueError:
            is_own = False
        if is_own:
            found["referer"] = "${base}" + self.address(referer.partition("#")[0], values)
        if asked.method in _UNSAFE and asked.header("origin") == self.origin:
            found["origin"] = "${base}"
        return found

    # -- bodies ----------------------------------------------------------------------------------
    def _body(self, body: Body | None, path: str, values: Rewriter) -> tuple[dict[str, Any], str]:
        """A body as a scenario has it, and its content type where that does not follow from it."""
        if body is None:
            return {}, ""
        pairs = pairs_of(body)
        if pairs is not None:
            return {"form": _form(pairs, path, values)}, ""
        if body.media_type.startswith("multipart/"):
            return {"body": _multipart(body, path, values)}, body.content_type
        if is_json(body.media_type):
            try:
                data = _json(json_of(body.text), "", path, values)
            except (NotJsonError, RecursionError):
                pass
            else:
                return {"json": data}, "" if body.media_type == _JSON else body.content_type
        text = written(values.text(body.text, Use("body", "", path)))
        return {"body": text}, body.content_type

    # -- answers ---------------------------------------------------------------------------------
    def _expected(self, exchange: Exchange) -> dict[str, Any]:
        """What tells a right answer from a wrong one; without anything, any 2xx or 3xx is right."""
        answer = exchange.answered.answer
        if answer.status >= 400:
            return {"status": [answer.status]} if answer.status < 600 else {}
        if exchange.keeps or exchange.answered.redirects_to:
            return {}
        if is_json(answer.media_type):
            return {"header": {"content-type": "json"}}
        is_page = "html" in answer.media_type and answer.text is not None
        if is_page and self.mark and self.mark not in (answer.text or ""):
            # Who is not logged in is shown the log-in, often with status 200.
            return {"no_text": [self.mark]}
        return {}


def _segments(path: str, values: Rewriter) -> Iterator[str]:
    before = ""
    for segment in path.split("/"):
        if not segment:
            yield ""
            continue
        text = unquote(segment)
        template = values.text(text, Use("path", "", before, in_path=True))
        yield as_it_is(segment) if is_plain(template) else written(template, _percent)
        before = text


def _parameters(query: str, path: str, values: Rewriter) -> Iterator[str]:
    for parameter in query.split("&") if query else []:
        name, equals, value = parameter.partition("=")
        use = Use(f"query {unquote_plus(name)}", unquote_plus(name), path)
        template = values.text(unquote_plus(value), use)
        if is_plain(template):
            yield as_it_is(parameter)
        else:
            yield f"{as_it_is(name)}{equals}{written(template, _percent)}"


def _percent(text: str) -> str:
    return quote(text, safe="")


def _sends_csrf(asked: Entry) -> bool:
    names = [name for name, _ in asked.headers]
    if asked.body is not None and not asked.body.lack:
        names += [name for name, _ in pairs_of(asked.body) or []]
        if asked.body.media_type.startswith("multipart/"):
            names += [each.name for each in parts_of(asked.body)]
    return any(names_csrf(each) for each in names)


def _form(
    pairs: list[tuple[str, str]], path: str, values: Rewriter
) -> dict[str, str] | list[list[str]]:
    """The fields of a form: a mapping, or a list where a name comes several times."""
    found = [
        (as_it_is(name), written(values.text(value, Use(f"field {name}", name, path))))
        for name, value in pairs
    ]
    by_name = dict(found)
    return by_name if len(by_name) == len(found) else [list(each) for each in found]


def _multipart(body: Body, path: str, values: Rewriter) -> str:
    boundary = as_it_is(boundary_of(body.content_type))
    parts = [
        f"--{boundary}\r\n{as_it_is(each.head)}\r\n\r\n"
        f"{written(values.text(each.value, Use(f'field {each.name}', each.name, path)))}\r\n"
        for each in parts_of(body)
    ]
    return "".join(parts) + f"--{boundary}--\r\n"


def _json(data: Any, name: str, around: str, values: Rewriter) -> Any:
    """JSON with references in its texts; `around` is what the object is called that it is in."""
    if isinstance(data, dict):
        inside = name or around
        return {key: _json(each, key, inside, values) for key, each in data.items()}
    if isinstance(data, list):
        return [_json(each, name, around, values) for each in data]
    use = Use(f"json {name}", name, around, in_json=True)
    if isinstance(data, str):
        return written(values.text(data, use))
    if data is None:
        return None
    whole = isinstance(data, int) and not isinstance(data, bool)
    reference = values.number(data, use) if whole else values.constant(data, use)
    return data if reference is None else str(reference)
