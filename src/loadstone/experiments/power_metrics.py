"""Figures of a trial that has a power meter: watts, and what was done for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from loadstone.experiments.outcome import ProbeFindings, TrialOutcome
from loadstone.results.power import PowerRecord
from loadstone.results.record import MetricValue
from loadstone.spec.profile import ProfileSpec
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.measured import Measured

WATTS = "watts"
PER_OPERATION = "joules_per_operation"
PER_WATT = "operations_per_s_per_watt"
USERS_PER_WATT = "users_per_watt"
POWER_METRICS = (WATTS, PER_OPERATION, PER_WATT, USERS_PER_WATT)
"""Names of the figures of any trial whose meter gave watts."""

_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}
_RATE = re.compile(r"(?P<what>[^/]+)/(?P<time>s|min|h)")


@dataclass(frozen=True)
class Powered:
    """A stretch of measured load, and what the experiment's meter said of it."""

    measured: Measured
    power: PowerRecord


class _Rate(NamedTuple):
    """A headline that is a rate."""

    what: str
    per_s: float


def metric_names(workload: type[AnyWorkload]) -> list[str]:
    """All figures that trials of a workload have if there is a meter."""
    return [*POWER_METRICS, *map(_per, workload.energy_units)]


def power_of_trial(
    outcome: TrialOutcome,
    measured: Measured,
    phases: Sequence[Measured],
    found: Sequence[MetricValue],
) -> list[MetricValue]:
    """The figures of `power_metrics` of a trial that has ended; none without a meter.

    Args:
        outcome: Of the trial.
        measured: All of its measured load, or one measured phase.
        phases: What that is made of.
        found: The workload's figures of it.
    """
    watched = outcome.load.watched
    own = watched.power_of(measured.phase).main
    parts = [(each, watched.power_of(each.phase).main) for each in phases]
    if own is None:
        return []
    known = [Powered(each, power) for each, power in parts if power is not None]
    users = closed_users(outcome.workload, outcome.plan.profile, measured.phase)
    values = power_metrics(outcome.workload, Powered(measured, own), known, found, users)
    return values if measured.phase is not None else [*values, *_of_spans(watched)]


def _of_spans(watched: ProbeFindings) -> list[MetricValue]:
    """Energy for each of what has stretches of its own: cycles."""
    return [
        _value(
            _per(unit),
            power.joules / watched.spans[unit],
            "J",
            f"energy for each {unit}",
            power.mark,
            higher=False,
        )
        for unit, power in watched.energy.items()
        if power.joules is not None
    ]


def closed_users(workload: AnyWorkload, profile: ProfileSpec, phase: str | None) -> int | None:
    """Users of a measured phase, or of the only one; None where nobody chose them.

    Args:
        workload: Of the trial.
        profile: Of its plan.
        phase: Name of the phase; None: all of them.
    """
    profile = workload.loaded(profile)
    chosen = [each for each in profile.measured if phase in (None, each.name)]
    if profile.load != "closed" or workload.is_stepwise or "users" in workload.decides:
        return None
    return round(profile.users * chosen[0].share) if len(chosen) == 1 else None


def power_metrics(
    workload: AnyWorkload,
    whole: Powered,
    phases: Sequence[Powered],
    found: Sequence[MetricValue],
    users: int | None,
) -> list[MetricValue]:
    """Watts, energy for each operation, rate and users for each watt.

    A stretch without watts has none of them. Energy for a thing of the workload's own (a query, a
    cycle) is that of the phases in which there were any.

    Args:
        workload: Of the trial.
        whole: All of its measured load, or one measured phase.
        phases: What that is made of.
        found: The workload's figures of it, its headline among them.
        users: Closed users of it; None where there are none.
    """
    watts = whole.power.watts
    if watts is None or watts <= 0:
        return []
    mark = whole.power.mark
    values = [_value(WATTS, watts, "W", f"power, {whole.power.scope}", mark, higher=False)]
    rate = _rate(workload, found)
    if rate is not None and rate.per_s > 0:
        label = f"{rate.what} a second for each watt"
        values += [
            _value(PER_OPERATION, watts / rate.per_s, "J", _energy(rate.what), mark, higher=False),
            _value(PER_WATT, rate.per_s / watts, f"{rate.what}/s per W", label, mark, higher=True),
        ]
    elif rate is None:
        values += _energy_of_each(phases, mark)
    if users:
        values.append(
            _value(USERS_PER_WATT, users / watts, "users/W", "users per watt", mark, higher=True)
        )
    return values + _own_units(workload, phases, mark)


def _rate(workload: AnyWorkload, found: Sequence[MetricValue]) -> _Rate | None:
    """The workload's own headline, if it counts something over time."""
    name = workload.judged_metric()
    headline = next((each for each in found if each.name == name), None)
    match = _RATE.fullmatch(headline.unit) if headline is not None else None
    if headline is None or match is None:
        return None
    return _Rate(match["what"], headline.value / _SECONDS[match["time"]])


def _energy_of_each(phases: Sequence[Powered], mark: str) -> list[MetricValue]:
    """Of the operations that ended well, whatever they are: steps of a cycle, queries."""
    count = sum(sum(each.measured.operations.values()) for each in phases)
    joules = _joules(phases)
    if not count or joules is None:
        return []
    return [_value(PER_OPERATION, joules / count, "J", _energy("operations"), mark, higher=False)]


def _own_units(workload: AnyWorkload, phases: Sequence[Powered], mark: str) -> list[MetricValue]:
    made = [(each, workload.energy_per(each.measured)) for each in phases]
    found = []
    for unit in workload.energy_units:
        with_some = [(each, counts[unit]) for each, counts in made if counts.get(unit)]
        joules = _joules([each for each, _ in with_some])
        if joules is not None and with_some:
            each_j = joules / sum(count for _, count in with_some)
            found.append(
                _value(_per(unit), each_j, "J", f"energy for each {unit}", mark, higher=False)
            )
    return found


def _joules(phases: Sequence[Powered]) -> float | None:
    """Of all of them; None if one has no figure."""
    known = [each.power.joules for each in phases if each.power.joules is not None]
    return sum(known) if len(known) == len(phases) else None


def _per(unit: str) -> str:
    return f"joules_per_{unit}"


def _energy(what: str) -> str:
    return f"energy for each of the {what}"


def _value(
    name: str, value: float, unit: str, label: str, mark: str, *, higher: bool
) -> MetricValue:
    return MetricValue(
        name=name, value=value, unit=unit, higher_is_better=higher, label=label, mark=mark
    )
