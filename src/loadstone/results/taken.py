"""What was taken from the measured time of a trial, by others or by the machine."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from loadstone.results.base import Record

Cause = Literal["processors", "steal", "quota", "disk", "memory", "clock", "suspended"]


class Taken(Record):
    """One cause, with its share of the measured time. None is about the figures of the trial."""

    cause: Cause
    share: float = Field(
        description="Of the measured time, 0 to 1: of all processors for `processors` and `steal`, "
        "of the periods for `quota`, of the time of the device for `disk`, of the time in which "
        "some work waited for `memory`; for `clock` how far it was set, over the measured time."
    )
    evidence: str = Field(description="The figures that say so, as a clause.")


@dataclass(frozen=True)
class Kind:
    """What is known of a cause."""

    limit: float
    """A share above what is usual by more than this marks a trial: docs/method.md says why."""
    name: str
    """As a subject."""
    advice: str


KINDS: Mapping[Cause, Kind] = {
    "processors": Kind(
        0.05,
        "other programs on the processors",
        "end them, or give the trial processors of its own (target: process: cpus, profile: cpus)",
    ),
    "steal": Kind(0.3, "other guests of this host", "use a host of its own"),
    "quota": Kind(
        0.05,
        "the CPU quota of the surrounding control group",
        "raise the quota, or run outside of the group",
    ),
    "disk": Kind(
        0.1,
        "other programs on the disk of the data",
        "end them, or put the data on another disk, or in memory (storage: data: tmpfs)",
    ),
    "memory": Kind(
        0.05, "a want of memory", "give the target less memory, or end what else uses it"
    ),
    "clock": Kind(0.001, "a clock that was set", "let the clock run up to time before (chrony)"),
    "suspended": Kind(0.001, "a machine that slept", "keep the machine from sleeping"),
}


def stolen_by_block(trials: Iterable[tuple[int, Sequence[Taken] | None]]) -> dict[int, float]:
    """Block: the share of the processors that other guests took while it was measured.

    Args:
        trials: Of one level: the block of each, and what was taken from it. Where one of a block is
            not known, the block is left out.
    """
    found: dict[int, list[float]] = {}
    for block, taken in trials:
        shares = [math.nan] if taken is None else [e.share for e in taken if e.cause == "steal"]
        found.setdefault(block, []).extend(shares or [0.0])
    means = {block: math.fsum(shares) / len(shares) for block, shares in found.items()}
    return {block: mean for block, mean in means.items() if math.isfinite(mean)}
