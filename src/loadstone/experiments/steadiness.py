"""Whether what was measured was the steady state of all users: who was there, and what drifted."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from loadstone.load.totals import MEASURE, LoadLog
from loadstone.protocol.frames import Tick
from loadstone.results.latency import merge, summarize_latency
from loadstone.results.record import Notice
from loadstone.results.statistics.steady import FEWEST_TICKS, steady_state

WORKING = "users_working"
"""The gauge of users who have logged in and made a transaction."""
MOST_DRIFT_PERCENT = 5.0
"""Of response times, over a measured phase."""
_MOST_PARTS = 60
"""A phase is looked at in so many parts at most: few operations of a second say little."""


def absent_users(log: LoadLog) -> list[Notice]:
    """That users had yet to log in, or to make their first transaction, when measuring began."""
    before = _ticks_before(log)
    if not any(WORKING in tick.gauges for tick in log.ticks):
        return []
    measured = next((tick for tick in log.ticks if tick.phase_kind == MEASURE), None)
    if measured is None or not measured.users:
        return []
    working = before[-1].gauges.get(WORKING, 0.0) if before else 0.0
    missing = measured.users - int(working)
    if missing <= 0:
        return []
    return [
        Notice(
            code="users-absent",
            severity="warning",
            message=f"{missing:,} of {measured.users:,} users had not logged in and made a "
            "transaction when the measured phase began: what was measured is not the steady state "
            "of all",
            advice="look at the errors of the log-in; if there are none, give a warm-up, and more "
            "time to gather (profile: gather)",
        )
    ]


def _ticks_before(log: LoadLog) -> list[Tick]:
    """Those before the first measured phase, in order."""
    found = []
    for tick in log.ticks:
        if tick.phase_kind == MEASURE:
            break
        if not tick.late:
            found.append(tick)
    return found


def response_drift(ticks: Sequence[Tick], judged: Collection[str], begin: str = "") -> list[Notice]:
    """That response times drifted: users who think hide it from the throughput.

    Args:
        ticks: Of one measured phase, in order, a second each.
        judged: Operations that it is about; none: all.
        begin: Of the message.
    """
    found = _of_usual(ticks, judged)
    if len(found) < FEWEST_TICKS:
        return []
    steady = steady_state(found, 1.0, limit_percent=MOST_DRIFT_PERCENT)
    if steady.steady is not False:
        return []
    return [
        Notice(
            code="response-drifts",
            severity="warning",
            message=f"{begin}response times were not steady while they were measured: against the "
            f"mean of each operation they move {steady.change_percent:+.1f} % over the phase (p "
            f"{steady.trend_p:.2g}){steady.warm_up.said('first')}{steady.decline.said('last')}",
            advice="measure longer than what makes them move; what grows, or fills, while load "
            "runs is a finding of its own",
        )
    ]


def _of_usual(ticks: Sequence[Tick], judged: Collection[str]) -> list[float]:
    """How long operations took in equal parts of a phase, of what such operations take on average.

    What is done more often in one part than in another makes no difference. Parts without any
    operation are left out.
    """
    whole = [tick for tick in ticks if not tick.late]
    means_s = {name: mean_s for name, (_, mean_s) in _taken(whole, judged).items()}
    size = max(1, -(-len(whole) // _MOST_PARTS))
    found = []
    for begin in range(0, len(whole) - size + 1, size):
        taken = _taken(whole[begin : begin + size], judged)
        expected_s = sum(count * means_s[name] for name, (count, _) in taken.items())
        if expected_s > 0:
            found.append(sum(count * mean_s for count, mean_s in taken.values()) / expected_s)
    return found


def _taken(ticks: Sequence[Tick], judged: Collection[str]) -> dict[str, tuple[int, float]]:
    """Operation: how many ended well, and how long they took on average, in seconds."""
    texts: dict[str, list[str]] = {}
    for tick in ticks:
        for name, told in tick.operations.items():
            if told.response and (not judged or name in judged):
                texts.setdefault(name, []).append(told.response)
    summaries = {name: summarize_latency(merge(found)) for name, found in texts.items()}
    return {
        name: (summary.count, summary.mean_s)
        for name, summary in summaries.items()
        if summary is not None
    }
