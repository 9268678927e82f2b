"""Whether the load generator was the bottleneck of a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loadstone.load.totals import LoadLog, LoadTotals
from loadstone.results.generator import GeneratorHealth
from loadstone.results.record import Notice
from loadstone.spec.profile import ProfileSpec
from loadstone.units import format_duration

SATURATED_SHARE = 0.9
"""Of one core per worker thread: above it, waiting for the generator's own CPU is likely."""
BUSY_SHARE = 0.7
LAG_WARNING_S = 0.001
LAG_ERROR_S = 0.005
LAG_SHARE_OF_MEDIAN = 0.1
"""A lag below this share of the median response time does not bend the figures, nor does one below
this share of the limit of a response time bend the verdict about it."""
APART_SHARE = 0.01
"""Of the measured phase, by which several processes may differ in its begin or end."""
ACHIEVED_SHARE = 0.99
"""A rate holds if at least this share of it was achieved."""
_ENDED, _FULL = "the server ended, or cut its sessions", "a disk was full"
BREAKAGES = {
    **dict.fromkeys(("connection", "57P01", "57P02", "57P03"), _ENDED),
    **dict.fromkeys(("53100", "1021", "1114", "sqlite_full"), _FULL),
    "no_inodes": "the file system had no inode left",
    "too_many_links": "a folder could hold no more folders",
    "read_only": "the file system could not be written",
    "file_io": "the disk failed",
}
"""Classes of errors that tell of something that broke, not of what a system sustains."""
BROKEN_SHARE = 0.01
"""More operations that failed so say that it broke."""
OWN_ERRORS = {
    "no_ports": "its host had no port left for another connection",
    "too_many_files": "it could open no more files",
}
"""Classes of errors that are the generator's own: they tell nothing of the system."""
_REMEDIES = {
    "no_ports": "let the load come from more source addresses, or use fewer connections",
    "too_many_files": "share the load by more processes (profile: processes), or raise the limit "
    "of open files (ulimit -n)",
}
_OF_THE_GENERATOR = (
    "generator-busy",
    "generator-saturated",
    "schedule-lag",
    "generator-exhausted",
)


def given_up_share(log: LoadLog) -> float:
    """Of the measured operations, those whose end nobody waited for: they take longer than any."""
    measured, given_up = log.measured(), log.given_up
    return given_up / max(1, measured.count + measured.errors + given_up)


def generator_notices(
    health: GeneratorHealth,
    profile: ProfileSpec,
    load: LoadTotals,
    *,
    limit_s: float = 0.0,
    within: bool = False,
) -> list[Notice]:
    """What the generator's own figures say of a trial.

    A notice of severity `error` means that the trial is invalid.

    Args:
        health: The generator over the measured phase.
        profile: The load that was asked for.
        load: The measured phase.
        limit_s: Least response time that matters, where the trial is only to show whether it is
            kept: a lag that is small against it does not matter either.
        within: It lives in the system under test: what makes it late makes the system late.
    """
    found = [
        _planted(profile),
        _exhausted(load),
        _saturation(health, profile),
        _lag_within(health) if within else _lag(health, load, limit_s),
        _apart(health, load),
    ]
    if profile.load == "open":
        found += [_dropped(health, profile, load), _achieved(load)]
    return [notice for notice in found if notice is not None]


def generator_trouble(notices: Sequence[Notice]) -> list[Notice]:
    """Those of the notices that are about the generator itself, not about what it met."""
    return [notice for notice in notices if notice.code in _OF_THE_GENERATOR]


def system_errors(errors: Mapping[str, int]) -> int:
    """Of errors by class, those that the system may have made: not the generator's own."""
    return sum(count for name, count in errors.items() if name not in OWN_ERRORS)


def own_errors(load: LoadTotals) -> int:
    """Operations that failed because the generator had no port or no file left."""
    return load.errors - sum(system_errors(each.errors) for each in load.operations.values())


def achieved_share(load: LoadTotals) -> float | None:
    """Operations that were begun within the phase and ended, of those that were due in it.

    A backlog that is drained after the phase was not served at the offered rate, and does not
    count; one that is discarded never ended.

    Args:
        load: The measured phase.
    """
    return (load.count + load.errors - load.drained) / load.due if load.due else None


def _planted(profile: ProfileSpec) -> Notice | None:
    if not profile.delay:
        return None
    return Notice(
        code="planted-slowdown",
        severity="warning",
        message=f"the load generator held every operation up by {format_duration(profile.delay)} "
        "(profile.delay): the figures are not those of the system alone",
        advice="it shows what an experiment would find; leave it out to measure the system",
    )


