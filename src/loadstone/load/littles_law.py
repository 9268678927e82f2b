"""Little's law, held against every closed load whose think times are known.

A closed user thinks, or waits for an answer: there is nothing else. So users = rate x (think time +
response time) (J. D. C. Little, A Proof for the Queuing Formula L = lambda W, Operations Research
9, 1961). What the load generator counted and timed must say so; where it does not, the figures are
of another load than the one that was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.load.moments import Moments, mixed, moments_of, moments_of_wait
from loadstone.load.profiles import pacing_of
from loadstone.load.totals import LoadTotals
from loadstone.protocol.frames import Tick
from loadstone.results.latency import merge
from loadstone.results.record import Notice
from loadstone.spec.profile import ProfileSpec

TOLERANCE = 0.02
"""Beyond what chance explains."""
_SIGMAS = 3.0
"""Standard deviations that chance explains."""
_MOST_FAILED = 0.01
"""The response times of operations that failed are not known: with a larger share nothing is."""
_MOST_UNCERTAIN = 0.5
"""A count so small says nothing of the law."""


@dataclass(frozen=True)
class LittlesLaw:
    """Both sides of the law for an interval of load."""

    users: float
    """That took part, on average over its time."""
    rate_per_s: float
    """Operations that were due in it, failed ones too."""
    think_s: float
    """Mean of what a user waits by plan from one operation to the next, keying included."""
    response_s: float
    """Mean, from when an operation was due."""
    tolerance: float
    """Share of the users by which the sides may differ."""
    users_changed: bool
    """Their number was not the same all the time."""

    @property
    def busy(self) -> float:
        """The users that rate, think and response time account for."""
        return self.rate_per_s * (self.think_s + self.response_s)

    @property
    def holds(self) -> bool:
        """Whether the sides differ by no more than chance, and a little."""
        return abs(self.busy - self.users) <= self.tolerance * self.users


def littles_law(
    profile: ProfileSpec,
    specified: Mapping[str, Any],
    load: LoadTotals,
    ticks: Sequence[Tick],
    hurried: Collection[str] = (),
) -> LittlesLaw | None:
    """Both sides of the law; None where it cannot be judged.

    Over an interval the cycles (think and response) of a user that end in it are as long as the
    interval, but for the two that its ends cut. So what n operations account for differs from the
    time of N users by n think times that were drawn, whose mean is not quite the planned one, and
    by 2 N ages of cycles. `tolerance` is three standard deviations of that, and `TOLERANCE`.

    Args:
        profile: As the workload has loaded it.
        specified: The waits of the workload's origin (`Workload.pacing`).
        load: The measured load.
        ticks: Of the measured load.
        hurried: Operations that are followed at once when they end well (`Workload.hurried`).
    """
    timed = [tick for tick in ticks if not tick.late]
    during_s = math.fsum(tick.duration_s for tick in timed)
    count = load.count + load.errors
    if profile.load != "closed" or during_s <= 0 or not load.count:
        return None
    users_s = math.fsum(tick.users * tick.duration_s for tick in timed)
    think = _think(pacing_of(profile, specified), load, hurried)
    if users_s <= 0 or think is None or load.errors > _MOST_FAILED * count:
        return None
    texts = [text for each in load.operations.values() for text in each.response]
    response = moments_of(merge(texts))
    edges_s2 = 2 * users_s / during_s * think.plus(response).age_variance_s2
    chance_s = _SIGMAS * math.sqrt(count * think.variance_s2 + edges_s2)
    tolerance = TOLERANCE + chance_s / users_s
    if tolerance > _MOST_UNCERTAIN:
        return None
    return LittlesLaw(
        users=users_s / during_s,
        rate_per_s=count / during_s,
        think_s=think.mean_s,
        response_s=response.mean_s,
        tolerance=tolerance,
        users_changed=len({tick.users for tick in timed}) > 1,
    )


def law_notices(
    profile: ProfileSpec,
    specified: Mapping[str, Any],
    load: LoadTotals,
    ticks: Sequence[Tick],
    hurried: Collection[str] = (),
) -> list[Notice]:
    """A warning where Little's law does not hold, with what may be off.

    Args:
        profile: As the workload has loaded it.
        specified: The waits of the workload's origin.
        load: The measured load.
        ticks: Of the measured load.
        hurried: Operations that are followed at once when they end well (`Workload.hurried`).
    """
    law = littles_law(profile, specified, load, ticks, hurried)
    if law is None or law.holds:
        return []
    apart = (law.busy - law.users) / law.users
    return [
        Notice(
            code="littles-law",
            severity="warning",
            message=f"Little's law does not hold: {law.users:,.4g} users took part, and "
            f"{law.rate_per_s:,.4g} operations/s with {law.think_s:.4g} s of thinking and "
            f"{law.response_s:.4g} s of response account for {law.busy:,.4g} of them "
            f"({apart:+.1%}; up to {law.tolerance:.1%} is chance)",
            advice=_what_is_off(law),
        )
    ]


def _what_is_off(law: LittlesLaw) -> str:
    if law.users_changed:
        return "the number of users changed while it was measured: let the ramp end before"
    if law.busy < law.users:
        return (
            "users neither thought nor got an answer: they waited for one that did not come while "
            "it was measured (measure longer), had no connection, had no work left, or the load "
            "generator had no time for them"
        )
    return (
        "more was done than so many users can do: operations of before the measured phase count "
        "in it, or the waits were shorter than planned; lengthen the warm-up"
    )


def _think(pacing: Mapping[str, Any], load: LoadTotals, hurried: Collection[str]) -> Moments | None:
    """The wait between two operations, as often as each was made; None if one is not known."""
    named, parts = pacing.get("operations", {}), list[tuple[Moments, float]]()
    for name, each in load.operations.items():
        is_hurried, failed = name in hurried, sum(each.errors.values())
        at_once = each.count if is_hurried else 0
        waited = each.count + failed - at_once
        wait = moments_of_wait(named.get(name, pacing["default"]))
        if waited and (wait is None or is_hurried):
            return None
        parts += [(Moments(), at_once), (wait or Moments(), waited)]
    return mixed(parts)
