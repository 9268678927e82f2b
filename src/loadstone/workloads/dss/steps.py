"""The two runs of decision support, as their steps went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.protocol.steps import StepRun
from loadstone.workloads.dss import refresh
from loadstone.workloads.dss.queries import NUMBERS, operation
from loadstone.workloads.dss.rounds import POWER, REFRESH, VALIDATION_STREAM


@dataclass(frozen=True)
class PowerRun:
    """The stream that runs alone; only steps that ended well."""

    queries_s: dict[str, float]
    refreshes_s: dict[str, float]

    @classmethod
    def of(cls, steps: Sequence[StepRun]) -> PowerRun:
        """The power run among all steps."""
        own = [step for step in steps if step.stream == POWER and step.ended_well]
        queries = {step.operation: step.seconds for step in own if step.kind == "query"}
        refreshes = {step.operation: step.seconds for step in own if step.kind == "change"}
        return cls(
            {name: queries[name] for name in map(operation, NUMBERS) if name in queries},
            {n: refreshes[n] for n in (refresh.INSERT, refresh.DELETE) if n in refreshes},
        )

    @property
    def is_whole(self) -> bool:
        """Whether all 22 queries ended well."""
        return len(self.queries_s) == len(NUMBERS)


@dataclass(frozen=True)
class ThroughputRun:
    """The streams that run at the same time."""

    steps: tuple[StepRun, ...]

    @classmethod
    def of(cls, steps: Sequence[StepRun]) -> ThroughputRun:
        """The throughput run among all steps."""
        apart = {POWER, VALIDATION_STREAM}
        return cls(tuple(step for step in steps if step.stream not in apart))

    @property
    def streams(self) -> int:
        """Query streams of which every query ended well."""
        well: dict[str, int] = {}
        for step in self.steps:
            if step.stream != REFRESH:
                well[step.stream] = well.get(step.stream, 0) + step.ended_well
        return sum(count == len(NUMBERS) for count in well.values())

    @property
    def refreshes(self) -> int:
        """Refresh functions that ended well beside the streams."""
        return sum(step.ended_well for step in self.steps if step.stream == REFRESH)

    @property
    def elapsed_s(self) -> float:
        """From the first query's begin to the end of the last query or refresh."""
        if not self.steps:
            return 0.0
        queries = [step.from_s for step in self.steps if step.stream != REFRESH]
        return max(step.to_s for step in self.steps) - min(queries or [self.steps[0].from_s])
