"""How far the parts of a system used the processors that they may have, or can use at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from loadstone.probes.part_quotas import PartQuota
from loadstone.results import limits
from loadstone.results.usage import ResourceUse

USED_UP_SHARE = 0.5
"""A quota that is used up for so much of the time holds up most of what is asked, even where its
average is not full: load comes in bursts."""

MostProcessors = Callable[[], Mapping[str, float]]
"""Gives by part how many processors its processes can use at most, where that is bounded."""
QuotaOver = Callable[[str, float, float], PartQuota | None]
"""Part, begin and end of an interval."""


@dataclass(frozen=True)
class CpuReading:
    """Seconds that each part has used until a time of the trial's clock."""

    t_s: float
    cpu_s: Mapping[str, float]


def processor_uses(
    readings: Sequence[CpuReading], quota: QuotaOver, most: Mapping[str, float]
) -> list[ResourceUse]:
    """Of each part that is bounded; a member of one only where it is full and the others are not.

    Args:
        readings: Of an interval, in order.
        quota: How a part used its quota.
        most: By part, processors that its processes can use at a time.
    """
    if len(readings) < 2:
        return []
    begin, end = readings[0], readings[-1]
    found: dict[str, ResourceUse] = {}
    for part, used_s in end.cpu_s.items():
        processors = (used_s - begin.cpu_s.get(part, 0.0)) / (end.t_s - begin.t_s)
        use = _use(part, processors, quota(part, begin.t_s, end.t_s), most.get(part))
        if use is not None:
            found[part] = use
    return [use for part, use in found.items() if _is_told(part, use, found)]


def _use(
    part: str, processors: float, quota: PartQuota | None, most: float | None
) -> ResourceUse | None:
    """By the tighter of the two bounds; None where there is none."""
    if quota is not None and (most is None or quota.cpus <= most):
        evidence = (
            f"{processors:.2f} of {quota.cpus:.2f} processors of its quota were used, and it stood "
            f"still for want of them in {quota.throttled_percent:.0f} % of the time"
        )
        used = processors / quota.cpus
        full = used >= _enough() or quota.throttled_percent >= 100.0 * USED_UP_SHARE
        return limits.use_of(limits.PART_PROCESSORS, used, evidence, part, full=full)
    if most is None:
        return None
    plural = "" if most == 1 else "s"
    evidence = (
        f"{processors:.2f} of the {most:g} processor{plural} that its processes can use were used"
    )
    return limits.use_of(limits.PART_PROCESSORS, processors / most, evidence, part)


def _enough() -> float:
    return limits.RESOURCES[limits.PART_PROCESSORS].enough


def _is_told(part: str, use: ResourceUse, found: Mapping[str, ResourceUse]) -> bool:
    whole = found.get(part.rpartition(".")[0])
    return whole is None or (use.full and not whole.full)
