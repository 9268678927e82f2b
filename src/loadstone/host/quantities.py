"""Levels that are a number with a unit: `2400MHz`, `125W`, `28s`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from loadstone.host.levels import Levels
from loadstone.spec.base import Level

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)")


@dataclass(frozen=True)
class Quantity(Levels):
    """A number that must carry its unit, because the kernel counts in another one than people.

    Readings are written in the first unit. A reading may be lower than what was asked for by as
    much as the register of the hardware is coarse; anything else is a refusal.
    """

    what: str
    """For people: `a frequency`."""
    example: str
    units: tuple[tuple[str, int], ...]
    """Unit: how many of the kernel's units it is; the first is the one of readings."""
    least: int
    """In the kernel's unit."""
    most: int
    step: int = 0
    """Largest part of a level that the hardware cuts off, in the kernel's unit."""
    cut_share: float = 0.0
    """The same as a share of the level, 0 to 1."""

    @property
    def choices(self) -> str:
        """What, and from where to where."""
        bounds = f"from {self.shown(str(self.least))} to {self.shown(str(self.most))}"
        return f"{self.what} with its unit, {bounds}, such as {self.example}"

    def text(self, level: Level) -> str:
        """The level in the unit of readings."""
        count = None if isinstance(level, bool) else self.count(str(level))
        if count is None or not self.least <= count <= self.most:
            raise ValueError(level)
        return self.shown(str(count))

    def same(self, asked: str, seen: str) -> bool:
        """Whether a reading is what was asked for, but for what the hardware cuts off."""
        wanted, found = self.count(asked), self.count(seen)
        if wanted is None or found is None:
            return False
        return wanted * (1.0 - self.cut_share) - self.step <= found <= wanted

    def count(self, text: str) -> int | None:
        """A level or a reading in the kernel's unit; None if it is none of this quantity."""
        match = _NUMBER.fullmatch(text.strip())
        scale = dict(self.units).get(match[2]) if match else None
        return None if match is None or scale is None else int(Decimal(match[1]) * scale)

    def shown(self, value: str) -> str:
        """A number of the kernel in the unit of readings; a text that is no number as it is."""
        if not value.isdigit():
            return value
        unit, scale = self.units[0]
        return f"{(Decimal(value) / scale).normalize():f}{unit}"

    def written(self, text: str) -> str:
        """A checked level as the kernel takes it."""
        return str(self.count(text))
