"""Settings with levels under which acknowledged commits can be lost, or damage goes unnoticed.

What counts is the value that the system makes of a level, not the word that was typed: PostgreSQL
takes `f` for off, MariaDB every beginning of a word and its number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loadstone.errors import WrongInputError


@dataclass(frozen=True)
class Risk:
    """The values of a setting, as the system gives them back, in lower case."""

    safe: frozenset[str]
    unsafe: frozenset[str] | None
    """None: every value that is not safe."""

    @classmethod
    def of(cls, *, safe: str, unsafe: str | None) -> Risk:
        """From words between blanks."""
        return cls(frozenset(safe.split()), None if unsafe is None else frozenset(unsafe.split()))


Risks = Mapping[str, Risk]
"""By the plain name of the setting."""


def is_unsafe(risks: Risks, name: str, value: str | None) -> bool:
    """Whether a setting at this value can lose acknowledged commits, or hide damage.

    Args:
        risks: Of the engine; a setting that is not among them has no unsafe level.
        name: Plain name of the setting.
        value: As the system gives it back; None if it does not tell what it makes of the level.

    Raises:
        WrongInputError: If nobody knows whether the value is safe.
    """
    risk = risks.get(name)
    if risk is None:
        return False
    word = None if value is None else value.lower()
    if word in risk.safe:
        return False
    if word is not None and (risk.unsafe is None or word in risk.unsafe):
        return True
    known = sorted(risk.safe | (risk.unsafe or frozenset()))
    raise WrongInputError(
        f"what the system makes of this level of {name} is "
        f"{'not known' if value is None else repr(value)}: acknowledged commits could be lost",
        advice=f"choose one of {', '.join(known)}",
    )
