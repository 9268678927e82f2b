"""A search in the report: its outcome, and every level that it tried."""

from __future__ import annotations

from loadstone.experiments.designs.search import rules_of
from loadstone.experiments.designs.search_state import counted
from loadstone.experiments.searching import first_reason, outcome_of, reason_text
from loadstone.report.limiting import level_limit
from loadstone.report.model.searching import LevelReport, SearchReport
from loadstone.report.reading import RecordedExperiment, RecordedTrial
from loadstone.results.record import LevelRecord
from loadstone.spec.design import SearchDesign


def search_report(folder: RecordedExperiment) -> SearchReport | None:
    """The search of an experiment, made again from the records of its trials.

    Returns:
        None where the experiment is no search.
    """
    design = folder.experiment.design
    if not isinstance(design, SearchDesign):
        return None
    rules = rules_of(folder.experiment, folder.design.bound)
    results = [trial.result for trial in folder.trials]
    outcome = outcome_of(rules, results)
    counting = {result.trial for result in counted(results)}
    levels = [
        _level(trial, record, counts=trial.result.trial in counting and record.of_system)
        for trial in folder.trials
        for record in trial.result.levels
    ]
    failed = outcome.first_failure
    return SearchReport(
        over=rules.over,
        unit=rules.unit,
        status=outcome.status,
        level=outcome.level,
        low=outcome.low,
        high=outcome.high,
        text=outcome.text,
        first_failure=next(
            (
                each
                for each in levels
                if failed is not None and (each.trial, each.level) == (failed[0], failed[1].level)
            ),
            None,
        ),
        remarks=list(outcome.remarks),
        objective=list(rules.objective),
        window_s=rules.window_s,
        method=rules.ascent.increments.method,
        approach=design.approach,
        levels=levels,
    )


def _level(trial: RecordedTrial, record: LevelRecord, *, counts: bool) -> LevelReport:
    first = first_reason(record)
    response = record.response
    phases = trial.result.phases
    return LevelReport(
        trial=trial.result.trial,
        level=record.level,
        kind=record.kind,
        of=record.of,
        raised=record.raised,
        counts=counts,
        holds=record.holds,
        reason=reason_text(first) if first else "",
        at_s=first.at_s if first else None,
        from_s=record.from_s - (phases[0].from_s if phases else 0.0),
        duration_s=record.duration_s,
        offered_per_s=record.offered_per_s,
        achieved_per_s=record.achieved_per_s,
        p50_ms=response.p50_s * 1e3 if response else None,
        p95_ms=response.p95_s * 1e3 if response else None,
        p99_ms=response.p99_s * 1e3 if response else None,
        max_ms=response.max_s * 1e3 if response else None,
        reasons=record.reasons,
        worst=record.worst,
        limit=level_limit(record, trial.result.variant),
    )
