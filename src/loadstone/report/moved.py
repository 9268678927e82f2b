"""Trials that count, though the machine moved around them by what is usual over the experiment.

While an experiment runs, what is usual is the median so far: the first trials are judged by little,
or not at all. When all are made, the median is that of them all.
"""

from __future__ import annotations

import json
from contextlib import suppress

from loadstone.report.reading import RecordedExperiment
from loadstone.report.text import percent
from loadstone.results.machine import Speed, drift_record
from loadstone.results.record import Notice


def moved_over_all(folder: RecordedExperiment) -> list[Notice]:
    """Names them; none of a search, which tries again what did not hold."""
    if folder.experiment.design.kind == "search":
        return []
    by_host: dict[str, list[tuple[str, bool, list[Speed]]]] = {}
    for trial in folder.trials:
        if (own := trial.result.drift) is not None:
            host = json.dumps(trial.plan.host, sort_keys=True)
            of_trial = (trial.result.trial, trial.counts, [own.before, own.after])
            by_host.setdefault(host, []).append(of_trial)
    named = []
    for trials in by_host.values():
        speeds = [speed for _, _, pair in trials for speed in pair]
        for name, counts, pair in trials:
            with suppress(ValueError):  # a figure that is none tells nothing
                found = drift_record(pair, speeds, folder.experiment.disturbance)
                if counts and found is not None and found.disturbed:
                    named.append(f"{name} ({percent(found.moved_percent)})")
    return [_notice(named, folder.experiment.disturbance)] if named else []


def _notice(named: list[str], limit: float) -> Notice:
    trials = "1 trial that counts" if len(named) == 1 else f"{len(named)} trials that count"
    return Notice(
        code="machine-moved-by-all",
        severity="warning",
        message=f"around {trials}, the machine's own speed was more than {limit:g} % off its "
        f"median over the experiment: {', '.join(named)}",
        advice="too little was known of the machine when they ended; run the experiment again if a "
        "verdict depends on them",
    )
