"""Cost and density: what each configuration does for its price, its power and its height.

Measured watts of the experiment's meter come before those that the owner states. Energy of a year
is the mean power over the hours that the system runs; under graduated load it is the mean over the
levels, active idle among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from loadstone.report.figures import values_of
from loadstone.report.held import users_of
from loadstone.report.model.graduated import GraduatedReport, GraduatedVariant
from loadstone.report.model.power import DensityReport, DensityRow
from loadstone.report.model.variants import MetricInfo
from loadstone.report.power import name_of
from loadstone.report.reading import RecordedExperiment, RecordedTrial
from loadstone.results.metrics import mark_of
from loadstone.results.power import main_of
from loadstone.spec.design import ScaleDesign, SearchDesign
from loadstone.spec.model import HOURS_OF_A_YEAR, EnergyPrice

_W_PER_KW = 1000.0


def density_report(
    folder: RecordedExperiment, metrics: Sequence[MetricInfo], graduated: GraduatedReport | None
) -> DensityReport | None:
    """All configurations with a figure, as far as price, power and height are known.

    Args:
        folder: Of the experiment.
        metrics: Of its trials.
        graduated: Its levels, if its load went through levels.

    Returns:
        None where neither is known, and of a search, whose trials are of many loads.
    """
    experiment = folder.experiment
    measured = any(main_of(trial.result.power) for trial in folder.trials if trial.counts)
    if isinstance(experiment.design, SearchDesign) or (
        experiment.price is None and experiment.system is None and not measured
    ):
        return None
    info = _headline(folder, metrics)
    worked = [
        work
        for variant in folder.design.variants
        if (work := _work(folder, variant.name, info, graduated)) is not None
    ]
    if not worked:
        return None
    energy = experiment.system.energy_price if experiment.system else None
    rows = [_row(folder, work, energy) for work in worked]
    unit = graduated.unit if graduated else info.unit if info else ""
    return DensityReport(
        label="operations" if graduated else info.label if info else "",
        unit=unit,
        currency=experiment.price.currency if experiment.price else "",
        energy_currency=energy.currency if energy else "",
        energy_price=energy.per_kwh if energy else None,
        hours=energy.hours if energy else HOURS_OF_A_YEAR,
        graduated=graduated is not None,
        rows=rows,
        remarks=_remarks(folder, rows),
    )


# -- what a configuration does -----------------------------------------------------------------
@dataclass(frozen=True)
class _Power:
    """The mean power of a configuration, and where it is from."""

    watts: float | None
    source: Literal["measured", "stated", ""] = ""
    of: str = ""
    mark: str = ""


@dataclass(frozen=True)
class _Work:
    """What a configuration does, and for how much power."""

    variant: str
    rate: float | None
    rate_per_watt: float | None
    users: int | None
    power: _Power


def _headline(folder: RecordedExperiment, metrics: Sequence[MetricInfo]) -> MetricInfo | None:
    """The workload's headline where more of it is better: a time is not had for a price."""
    workload = next((trial.workload for trial in folder.trials if trial.workload), None)
    if workload is None:
        return None
    name = workload.judged_metric()
    info = next((each for each in metrics if each.name == name), None)
    return info if info is not None and info.higher_is_better is True else None


def _work(
    folder: RecordedExperiment,
    name: str,
    info: MetricInfo | None,
    graduated: GraduatedReport | None,
) -> _Work | None:
    """Of the valid trials; None without any."""
    trials = folder.valid_trials_of(name)
    if not trials:
        return None
    by_name = {each.variant: each for each in graduated.variants} if graduated else {}
    levels = by_name.get(name)
    power = _power(folder, name, trials, levels)
    if levels is not None:
        rate = levels.peak.achieved_per_s.median if levels.peak else None
        overall = levels.overall.median if levels.overall else None
        return _Work(name, rate, overall, None, power)
    rates, _ = values_of(trials, info.name) if info else ([], [])
    median_rate = median(rates) if rates else None
    return _Work(name, median_rate, _per(median_rate, power.watts), users_of(trials[0]), power)


def _power(
    folder: RecordedExperiment,
    name: str,
    trials: Sequence[RecordedTrial],
    levels: GraduatedVariant | None,
) -> _Power:
    """Measured watts, or else those that the owner states of this configuration."""
    records = [record for trial in trials if (record := main_of(trial.result.power)) is not None]
    watts = [record.watts for record in records if record.watts is not None]
    if levels is not None:
        watts = [] if levels.mean_watts is None else [levels.mean_watts]
    if watts and records:
        return _Power(median(watts), "measured", name_of(records[0]), mark_of(records))
    system = folder.experiment.system
    if system is not None and system.watts is not None and _is_whole(folder, name):
        return _Power(system.watts, "stated", system.covers)
    return _Power(None)


def _is_whole(folder: RecordedExperiment, variant: str) -> bool:
    """Whether what is said of the system is of this configuration: of a scale, the largest."""
    last = folder.design.variants[-1].name
    return variant == last if isinstance(folder.experiment.design, ScaleDesign) else True


# -- what that costs ---------------------------------------------------------------------------
def _row(folder: RecordedExperiment, work: _Work, energy: EnergyPrice | None) -> DensityRow:
    experiment, power = folder.experiment, work.power
    whole = _is_whole(folder, work.variant)
    price = experiment.price.total if experiment.price and whole else None
    rack_units = experiment.system.rack_units if experiment.system and whole else None
    hours = energy.hours if energy else HOURS_OF_A_YEAR
    kwh = None if power.watts is None else power.watts / _W_PER_KW * hours
    return DensityRow(
        variant=work.variant,
        rate=work.rate,
        users=work.users,
        price=price,
        rate_per_price=_per(work.rate, price),
        watts=power.watts,
        watts_from=power.source,
        watts_of=power.of,
        mark=power.mark,
        rate_per_watt=work.rate_per_watt,
        users_per_watt=_per(work.users, power.watts),
        rack_units=rack_units,
        rate_per_rack_unit=_per(work.rate, rack_units),
        users_per_rack_unit=_per(work.users, rack_units),
        kwh_per_year=kwh,
        energy_cost_per_year=kwh * energy.per_kwh if energy and kwh is not None else None,
    )


def _per(value: float | None, of: float | None) -> float | None:
    return None if value is None or not of else value / of


def _remarks(folder: RecordedExperiment, rows: Sequence[DensityRow]) -> list[str]:
    """Where watts, price and height are from."""
    system, price = folder.experiment.system, folder.experiment.price
    measured = dict.fromkeys(
        (row.watts_of, row.mark) for row in rows if row.watts_from == "measured"
    )
    found = [f"Watts are {mark or 'measured'}: {of}." for of, mark in measured]
    covers = f": {system.covers}" if system and system.covers else ""
    if any(row.watts_from == "stated" for row in rows):
        found.append(f"Watts are stated by the owner, not measured{covers}.")
    if any(row.rack_units for row in rows):
        found.append(f"Rack units are stated by the owner{covers}.")
    if price is not None and price.covers:
        found.append(f"The price covers {price.covers}.")
    return found
