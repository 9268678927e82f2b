"""Every option and word of every command, as the command line itself describes them."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from cyclopts import App

from loadstone.cli.main import VERBS, build_app


@dataclass(frozen=True)
class Option:
    """A word of a command, or an option with its value."""

    command: tuple[str, ...]
    name: str
    kind: Any
    """Its type, without None."""
    required: bool
    reader: Any
    """What reads its value, if the library does not."""

    @property
    def is_flag(self) -> bool:
        """It has no value."""
        return self.kind is bool

    @property
    def is_word(self) -> bool:
        """It has no name on the command line."""
        return not self.name.startswith("--")

    def __str__(self) -> str:
        return f"{' '.join(self.command)} {self.name}"


def options(app: App | None = None) -> list[Option]:
    """All of them."""
    whole = build_app() if app is None else app
    return [each for verb, _, _ in VERBS for each in _of(whole[verb], (verb,))]


def _of(app: App, command: tuple[str, ...]) -> Iterator[Option]:
    for name in app:
        if not name.startswith("-"):
            yield from _of(app[name], (*command, name))
    if app.default_command is not None:
        for each in app.assemble_argument_collection(parse_docstring=False):
            if each.parse and each.name != "*":
                yield Option(
                    command, each.name, _bare(each.hint), each.required, each.parameter.converter
                )


def _bare(hint: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        (one,) = (each for each in get_args(hint) if each is not type(None))
        return one
    return hint


def distinct(every: list[Option]) -> list[Option]:
    """One of those that are described alike; of `run` and `search` before others."""
    usual = ("run", "search", "cube", "list")
    by_verb = sorted(every, key=lambda each: (*usual, each.command[0]).index(each.command[0]))
    found: dict[object, Option] = {}
    for each in by_verb:
        alike = each.command[-1] if each.command[0] == "cube" else ""
        found.setdefault((each.name, str(each.kind), each.reader, alike), each)
    return list(found.values())


def words_before(option: Option, every: list[Option]) -> list[str]:
    """The command with values for all that it requires, but for this option."""
    words = list(option.command)
    for each in every:
        if each.command == option.command and each.required and each != option:
            words += [] if each.is_word else [each.name]
            words.append(right_value(each))
    return words


def right_value(option: Option) -> str:
    """A value that the option takes."""
    if get_origin(option.kind) is Literal:
        return str(get_args(option.kind)[0])
    if option.name == "WHAT":
        return "noop"
    if option.name in ("DIMENSION", "--dimension"):
        return "Entity"
    return {int: "2", float: "2", Path: "there"}.get(option.kind, "text")
