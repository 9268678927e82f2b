"""The figures of server-side Java and how they are made from what was measured."""

from __future__ import annotations

from loadstone.results.record import MetricValue
from loadstone.workloads.measured import Measured, MetricSpec

HEADLINE = "operations_per_s"
METRICS = (
    MetricSpec(HEADLINE, "transactions", "operations/s", True, follows_rate=True),
    MetricSpec("errors", "errors", "errors", False),
    MetricSpec("jvm_cpu_us", "CPU of the JVMs per transaction", "us", False),
    MetricSpec("generator_cpu_us", "CPU of the load generator per transaction", "us", False),
    MetricSpec("gc_ms_per_s", "work of the collectors", "ms/s", False),
    MetricSpec("compile_ms_per_s", "work of the compilers", "ms/s", False),
    MetricSpec("most_heap_mb", "most heap in use", "MiB", False),
)


def metric_values(measured: Measured) -> list[MetricValue]:
    """The figures of a measured phase; one that has no meaning there is left out."""
    count, seconds = sum(measured.operations.values()), measured.duration_s
    values = {HEADLINE: count / seconds, "errors": float(measured.errors)}
    if count and measured.server_cpu_s:
        values["jvm_cpu_us"] = measured.server_cpu_s / count * 1e6
    if count:
        values["generator_cpu_us"] = measured.driver_cpu_s / count * 1e6
    for counter, name in (("gc_ms", "gc_ms_per_s"), ("compile_ms", "compile_ms_per_s")):
        if counter in measured.counters:
            values[name] = measured.counters[counter] / seconds
    if "heap_used_bytes" in measured.gauges:
        values["most_heap_mb"] = measured.gauges["heap_used_bytes"] / 2**20
    return [spec.of(values[spec.name]) for spec in METRICS if spec.name in values]
