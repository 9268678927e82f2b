"""Order entry on PostgreSQL and MariaDB, round after round, and what each waits on."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from benchmarks.server import spec_of
from benchmarks.table import Report, spread
from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.observer import Observer
from loadstone.report.reading import read_experiment
from loadstone.results.record import TrialResult
from loadstone.spec.design import RunDesign
from loadstone.spec.model import Experiment, WorkloadSpec
from loadstone.spec.profile import ProfileSpec

ROUNDS = 3
WAREHOUSES = 10
USERS = 8
SECONDS = 20.0
ENGINES = ("postgresql", "mariadb")
STYLES = ("statements", "procedures")
_TOP = 4


def measure() -> Report:
    """Runs each engine and style in turn, each time from data loaded anew."""
    results: dict[tuple[str, str], list[TrialResult]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="loadstone-benchmark-") as folder:
        for number in range(1, ROUNDS + 1):
            for engine in ENGINES if number % 2 else reversed(ENGINES):
                for style in STYLES:
                    results[engine, style].append(_run(engine, style, number, Path(folder)))
    rows = [
        (f"{engine}, {style}", _figures(results[engine, style]), _waits(results[engine, style]))
        for style in STYLES
        for engine in ENGINES
    ]
    return Report(
        title="Order entry on two engines",
        how=f"{WAREHOUSES} warehouses, {USERS} users without waits, {SECONDS:g} s a trial, "
        f"{ROUNDS} rounds in turn; data in memory, commits do not wait for a disk. Waits are "
        "shares of the samples of active sessions, ten a second, over all rounds.",
        header=("", "new-orders/min, median (range)", "where the sessions were found"),
        rows=rows,
        aims=(),
    )


def _run(engine: str, style: str, number: int, folder: Path) -> TrialResult:
    experiment = Experiment(
        name=f"engines-{engine}-{style}-{number}",
        workload=WorkloadSpec(name="oltp", parameters={"warehouses": WAREHOUSES, "style": style}),
        target=spec_of(engine),
        profile=ProfileSpec.model_validate(
            {"users": USERS, "warm_up": "3s", "measure": f"{SECONDS:g}s"}
        ),
        design=RunDesign(first_block=number),
    )
    options = RunOptions(results=folder, command="python -m benchmarks engines", allow_unsafe=True)
    return read_experiment(conduct(experiment, options, Observer())).trials[0].result


def _figures(results: Sequence[TrialResult]) -> str:
    figures = [result.metric("new_orders_per_min") for result in results]
    return spread([figure.value for figure in figures if figure is not None])


def _waits(results: Sequence[TrialResult]) -> str:
    shares: dict[str, float] = defaultdict(float)
    for result in results:
        for wait in result.waits:
            shares[f"{wait.kind}: {wait.event}"] += wait.share / len(results)
    top = sorted(shares.items(), key=lambda each: -each[1])[:_TOP]
    return "; ".join(f"{name} {share:.0%}" for name, share in top)
