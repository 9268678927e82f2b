"""Reads a HAR file (HTTP Archive 1.2) as the network tools of browsers write it.

Fields that no browser fills alike are optional: cookies (Chrome leaves them out since version 130),
contents, kinds of requests. An entry that lacks what a request must have is left out by itself.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.text import read_text, readable
from loadstone.units import format_size
from loadstone.workloads.http.har.bodies import boundary_of
from loadstone.workloads.http.har.entries import (
    Answer,
    Body,
    Entry,
    LeftOut,
    Pairs,
    header_of,
    media_type,
    origin_of,
)

LARGEST_FILE_BYTES = 512 << 20

_EXPORT = "give what a browser's network tool exports: Export HAR, or Save all as HAR"
_UNREAD = ("image/", "font/", "audio/", "video/", "text/css")
"""Media types whose content nothing is extracted from."""
_TEXTS = re.compile(r"text/|.*(?:json|xml|html|urlencoded)|$")
_UPLOAD = re.compile(r"""content-disposition:[^\r\n]*\bfilename\*?=""", re.IGNORECASE)
_LONGEST_OTHER_ADDRESS = 40
"""Characters that are kept of an address that is not of HTTP: some are whole images."""
_LONGEST_MS = 1e9
"""What is said to have taken longer (11 days) was not timed."""
_BINARY = re.compile("[\0\ufffd\ud800-\udfff]")
"""What stands in a text where bytes were none."""
_NO_BODY = "its body is not in the recording"
_NO_FILE = "it uploads a file, whose content is not in the recording"
_NO_TEXT = "its body is no text"
_NO_BOUNDARY = "the recording does not tell what separates the parts of its body"


@dataclass(frozen=True)
class Recording:
    """The entries of a recording."""

    entries: tuple[Entry, ...]
    """In the order in which they began."""
    broken: tuple[LeftOut, ...]
    """Those that are no request with a time."""


class BrokenEntryError(Exception):
    """An entry that lacks what every request has; the message says what."""


def read_har(path: Path) -> Recording:
    """Reads a recording.

    Args:
        path: A file of at most 512 MB, in UTF-8 or UTF-16.

    Raises:
        WrongInputError: If it cannot be read, is cut short, is no HAR, or holds no request.
    """
    entries = _entries(path)
    found: list[Entry] = []
    broken: list[LeftOut] = []
    for number, raw in enumerate(entries, start=1):
        try:
            found.append(_entry(number, raw))
        except BrokenEntryError as error:
            broken.append(LeftOut(number, "an entry", str(error)))
    if not found:
        raise WrongInputError(
            f"no entry of {path} is a request: the first {broken[0].reason}", advice=_EXPORT
        )
    found.sort(key=lambda each: (each.started_s, each.number))
    return Recording(tuple(found), tuple(broken))


def _entries(path: Path) -> list[Any]:
    readable(path)
    if path.stat().st_size > LARGEST_FILE_BYTES:
        raise WrongInputError(
            f"{path} is larger than a recording may be: {format_size(LARGEST_FILE_BYTES)} at most",
            advice="record less at a time, or clear the list of the network tool before",
        )
    root = _parsed(path, read_text(path, at_most_bytes=LARGEST_FILE_BYTES))
    log = root.get("log") if isinstance(root, Mapping) else None
    entries = log.get("entries") if isinstance(log, Mapping) else None
    if not isinstance(entries, list):
        raise WrongInputError(
            f"{path} is JSON but no HAR: it has no list log.entries", advice=_EXPORT
        )
    if not entries:
        raise WrongInputError(
            f"{path} holds no requests: log.entries is empty",
            advice="open the network tool before the first page, keep its log over pages, and "
            "record again",
        )
    return entries


def _parsed(path: Path, text: str) -> Any:
    if not text.strip():
        raise WrongInputError(f"{path} is empty", advice=_EXPORT)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        # The reader of JSON quotes nothing of the text.
        ended = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        if ended and text.lstrip()[:1] in ("{", "["):
            raise WrongInputError(
                f"{path} is cut short: it ends within the JSON, in line {text.count(chr(10)) + 1}",
                advice="export it again, and wait until the browser has written all of it",
            ) from None
        raise WrongInputError(
            f"{path}:{error.lineno}: is not JSON, at column {error.colno}: {error.msg}",
            advice=_EXPORT,
        ) from None
    except ValueError:
        raise WrongInputError(f"{path} holds a number that is no number of a HAR") from None
    except RecursionError:
        raise WrongInputError(f"{path} is nested too deeply to be a HAR", advice=_EXPORT) from None


def _entry(number: int, raw: Any) -> Entry:
    request, response = _inner(raw, "request"), _inner(raw, "response")
    method, address = _text(request, "method").upper(), _text(request, "url")
    if not method or not address:
        raise BrokenEntryError("has no request with a method and an address")
    url, user_info = _address(address)
    started_s = _moment_s(_text(raw, "startedDateTime"))
    headers = _headers(request)
    return Entry(
        number=number,
        started_s=started_s,
        ended_s=started_s + _duration_s(raw),
        page=_text(raw, "pageref"),
        kind=_text(raw, "_resourceType").lower(),
        method=method,
        url=url,
        user_info=user_info,
        headers=headers,
        cookies=_cookies(request, _of_header(headers, "cookie", ";")),
        body=_body(request, headers),
        answer=_answer(response),
        cached=bool(raw.get("_fromCache")),
    )


def _inner(raw: Any, name: str) -> Mapping[str, Any]:
    value = raw.get(name) if isinstance(raw, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _text(raw: Mapping[str, Any], name: str) -> str:
    value = raw.get(name)
    return value if isinstance(value, str) else ""


def _address(address: str) -> tuple[str, str]:
    """An address without fragment, user name and password; and these two."""
    url = address.partition("#")[0].strip()
    if not url.lower().startswith(("http:", "https:")):
        return url[:_LONGEST_OTHER_ADDRESS], ""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    user_info, _, host = host.rpartition("@")
    url = f"{scheme.lower()}://{host}{slash}{path}"
    try:
        origin_of(url)
    except ValueError:
        raise BrokenEntryError("has an address that cannot be read") from None
    if not host:
        raise BrokenEntryError("has an address without a host")
    return url, user_info


def _moment_s(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise BrokenEntryError("has no time that can be read (startedDateTime)") from None


def _duration_s(raw: Mapping[str, Any]) -> float:
    time_ms = raw.get("time")
    if not isinstance(time_ms, int | float) or not 0 <= time_ms < _LONGEST_MS:
        return 0.0
    return time_ms / 1000


def _headers(raw: Mapping[str, Any]) -> Pairs:
    """Headers with their names in lower case, without the pseudo headers of HTTP/2."""
    return tuple(
        (name.lower(), value)
        for name, value in _named(raw.get("headers"))
        if name and not name.startswith(":")
    )


def _named(raw: Any) -> Iterator[tuple[str, str]]:
    """The names and values of a list of HAR."""
    for each in raw if isinstance(raw, list) else ():
        if isinstance(each, Mapping):
            yield _text(each, "name"), _text(each, "value")


def _cookies(raw: Mapping[str, Any], of_headers: Iterator[tuple[str, str]]) -> Pairs:
    both = dict.fromkeys([*_named(raw.get("cookies")), *of_headers])
    return tuple((name, value) for name, value in both if name)


def _of_header(headers: Pairs, header: str, between: str) -> Iterator[tuple[str, str]]:
    """Cookies of a header: the first pair of each part."""
    for name, value in headers:
        parts = value.split(between) if name == header else []
        for part in parts:
            cookie, _, rest = part.strip().partition("=")
            yield cookie, rest.partition(";")[0]


def _answer(response: Mapping[str, Any]) -> Answer:
    headers, content = _headers(response), _inner(response, "content")
    kind = media_type(_text(content, "mimeType") or header_of(headers, "content-type"))
    status = response.get("status")
    return Answer(
        status=status if isinstance(status, int) else 0,
        headers=headers,
        # Browsers put several Set-Cookie headers into one value, a line each.
        cookies=_cookies(response, _of_header(headers, "set-cookie", "\n")),
        media_type=kind,
        text=_content(content, kind),
        location=header_of(headers, "location") or _text(response, "redirectURL"),
        error=_text(response, "_error") or _text(response, "_failureText"),
    )


def _content(content: Mapping[str, Any], kind: str) -> str | None:
    text = content.get("text")
    if not isinstance(text, str) or kind.startswith(_UNREAD) or "javascript" in kind:
        return None
    if content.get("encoding") != "base64":
        return text
    if not _TEXTS.match(kind):
        return None
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except binascii.Error:
        return None


def _body(request: Mapping[str, Any], headers: Pairs) -> Body | None:
    raw, declared = request.get("postData"), header_of(headers, "content-type")
    if not isinstance(raw, Mapping):
        size = request.get("bodySize")
        is_lost = isinstance(size, int) and size > 0
        return Body(declared, "", lack=_NO_BODY) if is_lost else None
    content_type = declared or _text(raw, "mimeType")
    text, lack = _sent(raw)
    given = raw.get("params")
    params = given if isinstance(given, list) else []
    fields = tuple(pair for pair in _named(params) if pair[0])
    if media_type(content_type).startswith("multipart/"):
        files = any(isinstance(each, Mapping) and each.get("fileName") for each in params)
        lack = _NO_FILE if files or _UPLOAD.search(text) else lack
        lack = lack or ("" if boundary_of(content_type) else _NO_BOUNDARY)
    if not text and not fields and not lack:
        return None
    return Body(content_type, text, () if text else fields, lack)


def _sent(raw: Mapping[str, Any]) -> tuple[str, str]:
    """The text of a body, and why it cannot be sent again."""
    text = _text(raw, "text")
    if raw.get("encoding") == "base64":
        try:
            text = base64.b64decode(text).decode("utf-8")
        except ValueError:
            return "", _NO_TEXT
    if text.lower().startswith(("content-type:", "content-length:")) and "\r\n\r\n" in text:
        text = text.partition("\r\n\r\n")[2]  # old versions of Firefox keep headers there
    return text, _NO_TEXT if _BINARY.search(text) else ""
