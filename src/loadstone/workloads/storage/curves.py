"""Queue-depth curves: a test at rising depths, throughput against latency, and the knee."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from loadstone.errors import WrongInputError
from loadstone.results.record import Notice
from loadstone.spec.problems import near
from loadstone.workloads.storage.metrics import PassFigures
from loadstone.workloads.storage.tests import StorageTest, single

MOST_DEPTH = 4096
_MOST_DEPTHS = 64
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


def depths_of(text: str) -> tuple[int, ...]:
    """Reads depths: `1..64` doubles from the first to the last, `1,3,9` names each.

    Raises:
        WrongInputError: If they are none, or do not rise.
    """
    plain = text.replace(" ", "")
    bounds = _RANGE.fullmatch(plain)
    if bounds:
        depths = _doubled(int(bounds[1]), int(bounds[2]))
    elif re.fullmatch(r"\d+(,\d+)*", plain):
        depths = tuple(int(each) for each in plain.split(","))
    else:
        depths = ()
    rising = all(low < high for low, high in pairwise(depths))
    if not depths or not rising or not 1 <= depths[0] <= depths[-1] <= MOST_DEPTH:
        raise WrongInputError(
            f"depths: {text!r} are no rising queue depths between 1 and {MOST_DEPTH}",
            advice="write for example 1..64, which doubles, or 1,4,16",
        )
    if len(depths) > _MOST_DEPTHS:
        raise WrongInputError(f"depths: {len(depths)} are more than {_MOST_DEPTHS}")
    return depths


def _doubled(first: int, last: int) -> tuple[int, ...]:
    if not 0 < first < last:
        return ()
    depths = [first]
    while 2 * depths[-1] < last:
        depths.append(2 * depths[-1])
    return (*depths, last)


def chosen(tests: Sequence[StorageTest], name: str | None) -> tuple[StorageTest, ...]:
    """The tests of a profile, or the one of that name.

    Raises:
        WrongInputError: If there is none.
    """
    if name is None:
        return tuple(tests)
    by_name = {each.name.casefold(): each for each in tests}
    found = by_name.get(name.casefold())
    if found is None:
        raise WrongInputError(
            f"the profile has no test {name!r}; {near(name, [each.name for each in tests])}"
        )
    return (found,)


def at_depths(tests: Sequence[StorageTest], depths: Sequence[int]) -> tuple[StorageTest, ...]:
    """A test at each of the depths, in the place of its own.

    Raises:
        WrongInputError: If there are several tests, or several jobs in it.
    """
    if len(tests) != 1:
        raise WrongInputError(
            f"depths are measured with one test, and the profile has {len(tests)}",
            advice=f"name one: --param test={tests[0].name!r}",
        )
    (test,) = tests
    if len(test.jobs) != 1:
        raise WrongInputError(f"depths: test {test.name!r} has several jobs, each with its own")
    (job,) = test.jobs
    return tuple(
        single(f"{job.label.rpartition(' ')[0]} Q{depth}T{job.threads}", replace(job, depth=depth))
        for depth in depths
    )


@dataclass(frozen=True)
class DepthPoint:
    """A point of a curve.

    Attributes:
        depth: Requests in flight that were asked for.
        ios_per_s: Requests a second that were done.
        latency_s: Mean time of a request.
    """

    depth: int
    ios_per_s: float
    latency_s: float

    @property
    def power(self) -> float:
        """Throughput per latency."""
        return self.ios_per_s / self.latency_s


def curve_of(passes: Mapping[StorageTest, Sequence[PassFigures]]) -> list[DepthPoint]:
    """The measured points, one for each test that has passes.

    The mean time of a request is by Little's law the mean number of requests in flight divided
    by those that are done a second.

    Args:
        passes: Of tests of one job each, in order of rising depth.
    """
    points = []
    for test, made in passes.items():
        if made:
            ios_per_s = fmean(each.figures["ios_per_s"] for each in made)
            in_flight = fmean(each.figures["depth"] for each in made)
            latency_s = in_flight / ios_per_s if ios_per_s else 0.0
            points.append(DepthPoint(test.jobs[0].depth, ios_per_s, latency_s))
    return points


def knee_notice(curve: Sequence[DepthPoint]) -> Notice:
    """Where the knee of a measured curve is, in words."""
    found = knee(curve)
    if found is None:
        said = (
            f"no knee between queue depths {curve[0].depth} and {curve[-1].depth}: throughput "
            "per latency is greatest at the last one, or there are too few points"
        )
    else:
        said = (
            f"knee at queue depth {found.depth}: {found.ios_per_s:,.0f} requests/s of "
            f"{found.latency_s * 1e3:.3g} ms; deeper queues cost more time than they bring "
            "throughput"
        )
    return Notice(code="queue-depth-knee", severity="info", message=said)


def knee(curve: Sequence[DepthPoint]) -> DepthPoint | None:
    """Where a deeper queue begins to cost more time than it brings throughput.

    It is the point of the greatest power, throughput divided by response time: there a line from
    the origin touches the curve of response time over throughput (L. Kleinrock, Power and
    deterministic rules of thumb for probabilistic problems in computer communications, ICC 1979).

    Args:
        curve: Points in order of rising depth.

    Returns:
        None where the curve does not show it: there are fewer than three points, a point without
        requests, or the power still rises at the last one.
    """
    if len(curve) < 3 or any(each.ios_per_s <= 0 or each.latency_s <= 0 for each in curve):
        return None
    best = max(curve, key=lambda each: each.power)
    return None if best is curve[-1] else best
