"""What bodies of requests hold: fields of forms, JSON, parts. Pure."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from loadstone.workloads.http.har.entries import Body, Entry
from loadstone.workloads.http.har.values import names_password

FORM = "application/x-www-form-urlencoded"
_BOUNDARY = re.compile(r"""boundary=(?:"([^"]+)"|([^\s;]+))""", re.IGNORECASE)
_PART_NAME = re.compile(r"""\bname="([^"]*)\"""")


class NotJsonError(Exception):
    """A text that is no JSON object or list."""


@dataclass(frozen=True)
class Part:
    """A part of a `multipart/form-data` body."""

    head: str
    """Its header lines, without the blank line after them."""
    name: str
    value: str


def pairs_of(body: Body) -> list[tuple[str, str]] | None:
    """The fields of an urlencoded form in their order; None: it is none."""
    if body.media_type != FORM:
        return None
    if body.fields:
        return list(body.fields)
    if "=" not in body.text:
        return None
    return parse_qsl(body.text, keep_blank_values=True)


def json_of(text: str) -> Any:
    """The object or list that a text is.

    Raises:
        NotJsonError: If it is none; NaN and the like are none either.
    """
    try:
        data = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise NotJsonError from None
    if not isinstance(data, dict | list):
        raise NotJsonError
    return data


def _refuse(name: str) -> None:
    raise ValueError(name)


def is_json(media_type: str) -> bool:
    """Whether a media type is JSON, as `application/vnd.api+json` is, too."""
    return media_type.endswith(("/json", "+json")) or media_type in ("text/x-json", "json")


def boundary_of(content_type: str) -> str:
    """What separates the parts of a body, or an empty text."""
    found = _BOUNDARY.search(content_type)
    return (found[1] or found[2]) if found else ""


def parts_of(body: Body) -> list[Part]:
    """The parts of a `multipart/form-data` body; from its fields where its text is missing."""
    boundary = boundary_of(body.content_type)
    if not body.text:
        return [
            Part(f'Content-Disposition: form-data; name="{name}"', name, value)
            for name, value in body.fields
        ]
    found = []
    pieces = body.text.split(f"--{boundary}")[1:] if boundary else []
    for piece in pieces:
        text = piece.removeprefix("\r\n").removeprefix("\n")
        head, between, value = text.partition("\r\n\r\n")
        if not between:
            head, between, value = text.partition("\n\n")
        name = _PART_NAME.search(head)
        if between and name:
            ended = value.removesuffix("\n").removesuffix("\r")
            found.append(Part(head.replace("\r\n", "\n").replace("\n", "\r\n"), name[1], ended))
    return found


def groups_of(entry: Entry) -> Iterator[list[tuple[str, str]]]:
    """Texts of a request that stand beside each other, by name: a form, each object of JSON."""
    query = parse_qsl(urlsplit(entry.url).query, keep_blank_values=True)
    if query:
        yield query
    body = entry.body
    if body is None or body.lack:
        return
    if pairs := pairs_of(body):
        yield pairs
    elif body.media_type.startswith("multipart/"):
        yield [(each.name, each.value) for each in parts_of(body)]
    else:
        try:
            yield from _objects(json_of(body.text))
        except NotJsonError:
            return


def _objects(data: Any) -> Iterator[list[tuple[str, str]]]:
    """The texts of each object within JSON, the outer ones first; a password may be a number."""
    waiting = deque[Any]([data])
    while waiting:
        here = waiting.popleft()
        if isinstance(here, dict):
            yield [
                (name, str(each))
                for name, each in here.items()
                if isinstance(each, str) or (type(each) is int and names_password(name))
            ]
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here
