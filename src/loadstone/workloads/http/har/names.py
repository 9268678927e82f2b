"""Names for what is extracted, for secrets, for requests and for transactions. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from urllib.parse import unquote

from loadstone.workloads.http.har.entries import Entry
from loadstone.workloads.http.har.sources import Source
from loadstone.workloads.http.har.templates import Use
from loadstone.workloads.http.har.values import looks_random, stem, words_of

BUILT_IN = ("user", "unique", "base", "now_ms")
"""Names that the load driver gives a meaning."""
USER_NAME = "username"
"""The column of people."""

_MEANINGLESS = ("id", "ids", "pk", "key", "uuid", "value", "result", "token", "number")
_LONGEST_VARIABLE = 40
_LONGEST_NAME = 48
_LAST_SEGMENTS = 3
_INTERFACE = re.compile(r"api|rest|v\d+(?:\.\d+)?|index|default", re.IGNORECASE)
_SUFFIX = re.compile(r"\.[A-Za-z]{1,5}$")
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")


class Names:
    """Gives each name once; one that is taken gets a number.

    Args:
        taken: Names that are given already.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def unused(self, name: str, between: str) -> str:
        """The name, or the name with the first number from 2 on that makes it one of its own."""
        number, found = 1, name
        while found in self._taken:
            number += 1
            found = f"{name}{between}{number}"
        self._taken.add(found)
        return found


def variable_name(use: Use, source: Source | None = None) -> str:
    """What a value is called that is extracted, or that is a secret.

    Args:
        use: Where it is used.
        source: Where it is extracted.
    """
    words = words_of(use.name) or words_of(source.name if source else "") or ["value"]
    words = words[1:] if words[0] == "x" and len(words) > 1 else words
    if len(words) == 1 and words[0] in _MEANINGLESS:
        around = [each for each in words_of(use.context) if not each.isdigit()]
        words = [*(stem(each) for each in around[-1:]), *words]
    name = "_".join(words)[:_LONGEST_VARIABLE].strip("_")
    return name if name[:1].isalpha() else f"value_{name}"


def path_words(path: str, avoid: Collection[str] = ()) -> list[str]:
    """What a path is about: its last segments without ids, tokens and names of interfaces.

    `/api/v1/items/42/notes` is about `item` and `notes`.

    Args:
        path: Of an address.
        avoid: Segments that must not be told, as the user's name.
    """
    found: list[str] = []
    for segment in path.split("/"):
        text = _SUFFIX.sub("", unquote(segment).partition(";")[0])
        if text in avoid or text.isdigit() or looks_random(text):
            found[-1:] = [stem(each) for each in found[-1:]]  # one of several
            continue
        if _INTERFACE.fullmatch(text):
            continue
        if plain := _NOT_PLAIN.sub("-", text.lower()).strip("-"):
            found.append(plain)
    return found[-_LAST_SEGMENTS:]


def transaction_name(entry: Entry, avoid: Collection[str]) -> str:
    """What a transaction is called that begins with a request, as `item-edit`."""
    name = "-".join(path_words(entry.path, avoid))[:_LONGEST_NAME].strip("-")
    return name or "home"


def request_name(entry: Entry, avoid: Collection[str]) -> str:
    """What a request is called in figures, as `post item edit`."""
    words = " ".join(path_words(entry.path, avoid)) or "home"
    return f"{entry.method.lower()} {words}"[:_LONGEST_NAME].strip(" -")
