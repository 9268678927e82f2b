"""What an engine did in the background, from its samples and its log: shared by the targets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from loadstone.probes.marks import Mark, Samples, SampleTable, marks

CHECKPOINT = "checkpoint"
"""Kind of an engine's checkpoints."""

_WAITING = "waiting_sessions:"
_ACTIVE = "active_sessions"
_TOP_WAITS = 4
_NO_WAITS = frozenset({"CPU", "Client", "Active"})
"""Kinds that say that a session runs, or that the client has the turn."""
_FEWEST_WAITING = 2.0


@dataclass(frozen=True)
class ServerLog:
    """The engine's log of a trial, if it was kept.

    Attributes:
        path: None: there is none.
        start_unix_s: Wall clock at the origin of the trial's clock.
    """

    path: Path | None
    start_unix_s: float

    def lines(self, pattern: re.Pattern[str]) -> Iterator[tuple[float, re.Match[str]]]:
        """Lines that a pattern finds, with their time on the trial's clock.

        Args:
            pattern: Its group `at` is the time as `2025-01-31 23:59:59.123`, in UTC.
        """
        if self.path is None or not self.path.is_file():
            return
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if (found := pattern.search(line)) is not None:
                    yield self._trial_s(found["at"]), found

    def _trial_s(self, text: str) -> float:
        moment = datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=UTC)
        return moment.timestamp() - self.start_unix_s


def wait_marks(samples: SampleTable) -> list[Mark]:
    """When more sessions than usual waited for one thing, for the things waited for most.

    Looks in which nobody waited for it leave no sample of it: there the number is 0.
    """
    looks = samples[_ACTIVE]
    if not len(looks):
        return []
    waits = {
        name: series
        for name, series in samples.named(_WAITING).items()
        if name.partition(":")[0] not in _NO_WAITS
    }
    top = sorted(waits, key=lambda name: -float(waits[name].values.sum()))[:_TOP_WAITS]
    return [
        mark
        for name in top
        for mark in marks(f"wait: {name}", _filled(waits[name], looks).unusual(_FEWEST_WAITING))
    ]


def _filled(series: Samples, looks: Samples) -> Samples:
    """The series at every look."""
    values = np.zeros(len(looks))
    at = np.searchsorted(looks.t_s, series.t_s)
    values[np.minimum(at, len(looks) - 1)] = series.values
    return Samples(looks.t_s, values)
