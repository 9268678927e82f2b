"""The figures of a test, and of a baseline: what its passes told, added up and never averaged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loadstone.results.latency import merge, percentiles
from loadstone.results.record import MetricValue
from loadstone.workloads.measured import Measured, MetricSpec
from loadstone.workloads.storage.tests import StorageTest

BEYOND_S = 2**34 / 1e9
"""Where fio's scale of times ends."""
HEADLINE = "baseline_mb_per_s"
_TIME = "service time, {} (bins of fio: within 0.8 %)"
_SYNC = "time of a flush, {}"
_PERCENTILES = {"p50": 50.0, "p99": 99.0, "p999": 99.9}

BASELINE = MetricSpec(HEADLINE, "baseline: geometric mean of the tests' scores", "MB/s", True)
OF_TEST = (
    MetricSpec("mb_per_s", "bytes moved, over all passes", "MB/s", True),
    MetricSpec("ios_per_s", "requests, over all passes", "IO/s", True),
    MetricSpec("score", "score, as the origin makes it of the passes", "MB/s", True),
    MetricSpec("median_mb_per_s", "median of the passes", "MB/s", True),
    MetricSpec("cpu_us_per_io", "processor time of fio's threads", "us/IO", False),
    MetricSpec("depth", "requests in flight, reached", "", True),
    MetricSpec("depth_asked", "requests in flight, asked for", "", True),
    MetricSpec("service_p50_ms", _TIME.format("median"), "ms", False),
    MetricSpec("service_p99_ms", _TIME.format("99 %"), "ms", False),
    MetricSpec("service_p999_ms", _TIME.format("99.9 %"), "ms", False),
    MetricSpec("service_max_ms", "service time, longest", "ms", False),
    MetricSpec("sync_p50_ms", _SYNC.format("median"), "ms", False),
    MetricSpec("sync_p99_ms", _SYNC.format("99 %"), "ms", False),
)
METRICS = (BASELINE, *OF_TEST)
_SPECS = {spec.name: spec for spec in METRICS}


@dataclass(frozen=True)
class PassFigures:
    """What `loadstone-fio` told of a pass that counts.

    Attributes:
        test: Its operation in frames.
        number: From 1.
        figures: By name, as docs/driver-protocol.md has them.
        texts: Likewise: `sync`, `notes`.
    """

    test: str
    number: int
    figures: Mapping[str, float]
    texts: Mapping[str, str]

    @property
    def mb_per_s(self) -> float:
        """MB, of 10^6 bytes, in a second."""
        return self.figures["mb_per_s"]

    @property
    def notes(self) -> Sequence[str]:
        """What fio said besides."""
        return self.texts.get("notes", "").splitlines()


def passes_of(measured: Measured, test: StorageTest) -> list[PassFigures]:
    """The passes of a test that count, in order."""
    return [each for each in _told(measured) if each.test == test.operation]


def _told(measured: Measured) -> Iterator[PassFigures]:
    for event in measured.events:
        if event.name == "pass":
            figures = {key: each for key, each in event.data.items() if isinstance(each, float)}
            texts = {key: each for key, each in event.data.items() if isinstance(each, str)}
            yield PassFigures(texts["test"], int(figures["pass"]), figures, texts)


def metrics_of(
    test: StorageTest, passes: Sequence[PassFigures], measured: Measured, score: str
) -> list[MetricValue]:
    """The figures of a test.

    Args:
        test: The test.
        passes: Its passes that count.
        measured: Its phase.
        score: `maximum` or `mean` of the passes.
    """
    if not passes:
        return []
    total = _Totals(passes)
    values = {
        "mb_per_s": total.of("bytes") / total.of("duration_s") / 1e6,
        "ios_per_s": total.of("ios") / total.of("duration_s"),
        "score": score_of(passes, score),
        "median_mb_per_s": _median([each.mb_per_s for each in passes]),
        "cpu_us_per_io": (total.of("cpu_user_s") + total.of("cpu_system_s"))
        / total.of("ios")
        * 1e6,
        "depth": sum(each.figures["depth"] * each.figures["duration_s"] for each in passes)
        / total.of("duration_s"),
        "depth_asked": float(sum(job.depth * job.threads for job in test.jobs)),
    }
    values |= _service_times(test, passes, measured)
    flushes = [each.texts["sync"] for each in passes if "sync" in each.texts]
    if flushes:
        at = percentiles(merge(flushes), (50.0, 99.0))
        values |= {"sync_p50_ms": at[50.0] * 1e3, "sync_p99_ms": at[99.0] * 1e3}
    return [_SPECS[name].of(value) for name, value in values.items()]


def score_of(passes: Sequence[PassFigures], score: str) -> float:
    """The figure that the origin makes of its passes, in MB/s."""
    rates = [each.mb_per_s for each in passes]
    return max(rates) if score == "maximum" else sum(rates) / len(rates)


def baseline(scores: Iterable[float]) -> list[MetricValue]:
    """The headline of a trial: the geometric mean of its tests' scores."""
    found = list(scores)
    if not found or min(found) <= 0:
        return []
    return [BASELINE.of(math.exp(math.fsum(map(math.log, found)) / len(found)))]


def _service_times(
    test: StorageTest, passes: Sequence[PassFigures], measured: Measured
) -> dict[str, float]:
    """Percentiles of the merged bins; none of a test whose jobs have operations of their own.

    None is above the longest time, which fio knows exactly, and none lies where fio's scale has
    ended: those are not figures.
    """
    longest_s = max(each.figures["max_s"] for each in passes)
    found = {"service_max_ms": longest_s * 1e3}
    if len(test.operations) > 1:
        return found
    at = percentiles(
        merge(
            text
            for tick in measured.ticks
            if (told := tick.operations.get(test.operations[0])) and (text := told.service)
        ),
        tuple(_PERCENTILES.values()),
    )
    for name, percentile in _PERCENTILES.items():
        if percentile in at and at[percentile] < BEYOND_S:
            found[f"service_{name}_ms"] = min(at[percentile], longest_s) * 1e3
    return found


def _median(values: Sequence[float]) -> float:
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


class _Totals:
    """Sums over passes."""

    def __init__(self, passes: Sequence[PassFigures]) -> None:
        self._passes = passes

    def of(self, name: str) -> float:
        """Of a figure of each pass."""
        return math.fsum(each.figures[name] for each in self._passes)
