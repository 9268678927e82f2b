"""Trials whose load went through levels, with meters: published cases, folders and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import sample_web
from sample_trials import result_of

from loadstone.experiments.designs import design_of, stages_of
from loadstone.report.document import build_document
from loadstone.report.graduated import spread
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.graduated import GraduatedReport, GraduatedVariant, LoadLevel
from loadstone.report.model.power import DensityReport, DensityRow, PowerFigures, PowerRow
from loadstone.report.model.trials import Series, TrialReport
from loadstone.results.folder import ExperimentFolder
from loadstone.results.graduated import (
    CalibrationInterval,
    GraduatedLevel,
    GraduatedRecord,
    overall,
)
from loadstone.results.power import PowerRecord
from loadstone.results.record import MetricValue, Status, TrialResult

NAMES = [*(f"{percent} %" for percent in range(100, 0, -10)), "active idle"]
SHARES = [percent / 100 for percent in range(100, -1, -10)]
WATTS = [265.0, 259.0, 252.0, 245.0, 235.0, 224.0, 212.0, 200.0, 191.0, 179.0, 166.0]
PEAK_PER_S = 303_846.0
"""A published result, 688 operations for a watt: its watts from 100 % to active idle."""


def record(
    watts: Sequence[float | None] = WATTS,
    peak_per_s: float = PEAK_PER_S,
    failing: str = "",
    **fields: Any,
) -> GraduatedRecord:
    """A trial through all levels, at which as much is done as is wanted.

    Args:
        watts: Of each level, from 100 % to active idle.
        peak_per_s: At 100 %.
        failing: Name of a level that does not hold.
        fields: Of the record.
    """
    levels = [
        _level(name, share, peak_per_s, own, holds=name != failing)
        for name, share, own in zip(NAMES, SHARES, watts, strict=True)
    ]
    known = [(each.achieved_per_s, each.watts) for each in levels if each.watts is not None]
    whole = len(known) == len(levels) and not failing
    return GraduatedRecord(
        **{
            "form": "short",
            "over": "rate",
            "unit": "operations/s",
            "calibrated_per_s": peak_per_s,
            "calibrated_by": "measured",
            "calibrations": [
                CalibrationInterval(name=f"calibration {at}", rate_per_s=peak_per_s * part)
                for at, part in enumerate((0.9, 0.999, 1.001), start=1)
            ],
            "levels": levels,
            "overall": overall(known) if whole else None,
            "reason": "" if whole else f"{failing or 'a level'} does not count",
            **fields,
        }
    )


def _level(
    name: str, share: float, peak_per_s: float, watts: float | None, *, holds: bool
) -> GraduatedLevel:
    rate = peak_per_s * share if holds else 0.0
    return GraduatedLevel(
        name=name,
        share=share,
        target_per_s=peak_per_s * share,
        due_per_s=peak_per_s * share,
        achieved_per_s=rate,
        achieved_share=(1.0 if holds else 0.0) if share else None,
        watts=watts,
        joules_per_operation=watts / rate if watts is not None and rate else None,
        p50_s=0.001 * (1 + share) if share else None,
        p95_s=0.004 * (1 + share) if share else None,
        p99_s=0.009 * (1 + share) if share else None,
        steady=share < 1,
        holds=holds,
        reasons=[] if holds else ["0.0% of what became due was achieved"],
        lab_cpu_share=0.004,
        from_s=10.0,
        duration_s=13.0,
    )


def power(watts: float | None, **fields: Any) -> PowerRecord:
    """What a meter at the plug said, main unless something else is said."""
    return PowerRecord(
        **{
            "meter": "pdu",
            "kind": "network",
            "channel": "total",
            "scope": "wall",
            "watts": watts,
            "joules": None if watts is None else 100 * watts,
            "covered": 1.0 if watts is not None else 0.4,
            "readings": 100,
            "accuracy_percent": 1.0,
            "resolution_w": 0.1,
            "main": True,
            **fields,
        }
    )


def metric(name: str, value: float, unit: str, *, mark: str = "") -> MetricValue:
    return MetricValue(name=name, value=value, unit=unit, higher_is_better=True, mark=mark)


def written(
    results: Path, updates: Sequence[Mapping[str, Any]] = ({},), **fields: Any
) -> ExperimentFolder:
    """A folder whose trials all had a rate.

    Args:
        results: Where it is written.
        updates: Of the trials' results, one after the other; the last holds for the rest.
        fields: Of the experiment.
    """
    spec = sample_web.experiment(**fields)
    folder = ExperimentFolder.create(results, spec.name)
    folder.write_experiment(spec)
    design = design_of(spec)
    pairs = [asdict(pair) for pair in design.pairs(spec)]
    folder.write_design(design.variants(spec), pairs, "loadstone run web.yaml")
    for at, plan in enumerate(stages_of(spec).next([])):
        with folder.trial(plan) as trial:
            rate = metric("transactions_per_s", plan.profile.users / 10, "transactions/s")
            update = dict(updates[min(at, len(updates) - 1)])
            metrics = [rate, *update.pop("metrics", [])]
            made = result_of(plan, metrics, update.pop("status", Status.VALID))
            trial.write_result(TrialResult.model_validate(made.model_copy(update=update)))
    return folder


def document(
    results: Path, updates: Sequence[Mapping[str, Any]] = ({},), **fields: Any
) -> ReportDocument:
    """The report of `written`."""
    return build_document(written(results, updates, **fields).path)


# -- for the page ------------------------------------------------------------------------------
def graduated(base: ReportDocument) -> ReportDocument:
    """Two configurations with intervals, one of them simulated, and meters with all they can say.

    Args:
        base: Its first two variants become those; their trials get watts over time.
    """
    names = [variant.name for variant in base.variants[:2]]
    found = GraduatedReport(
        over="rate",
        unit="operations/s",
        variants=[
            _variant(names[0], [record(), record([each * 1.01 for each in WATTS])], ""),
            _variant(names[1], [record([each - 20 for each in WATTS])], "simulated"),
        ],
        said=[f'"{names[1]}" draws less than "{names[0]}" at 11 of 11 levels.'],
    )
    trials = [trial.model_copy(update=_watched(trial)) for trial in base.trials]
    return base.model_copy(
        update={
            "graduated": found,
            "power": _rows(names),
            "density": _density(names),
            "trials": trials,
        }
    )


def _variant(name: str, records: Sequence[GraduatedRecord], mark: str) -> GraduatedVariant:
    first = records[0]
    return GraduatedVariant(
        variant=name,
        trials=[f"b0{at}" for at in range(len(records))],
        counts=True,
        form="short",
        calibrated_per_s=first.calibrated_per_s,
        calibrated_by="measured",
        settled=True,
        calibrations=[each.calibrations for each in records],
        overall=spread((each.overall for each in records), 0.95),
        peak_watts=first.peak_watts,
        idle_watts=first.idle_watts,
        mean_watts=220.7,
        idle_share=first.idle_share,
        proportionality=first.proportionality,
        joules_per_operation=first.joules_per_operation,
        meter="pdu, wall",
        scope="wall",
        mark=mark,
        levels=[
            LoadLevel(
                name=level.name,
                share=level.share,
                target_per_s=level.target_per_s,
                achieved_per_s=spread((each.levels[at].achieved_per_s for each in records), 0.95),
                achieved_share=level.achieved_share,
                watts=spread((each.levels[at].watts for each in records), 0.95),
                per_watt=spread((each.levels[at].per_watt for each in records), 0.95),
                joules_per_operation=level.joules_per_operation,
                p50_ms=1e3 * level.p50_s if level.p50_s else None,
                p95_ms=1e3 * level.p95_s if level.p95_s else None,
                p99_ms=1e3 * level.p99_s if level.p99_s else None,
                steady=level.steady,
                holds=level.holds,
                lab_cpu_share=level.lab_cpu_share,
            )
            for at, level in enumerate(first.levels)
        ],
    )


def _rows(names: Sequence[str]) -> list[PowerRow]:
    def row(meter: str, watts: float, **fields: Any) -> PowerRow:
        figures = [
            PowerFigures(
                variant=name, trials=6, watts=watts, low=watts - 2, high=watts + 2, joules=1e4,
                covered=0.998, invalid=3 if meter == "rapl" else 0, lag_s=0.62, resolution_w=0.1,
            )
            for name in names
        ]  # fmt: skip
        return PowerRow(meter=meter, figures=figures, **fields)

    return [
        row("pdu", 220.7, kind="network", channel="total", scope="wall", main=True,
            accuracy_percent=1.0),
        row("rapl", 91.2, kind="powercap", channel="package-0+dram-0", scope="package", main=False,
            accuracy_percent=None, mark="simulated", parts=["package-0", "dram-0"]),
    ]  # fmt: skip


def _density(names: Sequence[str]) -> DensityReport:
    rows = [
        DensityRow(
            variant=name, rate=PEAK_PER_S, price=4200.0, rate_per_price=PEAK_PER_S / 4200,
            watts=220.7, watts_from="measured", watts_of="pdu, wall", mark=mark,
            rate_per_watt=688.3, users_per_watt=None, rack_units=1.0,
            rate_per_rack_unit=PEAK_PER_S, users_per_rack_unit=None, kwh_per_year=1933.3,
            energy_cost_per_year=580.0,
        )
        for name, mark in zip(names, ("", "simulated"), strict=True)
    ]  # fmt: skip
    return DensityReport(
        label="operations", unit="operations/s", currency="USD", energy_currency="EUR",
        energy_price=0.3, hours=8760.0, graduated=True, rows=rows,
        remarks=["Watts are measured: pdu, wall."],
    )  # fmt: skip


def _watched(trial: TrialReport) -> dict[str, Any]:
    """The watts of a trial over time, and what its meters said."""
    seconds = [0.5 + at for at in range(24)]
    columns: dict[str, list[float | None]] = {
        "watts:pdu total": [200.0 + at for at in range(24)],
        "watts:rapl package-0": [80.0 + at for at in range(24)],
    }
    records = [
        power(211.5),
        power(91.5, meter="rapl", kind="powercap", channel="package-0", scope="package",
              main=False, simulated=True, invalid=3, reason="one interval was lost to a reset"),
    ]  # fmt: skip
    return {
        "power": Series(t_s=seconds, columns=columns),
        "result": trial.result.model_copy(update={"power": records}),
    }
