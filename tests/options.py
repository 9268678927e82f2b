"""The command line as it describes itself: every verb with all that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from cyclopts import App


@dataclass(frozen=True)
class Option:
    """A word that a verb takes: after an option, or at a place of its own."""

    verb: tuple[str, ...]
    name: str
    """`--users`; of a positional one `WHAT`."""
    before: int
    """Positional: how many others come first."""
    kinds: frozenset[Any]
    """Types that it is read as: `int`, `str`, `Path`, a `Literal`."""

    @property
    def is_flag(self) -> bool:
        """Whether it takes no word."""
        return self.kinds == {bool}

    @property
    def is_free(self) -> bool:
        """Whether any text is taken."""
        return not all(kind in (int, float) or get_origin(kind) is Literal for kind in self.kinds)

    def given(self, word: str) -> list[str]:
        """A command line with a word in this place, and plain ones before it."""
        if self.name.startswith("--"):
            return [*self.verb, f"{self.name}={word}"]
        return [*self.verb, *(["oltp"] * self.before), word]

    def __str__(self) -> str:
        return " ".join([*self.verb, self.name])


def options_of(app: App, verb: tuple[str, ...] = ()) -> Iterator[Option]:
    """All that the verbs of a command line take."""
    below = [name for name in app if not name.startswith("-")]
    for name in below:
        yield from options_of(app[name], (*verb, name))
    if below:
        return
    for argument in app.assemble_argument_collection():
        if not argument.children:
            kinds = frozenset(_kinds(argument.hint))
            yield Option(verb, argument.name, argument.index or 0, kinds)


def _kinds(hint: Any) -> Iterator[Any]:
    """The members of unions and tuples."""
    if get_origin(hint) is Literal or not get_args(hint):
        yield from () if hint in (type(None), ...) else (hint,)
        return
    for each in get_args(hint):
        yield from _kinds(each)
