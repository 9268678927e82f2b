"""Texts of a scenario: what stands as it was recorded, and references to values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Reference:
    """A value that the load driver puts in: `${name}`."""

    name: str

    def __str__(self) -> str:
        return f"${{{self.name}}}"


Template = tuple[str | Reference, ...]
"""Recorded texts and references, in their order."""


def as_it_is(text: str) -> str:
    """A recorded text as a template that means itself: `${` is written `$${`."""
    return text.replace("${", "$${")


def written(template: Template, encode: Callable[[str], str] = str) -> str:
    """A template as the scenario has it.

    Args:
        template: Its parts.
        encode: Of what was recorded; the load driver encodes what it puts in.
    """
    return "".join(
        str(part) if isinstance(part, Reference) else as_it_is(encode(part)) for part in template
    )


def is_plain(template: Template) -> bool:
    """Whether all of it stands as it was recorded."""
    return not any(isinstance(part, Reference) for part in template)


@dataclass(frozen=True)
class Use:
    """The place of a value in a request."""

    where: str
    """For lists, as `header x-csrftoken`."""
    name: str
    """What the request calls it; empty for segments of a path and for bodies without names."""
    context: str = ""
    """The word beside it: the segment before it, or the object of JSON that it is in."""
    in_path: bool = False
    in_json: bool = False
    """Its type counts: a number is no text."""


class Rewriter(Protocol):
    """Says what stands in the place of each value of a request."""

    def text(self, value: str, use: Use) -> Template:
        """What stands in the place of a text."""
        ...

    def number(self, value: int, use: Use) -> Reference | None:
        """What stands in the place of a number of JSON; None: it stays."""
        ...

    def constant(self, value: float | bool, use: Use) -> Reference | None:
        """What stands in the place of any other value of JSON; None: it stays."""
        ...

    def credential(self, value: str) -> Template:
        """What stands in the place of a header `Authorization`."""
        ...


class AsRecorded:
    """A `Rewriter` that replaces nothing."""

    def text(self, value: str, use: Use) -> Template:
        """The text."""
        return (value,)

    def number(self, value: int, use: Use) -> Reference | None:
        """It stays."""
        return None

    def constant(self, value: float | bool, use: Use) -> Reference | None:
        """It stays."""
        return None

    def credential(self, value: str) -> Template:
        """The header."""
        return (value,)
