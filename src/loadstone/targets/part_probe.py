"""The probe of a part of a system, whose series stand below the name of the part."""

from __future__ import annotations

from dataclasses import replace

from loadstone.probes.base import Probe
from loadstone.results.record import Notice, Wait
from loadstone.results.sample import Sample
from loadstone.results.usage import ResourceUse


class PartProbe(Probe):
    """A probe with the name of a part before its own, and before each metric."""

    def __init__(self, part: str, probe: Probe) -> None:
        self._part = part
        self._probe = probe
        self.part = f"{part}.{probe.part}".rstrip(".")
        self.name = f"{part}.{probe.name}"
        self.interval_s = probe.interval_s

    def start(self) -> None:
        """Starts the probe."""
        self._probe.start()

    def sample(self, t_s: float) -> list[Sample]:
        """What it reads, with the name of the part."""
        return [
            replace(each, probe=self.name, metric=f"{self._part}.{each.metric}")
            for each in self._probe.sample(t_s)
        ]

    def stop(self) -> None:
        """Stops the probe."""
        self._probe.stop()

    def waits(self, from_s: float, to_s: float) -> list[Wait]:
        """Those of the probe, with the name of the part."""
        return [
            wait.model_copy(update={"part": f"{self._part}.{wait.part}".rstrip(".")})
            for wait in self._probe.waits(from_s, to_s)
        ]

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """Those of the probe, with the name of the part."""
        return [
            use.model_copy(update={"part": f"{self._part}.{use.part}".rstrip(".")})
            for use in self._probe.uses(from_s, to_s)
        ]

    def notices(self) -> list[Notice]:
        """Those of the probe, with the name of the part."""
        inner = f"{self._probe.part}: "
        return [
            notice.model_copy(
                update={"message": f"{self.part}: {notice.message.removeprefix(inner)}"}
            )
            for notice in self._probe.notices()
        ]
