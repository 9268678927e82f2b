"""The figures of decision support."""

from __future__ import annotations

from collections.abc import Mapping

from loadstone.protocol.steps import steps_of
from loadstone.results.record import MetricValue
from loadstone.workloads.base import StepInfo
from loadstone.workloads.dss import figures, refresh
from loadstone.workloads.dss.parameters import DecisionSupportParameters
from loadstone.workloads.dss.queries import NUMBERS, operation, title
from loadstone.workloads.dss.steps import PowerRun, ThroughputRun
from loadstone.workloads.measured import Measured, MetricSpec

HEADLINE = "composite"
POWER = MetricSpec("power", "power", "queries/h x scale", higher_is_better=True)
THROUGHPUT = MetricSpec("throughput", "throughput", "queries/h x scale", higher_is_better=True)
COMPOSITE = MetricSpec(HEADLINE, "composite", "queries/h x scale", higher_is_better=True)
GEOMETRIC_MEAN = MetricSpec(
    "geometric_mean_s", "geometric mean of the queries", "s", higher_is_better=False
)
TOTAL = MetricSpec("power_run_s", "sum of the 22 queries", "s", higher_is_better=False)
ELAPSED = MetricSpec("throughput_run_s", "throughput run", "s", higher_is_better=False)
STORAGE_RATIO = MetricSpec(
    "storage_ratio", "database to raw data", "GB per unit of scale", higher_is_better=False
)
SERVER_CPU = MetricSpec("server_cpu_s", "CPU of the engine", "s", higher_is_better=False)
QUERIES = {
    operation(query): MetricSpec(
        f"{operation(query)}_s", f"query {query}", "s", higher_is_better=False
    )
    for query in NUMBERS
}
REFRESHES = {
    refresh.INSERT: MetricSpec("rf1_s", "refresh 1 (insert)", "s", higher_is_better=False),
    refresh.DELETE: MetricSpec("rf2_s", "refresh 2 (delete)", "s", higher_is_better=False),
}
STEPS = (
    *(
        StepInfo(operation(query), title(query), QUERIES[operation(query)].name, "queries")
        for query in NUMBERS
    ),
    *(StepInfo(name, spec.label, spec.name, "refreshes") for name, spec in REFRESHES.items()),
)
METRICS = (
    COMPOSITE,
    POWER,
    THROUGHPUT,
    GEOMETRIC_MEAN,
    TOTAL,
    ELAPSED,
    SERVER_CPU,
    STORAGE_RATIO,
    *QUERIES.values(),
    *REFRESHES.values(),
)


def metric_values(measured: Measured, parameters: DecisionSupportParameters) -> list[MetricValue]:
    """The figures of a trial; those that its queries do not carry are left out.

    A query that failed or was broken off leaves no power figure. A stream with one, or a refresh
    that did not end well or never began, leaves no throughput (nor the time of its run: it is
    shorter for what failed), and without both there is no composite.
    """
    steps = steps_of(measured.events)
    power, throughput = PowerRun.of(steps), ThroughputRun.of(steps)
    found = _composites(power, throughput, parameters)
    if power.is_whole:
        times_s = list(power.queries_s.values())
        found[GEOMETRIC_MEAN.name] = figures.geometric_mean(times_s)
        found[TOTAL.name] = sum(times_s)
    if THROUGHPUT.name in found:
        found[ELAPSED.name] = throughput.elapsed_s
    if measured.server_cpu_s is not None:
        found[SERVER_CPU.name] = measured.server_cpu_s
    if "size_bytes" in measured.data:
        found[STORAGE_RATIO.name] = measured.data["size_bytes"] / (1e9 * parameters.scale)
    found |= {QUERIES[name].name: time_s for name, time_s in power.queries_s.items()}
    found |= {REFRESHES[name].name: time_s for name, time_s in power.refreshes_s.items()}
    return [spec.of(found[spec.name]) for spec in METRICS if spec.name in found]


def _composites(
    power: PowerRun, throughput: ThroughputRun, parameters: DecisionSupportParameters
) -> dict[str, float]:
    found: dict[str, float] = {}
    if power.is_whole and len(power.refreshes_s) == len(REFRESHES):
        found[POWER.name] = figures.power(
            parameters.scale, list(power.queries_s.values()), list(power.refreshes_s.values())
        )
    is_whole = (
        throughput.streams == parameters.query_streams
        and throughput.refreshes == parameters.refreshes_beside
    )
    if parameters.query_streams and is_whole:
        found[THROUGHPUT.name] = figures.throughput(
            parameters.scale, throughput.streams, throughput.elapsed_s
        )
    if len(found) == 2:
        found[COMPOSITE.name] = figures.composite(found[POWER.name], found[THROUGHPUT.name])
    return found


def missing(values: Mapping[str, float], parameters: DecisionSupportParameters) -> list[str]:
    """Of power, throughput and composite those that a trial should have and has not."""
    expected = {
        POWER.name: parameters.refreshes,
        THROUGHPUT.name: parameters.query_streams > 0,
        COMPOSITE.name: parameters.refreshes and parameters.query_streams > 0,
    }
    return [name for name, is_expected in expected.items() if is_expected and name not in values]
