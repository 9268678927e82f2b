"""Where the values of requests stand in answers, as rules that extract them. Pure.

An answer is only searched for texts that a later request holds, so that the time grows with the
size of the recording and not with its square.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from loadstone.workloads.http.har.bodies import NotJsonError, is_json, json_of
from loadstone.workloads.http.har.entries import Answer, Exchange
from loadstone.workloads.http.har.markup import first_values
from loadstone.workloads.http.har.values import looks_random, names_id, words_of

_RUN = re.compile(r"[A-Za-z0-9]+")
_PIECE = 1 << 20
"""Characters that are searched at once: the runs of a large answer would fill the memory."""
_OVERLAP = 1 << 10
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")
"""Signs that mean something in a regular expression, of Python and of Rust alike."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{8,}")
_ENDS = "\"'<>&;,)}] \t\r\n\\"
_WIDTHS = (16, 32, 64, 128)
"""Characters before a value that find it: as few as it takes."""
_FARTHEST = 512
_LEAST_CONTEXT = 3
_MOST_TRIES = 8
_UNUSED_HEADERS = ("content-length", "date", "expires", "last-modified", "server", "set-cookie")


@dataclass(frozen=True)
class Source:
    """A place in an answer that has a value."""

    kind: Literal["form", "json", "header", "cookie", "regex"]
    what: str
    """Name of the field, header or cookie, path in JSON, or regular expression."""
    name: str
    """What the answer calls it; empty: nothing."""
    value: str | int
    depth: int = 0
    """In JSON: how many objects and lists it is within."""
    words: frozenset[str] = frozenset()
    """Of the names around it."""

    @property
    def rule(self) -> dict[str, Any]:
        """As a scenario has it, below `extract`."""
        return {self.kind: self.what}


class Wanted:
    """The texts that are looked for.

    Args:
        texts: Values of requests.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = frozenset(texts)
        self._by_run = defaultdict[str, list[str]](list)
        for each in self.texts:
            if runs := _RUN.findall(each):
                self._by_run[max(runs, key=len)].append(each)

    def perhaps_in(self, text: str) -> set[str]:
        """Those whose longest run of letters and digits stands in a text by itself."""
        found = set[str]()
        for begin in range(0, len(text), _PIECE):
            found.update(_RUN.findall(text, begin, begin + _PIECE + _OVERLAP))
            found &= self._by_run.keys()
        return {each for run in found for each in self._by_run[run]}


def sources_of(
    exchange: Exchange, wanted: Wanted, avoid: Collection[str]
) -> dict[str, list[Source]]:
    """Where an answer has texts that are wanted, the best place first.

    Args:
        exchange: Its cookies are those of all its redirects, all else is of the last answer.
        wanted: What is looked for.
        avoid: Texts that no regular expression may hold.
    """
    found = defaultdict[str, list[Source]](list)
    answer = exchange.answered.answer
    perhaps = wanted.perhaps_in(answer.text) if answer.text and not exchange.keeps else set()
    if perhaps and answer.text:
        for source in _of_body(answer, answer.text, perhaps):
            found[str(source.value)].append(source)
    for hop in exchange.hops:
        for name, value in hop.answer.cookies:
            if value in wanted.texts and not value.isdigit():
                found[value].append(Source("cookie", name, name, value))
    for name, value in answer.headers:
        if value in wanted.texts and name not in _UNUSED_HEADERS and not value.isdigit():
            found[value].append(Source("header", name, name, value))
    for value in sorted(perhaps - found.keys()):
        if looks_random(value) and answer.text and (rule := _around(answer.text, value, avoid)):
            found[value].append(Source("regex", rule, "", value))
    return found


def _of_body(answer: Answer, text: str, perhaps: Collection[str]) -> Iterator[Source]:
    if is_json(answer.media_type) or text.lstrip()[:1] in ("{", "["):
        try:
            data = json_of(text)
        except NotJsonError:
            return
        yield from sorted(_leaves(data, perhaps), key=lambda each: each.depth)
    elif "html" in answer.media_type or "<" in text[:1000]:
        for name, value in first_values(text).items():
            if value in perhaps and not value.isdigit():
                yield Source("form", name, name, value, words=frozenset(words_of(name)))


def _leaves(data: Any, perhaps: Collection[str]) -> Iterator[Source]:
    """The texts and whole numbers of JSON that are looked for; numbers only where ids stand."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
    while waiting:
        path, here = waiting.pop()
        if isinstance(here, dict):
            waiting += [((*path, key), each) for key, each in reversed(here.items())]
        elif isinstance(here, list):
            waiting += [((*path, at), here[at]) for at in reversed(range(len(here)))]
        elif isinstance(here, str | int) and not isinstance(here, bool) and str(here) in perhaps:
            keys = [each for each in path if isinstance(each, str)]
            name = keys[-1] if keys else ""
            if names_id(name) or not str(here).isdigit():
                words = frozenset(word for key in keys for word in words_of(key))
                yield Source("json", json_path(path), name, here, len(path), words)


def json_path(path: Iterable[str | int]) -> str:
    """A path in JSON (RFC 9535), as `$.items[0].id`.

    Args:
        path: Keys of objects and positions in lists, from the outside in.
    """
    text = "$"
    for each in path:
        if isinstance(each, int):
            text += f"[{each}]"
        elif _PLAIN_KEY.fullmatch(each):
            text += f".{each}"
        else:
            quoted = each.replace("\\", "\\\\").replace("'", "\\'")
            text += f"['{quoted}']"
    return text


def _around(text: str, value: str, avoid: Collection[str]) -> str:
    """A regular expression whose first group finds a value by what stands before it, or nothing."""
    at = text.find(value)
    for _ in range(_MOST_TRIES):
        if at < 0:
            break
        if found := _before(text, at, value, avoid):
            return found
        at = text.find(value, at + 1)
    return ""


def _before(text: str, at: int, value: str, avoid: Collection[str]) -> str:
    end = text[at + len(value) : at + len(value) + 1]
    if end and end not in _ENDS:
        return ""
    # What ends the value is written as it is read by Python and by Rust within brackets.
    sign = {"\\": "\\\\", "]": "\\]", "\t": "\\s", "\n": "\\s", "\r": "\\s", " ": "\\s"}
    group = f"([^{sign.get(end, end)}]+)" if end else "(.+)"
    lasting = _lasting(text[max(0, at - _FARTHEST) : at], avoid)
    for width in _WIDTHS:
        begin = max(0, len(lasting) - width)
        while begin and lasting[begin - 1].isalnum():
            begin -= 1  # to where a word begins
        before = lasting[begin:]
        if len(before.strip()) < _LEAST_CONTEXT:
            continue
        rule = _SPECIAL.sub(r"\\\g<0>", before) + group
        found = re.search(rule, text)
        if found and found[1] == value:
            return rule
        if not begin:
            break
    return ""


def _lasting(before: str, avoid: Collection[str]) -> str:
    """The end of a text that is the same in each answer: on one line, behind tokens and names."""
    for sign in "\r\n":
        before = before.rpartition(sign)[2]
    for each in avoid:
        before = before.rpartition(each)[2]
    drawn = [each.end() for each in _TOKEN.finditer(before) if looks_random(each[0])]
    return before[drawn[-1] :] if drawn else before
