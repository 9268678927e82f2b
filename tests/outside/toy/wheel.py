"""A wheel that turns as fast as a stated power would drive it: a meter that needs no machine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from loadstone.journal import Journal
from loadstone.meters.base import Channel, Found
from loadstone.meters.polled import PolledMeter, Value
from loadstone.spec.meters import OutsideMeterSpec


class Wheel(PolledMeter[OutsideMeterSpec]):
    """Counts joules by the clock."""

    kind = "toy-wheel"

    @classmethod
    def found(cls, root: Path) -> list[Found]:
        """Every machine has one."""
        return [Found(cls.kind, "wheel", "board", "turns by itself")]

    def prepare(self, journal: Journal) -> Sequence[Channel]:
        """There is one wheel."""
        return [Channel("wheel", self.spec.scope or "board", "counter")]

    def ask(self) -> Sequence[Value]:
        """Looks at it."""
        return [Value("wheel", float(self.spec.parameters["watts"]) * time.monotonic())]

    def close(self) -> None:
        """It turns on."""