def _exhausted(load: LoadTotals) -> Notice | None:
    """A request that failed so fails its operation too: it is counted once."""
    operations = list(load.operations.values())
    requests = [request for each in operations for request in each.requests.values()]
    counts = {
        name: max(
            sum(each.errors.get(name, 0) for each in operations),
            sum(each.errors.get(name, 0) for each in requests),
        )
        for name in OWN_ERRORS
    }
    found = {name: count for name, count in counts.items() if count}
    if not found:
        return None
    seen = ", ".join(
        f"{OWN_ERRORS[name]} ({name}, {count:,} time{'s' if count > 1 else ''})"
        for name, count in found.items()
    )
    return Notice(
        code="generator-exhausted",
        severity="error",
        message=f"the load generator failed, not the target: {seen}",
        advice="; ".join(_REMEDIES[name] for name in found),
    )


def _saturation(health: GeneratorHealth, profile: ProfileSpec) -> Notice | None:
    if health.cpu_share <= BUSY_SHARE:
        return None
    who = "the busiest driver process" if health.processes else "the load generator"
    seen = (
        f"{who} used {health.cpu_share:.0%} of its {profile.threads} worker "
        f"thread{'s' if profile.threads > 1 else ''}"
    )
    advice = (
        "give it a host of its own, or more worker threads (profile: threads) if it is the driver"
    )
    if health.cpu_share <= SATURATED_SHARE:
        return Notice(code="generator-busy", severity="warning", message=seen, advice=advice)
    return Notice(
        code="generator-saturated",
        severity="error",
        message=f"{seen}: it, and not the target, may have been the bottleneck",
        advice=advice,
    )


def _lag(health: GeneratorHealth, load: LoadTotals, limit_s: float) -> Notice | None:
    if health.lag_p99_s is None:
        return None
    response = load.response()
    bearable_s = LAG_SHARE_OF_MEDIAN * max(response.p50_s if response else 0.0, limit_s)
    if health.lag_p99_s <= max(LAG_WARNING_S, bearable_s):
        return None
    invalid = health.lag_p99_s > max(LAG_ERROR_S, bearable_s)
    median = f", the median response took {response.p50_s * 1e3:.3g} ms" if response else ""
    return Notice(
        code="schedule-lag",
        severity="error" if invalid else "warning",
        message="the load generator began 1 % of the operations more than "
        f"{health.lag_p99_s * 1e3:.3g} ms late, although a session was free{median}",
        advice="its host had no CPU to spare: give it a host of its own, or, if it is the driver, "
        "more worker threads",
    )


def _lag_within(health: GeneratorHealth) -> Notice | None:
    """The system itself was late, by a pause or for want of a processor: it is a finding."""
    if health.lag_p99_s is None or health.lag_p99_s <= LAG_ERROR_S:
        return None
    return Notice(
        code="system-late",
        severity="info",
        message="1 % of the operations were begun more than "
        f"{health.lag_p99_s * 1e3:.3g} ms after they were due, although a worker was free: the "
        "system stood still, or had no processor",
        advice="response times count it; look at its pauses, and at what else the machine did",
    )


def _apart(health: GeneratorHealth, load: LoadTotals) -> Notice | None:
    """Processes that work off a backlog begin the next phase when they are done."""
    if health.apart_s <= APART_SHARE * load.duration_s:
        return None
    return Notice(
        code="processes-apart",
        severity="warning",
        message=f"the {len(health.processes)} driver processes began or ended the measured phase "
        f"{health.apart_s:.2g} s apart",
        advice="a backlog was worked off before: lower the rate, or write backlog: discard",
    )


def _dropped(health: GeneratorHealth, profile: ProfileSpec, load: LoadTotals) -> Notice | None:
    if health.dropped == 0:
        return None
    return Notice(
        code="arrivals-dropped",
        severity="error",
        message=f"{health.dropped} of {load.due} operations that were due were dropped: "
        f"{profile.queue} waited already for one of {profile.sessions} sessions",
        advice="the target does not hold this rate; lower rate_per_s, or raise sessions if the "
        "target was not busy",
    )


def _achieved(load: LoadTotals) -> Notice | None:
    share = achieved_share(load)
    if share is None or share >= ACHIEVED_SHARE:
        return None
    return Notice(
        code="rate-not-achieved",
        severity="warning",
        message=f"{share:.1%} of the offered rate was achieved "
        f"({load.count + load.errors - load.drained} of {load.due} operations that were due)",
        advice="the target does not hold this rate: lower rate_per_s, or read the figures as "
        "those of an overload",
    )
