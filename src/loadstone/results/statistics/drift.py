"""Did the machine itself move? The calibrated probe before and after each trial says so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from statistics import median
from sys import float_info


@dataclass(frozen=True, slots=True)
class ProbeShift:
    """One figure of the machine probe around one trial.

    Attributes:
        name: What was probed, e.g. ``cpu``, ``memory``, ``disk``.
        before_percent: Deviation from the usual figure before the trial.
        after_percent: The same after it.
        limit_percent: The deviation from which the trial counts as disturbed.
        disturbed: Either deviation is beyond the limit.
    """

    name: str
    before_percent: float
    after_percent: float
    limit_percent: float
    disturbed: bool


@dataclass(frozen=True, slots=True)
class Drift:
    """How the machine stood around one trial.

    Attributes:
        shifts: One for each figure, by name.
        disturbed: Any figure was beyond its limit: the trial is kept, marked and repeated.
        worst_percent: The largest deviation of all, signed.
    """

    shifts: tuple[ProbeShift, ...]
    disturbed: bool
    worst_percent: float


def usual(probes: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Give the median of each figure over all probes of an experiment.

    Args:
        probes: The figures of every probe, before and after every trial; a figure may be missing.
    """
    names = sorted({name for probe in probes for name in probe})
    return {name: median(probe[name] for probe in probes if name in probe) for name in names}


def drift(
    before: Mapping[str, float],
    after: Mapping[str, float],
    usual_figures: Mapping[str, float],
    limit_percent: float | Mapping[str, float] = 5.0,
) -> Drift:
    """Compare the probes around a trial with what is usual in the experiment.

    Args:
        before: Figures of the probe before the trial, by name, any unit.
        after: Figures of the probe after it.
        usual_figures: The experiment's medians (see `usual`), same names and units, above 0.
        limit_percent: The deviation that disturbs a trial, for all figures or by name. Disks need
            more room than processors.

    Returns:
        The deviations. A figure that was probed only once counts with that one.

    Raises:
        ValueError: A figure is not finite and above 0, has no usual value above 0, or no limit.
    """
    for name, figure in [*before.items(), *after.items()]:
        if not (isfinite(figure) and figure > 0.0):
            raise ValueError(f"probe {name!r} needs figures above 0, got {figure}")
    shifts = []
    for name in sorted(before.keys() | after.keys()):
        centre = usual_figures.get(name, 0.0)
        limit = limit_percent.get(name) if isinstance(limit_percent, Mapping) else limit_percent
        if not (isfinite(centre) and centre > 0.0) or limit is None or isnan(limit):
            raise ValueError(f"probe {name!r} needs a usual figure above 0 and a limit")
        first = _percent(before.get(name, after.get(name, centre)), centre)
        second = _percent(after.get(name, before.get(name, centre)), centre)
        beyond = max(abs(first), abs(second)) > limit
        shifts.append(ProbeShift(name, first, second, limit, beyond))
    deviations = [value for s in shifts for value in (s.before_percent, s.after_percent)]
    return Drift(
        shifts=tuple(shifts),
        disturbed=any(shift.disturbed for shift in shifts),
        worst_percent=max(deviations, key=abs, default=0.0),
    )


def _percent(figure: float, centre: float) -> float:
    return max(-100.0, min(100.0 * (figure / centre - 1.0), float_info.max))
