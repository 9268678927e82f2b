"""From a profile to the driver's plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from loadstone.protocol.frames import PROTOCOL_VERSION
from loadstone.spec.profile import MeasuredPhase, ProfileSpec
from loadstone.spec.think_time import think_range
from loadstone.targets.connection import Connection
from loadstone.workloads.base import NO_WAITS, THINK_TIME_CAP, LoadRequest

RETRY = {"max_attempts": 50, "backoff_base_s": 0.001, "backoff_cap_s": 0.1}
"""How the driver repeats serialization failures and deadlocks.

Measured with serializable transactions on PostgreSQL, 4 users on 2 warehouses and 8 users on 1: ten
attempts without pauses leave 2 to 12 % of the operations failed, ten with these pauses up to 0.6 %,
twenty up to 0.07 % (long new-orders that others overtake), fifty at most one in 25,000.
"""
GATHER_S = 600.0
"""So long the last users may take to log in and make a transaction, where nobody says more."""
_NO_PACING: dict[str, Any] = {"default": NO_WAITS}


def run_plan(
    profile: ProfileSpec,
    workload: Mapping[str, Any],
    pacing: Mapping[str, Any],
    connection: Connection,
    seed: int,
    *,
    arriving: Collection[str] = (),
) -> dict[str, Any]:
    """The plan of a trial's load: ramp, warm-up, measure, drain.

    Args:
        profile: How load arrives.
        workload: The plan's `workload` object (`Workload.plan`).
        pacing: Keying and think times of the workload's origin (`Workload.pacing`).
        connection: How the driver reaches the target; its password is not part of the plan.
        seed: Of the load.
        arriving: Operations with which users come, if they log in: what is measured begins when all
            have.
    """
    planted = {"delay_s": profile.delay} if profile.delay else {}
    return {
        **planted,
        "version": PROTOCOL_VERSION,
        "seed": seed,
        "threads": profile.threads,
        "tick_s": 1.0,
        "workload": dict(workload),
        "connection": connection.plan(),
        "retry": RETRY,
        "pacing": _coming(profile, pacing_of(profile, pacing), arriving),
        "phases": phases_of(profile, gathers=bool(arriving)),
    }


def load_plan(
    name: str, request: LoadRequest, connection: Connection, *, threads: int = 1
) -> dict[str, Any]:
    """The plan of a use of the driver during a workload's `build`: work until none is left.

    Args:
        name: Name of the workload.
        request: What the workload asks for.
        connection: How the driver reaches the target.
        threads: Worker threads of the driver.
    """
    load = _closed(request.sessions, request.sessions)
    return {
        "version": PROTOCOL_VERSION,
        "seed": request.seed,
        "threads": min(threads, request.sessions),
        "tick_s": 1.0,
        "workload": {"name": name, "role": request.role, "parameters": request.parameters},
        "connection": connection.plan(),
        "retry": RETRY,
        "pacing": _NO_PACING,
        "phases": [{"name": request.role, "kind": "prepare", "load": load}],
    }


def phases_of(profile: ProfileSpec, *, gathers: bool = False) -> list[dict[str, Any]]:
    """The plan's phases. The ramp comes first, so that the warm-up ends at the measured load.

    In the last, if there is one, the users leave that the last measured phase had.

    Args:
        profile: How load arrives.
        gathers: What comes before the first measured phase lasts until all users have logged in and
            made a transaction, as the profile says.
    """
    leaving = round(profile.users * profile.measured[-1].share)
    phases = [
        ("ramp", "ramp", profile.ramp_s, _load(profile, rising=True)),
        ("warm-up", "warm-up", profile.warm_up, _load(profile)),
        *(stretch for each in profile.measured for stretch in _stretches(profile, each)),
        ("drain", "drain", profile.drain if leaving else 0.0, _closed(leaving, 0)),
    ]
    found = [
        {
            "name": name,
            "kind": kind,
            "duration_s": duration_s,
            "backlog": profile.backlog,
            "load": load,
        }
        for name, kind, duration_s, load in phases
        if duration_s > 0
    ]
    first = next(place for place, each in enumerate(found) if each["kind"] == "measure")
    gather_s = GATHER_S if profile.gather is None else profile.gather
    if gathers and profile.load == "closed" and first > 0 and gather_s > 0:
        found[first - 1]["gather_s"] = gather_s
    return found


def pacing_of(profile: ProfileSpec, specified: Mapping[str, Any]) -> dict[str, Any]:
    """The plan's `pacing`: none, the workload's own, or a think time of the profile's."""
    if profile.think_time == "none" or profile.load == "open":
        return _NO_PACING
    if profile.think_time == "specified":
        return dict(specified)
    if profile.think_time == 0:
        return _NO_PACING
    if isinstance(profile.think_time, str):
        from_s, to_s = think_range(profile.think_time)
        think: dict[str, Any] = {"distribution": "uniform", "from_s": from_s, "to_s": to_s}
    else:
        think = {
            "distribution": "negative-exponential",
            "mean_s": profile.think_time,
            "cap": THINK_TIME_CAP,
        }
    return {"default": {"keying_s": 0.0, "think": think}}


def _coming(
    profile: ProfileSpec, pacing: Mapping[str, Any], arriving: Collection[str]
) -> dict[str, Any]:
    """The waits of users who come by a ramp: they log in when they come, not after a think time."""
    if not profile.ramp_s or profile.load == "open":
        return dict(pacing)
    operations = dict(pacing.get("operations", {}))
    for name in arriving:
        operations[name] = {**operations.get(name, pacing["default"]), "begins_at_once": True}
    return {**pacing, "operations": operations}


def _stretches(
    profile: ProfileSpec, phase: MeasuredPhase
) -> Iterator[tuple[str, str, float, dict[str, Any]]]:
    """A measured phase with what lies around it: name, kind, seconds and load of each stretch."""
    load = _load(profile, phase.share)
    (delay, delay_s), (ramp, ramp_s), (ramp_down, ramp_down_s) = phase.around.items()
    yield delay, "ramp", delay_s, _load(profile, 0.0)
    yield ramp, "ramp", ramp_s, load
    yield phase.name, "measure", phase.measure or profile.measure, load
    yield ramp_down, "ramp", ramp_down_s, load


def _load(profile: ProfileSpec, share: float = 1.0, *, rising: bool = False) -> dict[str, Any]:
    if profile.load == "closed" or profile.rate_per_s is None:
        users = round(profile.users * share)
        return _closed(1 if rising else users, users)
    rate = profile.rate_per_s * share
    low = min(1.0, rate)
    return {
        "model": "open",
        "rate_per_s": {"from": low if rising else rate, "to": rate},
        "arrival": profile.arrival,
        "sessions": profile.sessions,
        "queue": profile.queue,
    }


def _closed(begin: int, end: int) -> dict[str, Any]:
    return {"model": "closed", "users": {"from": begin, "to": end}}
