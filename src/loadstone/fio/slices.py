"""A pass cut into seconds, by fio's histogram logs.

The logs hold whole seconds only: what fio's totals have beyond them is the rest of the pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from loadstone.fio.bins import Bins, value_ns
from loadstone.fio.figures import DIRECTIONS, Direction, JobFigures, stages

_SHORTEST_S = 0.1
"""A rest shorter than this belongs to the second before it."""


@dataclass
class Slice:
    """A part of a pass.

    Attributes:
        from_s: Since the begin of the pass.
        to_s: Likewise.
        bins: Of each operation.
        bytes: Moved, by direction.
    """

    from_s: float
    to_s: float
    bins: dict[str, Bins] = field(default_factory=dict)
    bytes: Counter[str] = field(default_factory=Counter)

    def add(self, operation: str, direction: str, bins: Bins, count: int) -> None:
        """Adds requests of an operation, with the bytes that they moved."""
        self.bins.setdefault(operation, Bins()).update(bins)
        self.bytes[direction] += count


def slices(
    jobs: Sequence[JobFigures],
    operations: Sequence[str],
    logs: Sequence[Path],
    duration_s: float,
) -> list[Slice]:
    """The seconds of a pass; one for all of it if fio's logs do not say more.

    Args:
        jobs: As fio has them.
        operations: Of each of them.
        logs: Of each thread; they fit the jobs if fio did not merge any.
        duration_s: Of the pass.
    """
    seconds = [_seconds(each) for each in logs] if len(logs) == len(jobs) else [{} for _ in jobs]
    count = min((len(each) for each in seconds), default=0)
    if len(stages(jobs)) > 1 or any(
        not _fits(job, each) for job, each in zip(jobs, seconds, strict=True)
    ):
        count = 0
    count = min(count, int(duration_s))
    if count and duration_s - count < _SHORTEST_S:
        count -= 1
    borders = [*(float(second) for second in range(count + 1)), duration_s]
    found = [Slice(*ends) for ends in pairwise(borders)]
    for job, operation, history in zip(jobs, operations, seconds, strict=True):
        for direction in DIRECTIONS:
            if direction in job.directions:
                _cut(found, operation, direction, job.directions[direction], history)
    return found


def _cut(
    found: Sequence[Slice],
    operation: str,
    direction: str,
    total: Direction,
    history: Mapping[int, Mapping[str, Bins]],
) -> None:
    """Gives each slice its part of a job, and the last one what is left."""
    if not total.ios:
        return
    left, bytes_left = Bins(total.bins), total.bytes
    for number, part in enumerate(found[:-1]):
        bins = history[number].get(direction, Bins())
        moved = total.bytes * sum(bins.values()) // total.ios
        part.add(operation, direction, bins, moved)
        left.subtract(bins)
        bytes_left -= moved
    found[-1].add(operation, direction, +left, bytes_left)


def _fits(job: JobFigures, history: Mapping[int, Mapping[str, Bins]]) -> bool:
    """Whether the logged seconds are a part of the totals."""
    for direction, total in job.directions.items():
        left = Bins(total.bins)
        for second in history.values():
            left.subtract(second.get(direction, Bins()))
        if any(count < 0 for count in left.values()):
            return False
    return set(history) == set(range(len(history)))


def _seconds(log: Path) -> dict[int, dict[str, Bins]]:
    """By second, from 0, and direction. A line: milliseconds, direction, block, then each bin."""
    found: dict[int, dict[str, Bins]] = {}
    if not log.is_file():
        return found
    for line in log.read_text().splitlines():
        fields = [int(each) for each in line.split(",")]
        second, direction = round(fields[0] / 1000) - 1, fields[1]
        if direction < len(DIRECTIONS):
            bins = Bins({value_ns(n): count for n, count in enumerate(fields[3:]) if count})
            found.setdefault(second, {})[DIRECTIONS[direction]] = bins
    return found
