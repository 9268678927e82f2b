"""Histograms of ticks: merged, read, and written to a log that others can read."""

import io
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import DriverError
from loadstone.results.latency import (
    LatencyLog,
    log_tag,
    merge,
    percentile_curve,
    percentiles,
    summarize_latency,
)

HOUR_NS = 3_600_000_000_000
latencies_ns = st.lists(st.integers(1, 60_000_000_000), min_size=1, max_size=200)


def histogram(values: list[int], highest: int = HOUR_NS, digits: int = 3) -> HdrHistogram:
    one = HdrHistogram(1, highest, digits)
    for value in values:
        assert one.record_value(value)
    return one


def encoded(values: list[int], highest: int = HOUR_NS, digits: int = 3) -> str:
    return str(histogram(values, highest, digits).encode().decode("ascii"))


@given(st.lists(st.lists(st.integers(0, 60_000_000_000), max_size=50), min_size=1, max_size=4))
def test_parts_add_up_to_the_whole(parts: list[list[int]]) -> None:
    merged = merge([encoded(part) for part in parts])
    values = [value for part in parts for value in part]
    whole = histogram(values)
    assert merged.get_total_count() == len(values)
    assert list(merged.counts) == list(whole.counts)
    assert summarize_latency(merged) == summarize_latency(merge([encoded(values)]))
    assert merged.get_max_value() == whole.get_max_value()
    assert merged.get_min_value() == whole.get_min_value()


def test_histograms_of_different_range_are_added() -> None:
    short, long = encoded([1000, 2000], highest=10_000_000), encoded([5_000_000_000])
    for parts in ([short, long], [long, short]):
        merged = merge(parts)
        assert merged.get_total_count() == 3
        assert percentiles(merged, [100.0])[100.0] == pytest.approx(5.0, rel=1e-3)
        assert percentiles(merged, [1.0])[1.0] == pytest.approx(1e-6, rel=1e-3)


@given(latencies_ns, st.lists(st.floats(0.001, 100.0), min_size=1, max_size=8))
def test_percentiles_are_those_of_the_library(values: list[int], which: list[float]) -> None:
    one = histogram(values)
    for percentile, value_s in percentiles(one, which).items():
        assert value_s == one.get_value_at_percentile(percentile) / 1e9


def test_a_summary_in_seconds() -> None:
    summary = summarize_latency(histogram([1_000_000 * i for i in range(1, 1001)]))
    assert summary is not None
    assert summary.count == 1000
    assert summary.p50_s == pytest.approx(0.5, rel=1e-3)
    assert summary.p999_s == pytest.approx(0.999, rel=1e-3)
    assert summary.max_s == pytest.approx(1.0, rel=1e-3)
    assert summary.mean_s == pytest.approx(0.5005, rel=1e-3)


def test_nothing_recorded_has_no_figures() -> None:
    empty = merge([])
    assert summarize_latency(empty) is None
    assert percentiles(empty) == {}
    assert percentile_curve(empty) == []
    assert merge([encoded([]), encoded([5])]).get_total_count() == 1


@given(latencies_ns)
def test_a_curve_rises(values: list[int]) -> None:
    curve = percentile_curve(histogram(values))
    assert curve == sorted(curve)
    assert [value for _, value in curve] == sorted(value for _, value in curve)
    assert curve[-1][0] <= 100.0 * (1.0 - 1.0 / len(values))


def test_a_curve_of_many_operations_ends_at_five_nines() -> None:
    one = HdrHistogram(1, HOUR_NS, 3)
    one.record_value(1_000_000, 999_999)
    one.record_value(2_000_000_000, 1)
    assert percentile_curve(one)[-1] == (99.999, pytest.approx(0.001, rel=1e-3))
    assert len(percentile_curve(one)) > 150


@pytest.mark.parametrize("bad", ["", "HIST", "HISTFAAAAEV42pNpmSz", "not base64!", "é"])
def test_a_broken_histogram_is_an_error_of_the_driver(bad: str) -> None:
    with pytest.raises(DriverError, match="HdrHistogram V2"):
        merge([bad])


def test_another_precision_is_refused() -> None:
    with pytest.raises(DriverError, match="digits"):
        merge([encoded([1]), encoded([1], digits=2)])


def test_the_log_is_read_by_the_standard_reader(tmp_path: Path) -> None:
    path = tmp_path / "latency.hlog"
    first, second = [1_000_000, 2_500_000], [9_000_000]
    with path.open("w", encoding="utf-8") as stream:
        log = LatencyLog(stream, start_unix_s=1_700_000_000.25)
        log.append(log_tag("measure", "new-order", "response"), 1.0, 2.0, encoded(first))
        log.append(log_tag("measure", "new-order", "service"), 1.0, 2.0, encoded(first))
        log.append(log_tag("measure", "new-order", "response"), 2.0, 2.5, encoded(second))
        written = path.read_text()
    reader = HistogramLogReader(str(path), HdrHistogram(1, HOUR_NS, 3))
    read = []
    while (interval := reader.get_next_interval_histogram()) is not None:
        read.append(interval)
    reader.close()
    assert [one.tag for one in read] == [
        "measure/new-order/response",
        "measure/new-order/service",
        "measure/new-order/response",
    ]
    assert [one.get_total_count() for one in read] == [2, 2, 1]
    assert read[0].get_start_time_stamp() == pytest.approx(1_700_000_001_250.0)
    assert read[2].get_end_time_stamp() == pytest.approx(1_700_000_002_750.0)
    assert "Tag=measure/new-order/response,1.000,1.000,2.5" in written


def test_a_part_of_a_log_is_selected_by_time(tmp_path: Path) -> None:
    path = tmp_path / "latency.hlog"
    with path.open("w", encoding="utf-8") as stream:
        log = LatencyLog(stream, start_unix_s=1_700_000_000.0)
        for second in range(5):
            log.append("measure/noop/response", second, second + 1.0, encoded([1000 + second]))
    reader = HistogramLogReader(str(path), HdrHistogram(1, HOUR_NS, 3))
    found = 0
    while reader.get_next_interval_histogram(1.0, 3.0) is not None:
        found += 1
    reader.close()
    assert found == 3


def test_a_line_is_complete_before_the_next_tick() -> None:
    class Watched(io.StringIO):
        flushes = 0

        def flush(self) -> None:
            Watched.flushes += 1

    stream = Watched()
    LatencyLog(stream, start_unix_s=0.0).append("a/b/response", 0.0, 1.0, encoded([1]))
    assert Watched.flushes == 1
    assert stream.getvalue().endswith("\n")


def test_tags_have_no_comma_and_no_blank() -> None:
    assert log_tag("steady, part 1", "new order", "service") == "steady-part-1/new-order/service"


def test_the_tag_of_a_request_has_its_operation_before_it() -> None:
    assert log_tag("measure", "list", "service", "list page") == "measure/list/list-page/service"
    assert log_tag("measure", "list", "service", "/items, 2") == "measure/list/-items-2/service"


@given(st.text(max_size=20), st.text(max_size=20))
def test_whatever_the_names_a_tag_is_ascii(operation: str, request: str) -> None:
    tag = log_tag("80 %", operation, "service", request)
    assert tag.isascii()
    assert not set(tag) & set(" ,\t\n")
    assert tag.count("/") == 3
