"""fio's bins and rates: merged and never averaged, exact where fio is, and said where it is not."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from loadstone.fio.bins import (
    BEYOND_NS,
    COUNT,
    ERROR,
    LAST_NS,
    BinEncoder,
    Bins,
    beyond,
    bounded,
    value_ns,
)
from loadstone.fio.figures import FigureError, jobs_of, limits_of, stages, together_s, wall_s
from loadstone.fio.slices import slices
from loadstone.results.latency import merge, percentiles


def place_of(time_ns: int) -> int:
    """fio's plat_val_to_idx, as its stat.c has it: the other way than `value_ns`."""
    top = time_ns.bit_length() - 1
    if top <= 6:
        return time_ns
    shift = top - 6
    return min((shift + 1) * 64 - 0 + ((time_ns >> shift) & 63), COUNT - 1)


def entry(times: list[int], block: int = 4096, name: str = "job0", **more: Any) -> dict[str, Any]:
    """A job of fio's JSON that took these times."""
    bins = Counter(value_ns(place_of(each)) for each in times)
    read = {
        "io_bytes": block * len(times),
        "total_ios": len(times),
        "runtime": more.pop("runtime", 2000),
        "clat_ns": {
            "min": min(times),
            "max": max(times),
            "bins": {str(key): count for key, count in bins.items()},
        },
        "lat_ns": {"mean": sum(times) / len(times)},
    }
    return {"jobname": name, "read": read, "job_runtime": 2000, "usr_cpu": 1, "sys_cpu": 2} | more


def grouped(jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """What fio makes of jobs with group_reporting: bins and bytes added, extremes kept."""
    parts = [job["read"] for job in jobs]
    bins: Counter[str] = Counter()
    for part in parts:
        bins.update(part["clat_ns"]["bins"])
    ios = sum(part["total_ios"] for part in parts)
    return jobs[0] | {
        "job_runtime": sum(job["job_runtime"] for job in jobs),
        "read": {
            "io_bytes": sum(part["io_bytes"] for part in parts),
            "total_ios": ios,
            "runtime": max(part["runtime"] for part in parts),
            "clat_ns": {
                "min": min(part["clat_ns"]["min"] for part in parts),
                "max": max(part["clat_ns"]["max"] for part in parts),
                "bins": dict(bins),
            },
            "lat_ns": {
                "mean": sum(part["lat_ns"]["mean"] * part["total_ios"] for part in parts) / ios
            },
        },
    }


def merged(jobs: list[dict[str, Any]]) -> HdrHistogram:
    parts = [job.directions["read"] for job in jobs_of({"jobs": jobs})]
    total: Bins = Counter()
    for part in parts:
        total.update(part.bins)
    return merge([BinEncoder().encode(total, *limits_of(parts)) or ""])


def log_times(seed: int, count: int = 2000) -> list[int]:
    draw = random.Random(seed)
    return [int(draw.lognormvariate(11.0, 1.5)) for _ in range(count)]


# -- bins --------------------------------------------------------------------------------------
def test_a_bin_stands_for_times_within_the_error_that_is_stated() -> None:
    draw = random.Random(23)
    times = [
        *range(300),
        *(draw.randrange(1, BEYOND_NS) >> draw.randrange(30) for _ in range(5000)),
    ]
    for time in times:
        told = value_ns(place_of(time))
        assert abs(told - time) <= ERROR * time + 0.5, time
        assert time >= 128 or told == time


def test_the_scale_ends_where_fio_says() -> None:
    assert value_ns(COUNT - 1) == LAST_NS == 17_112_760_320
    assert BEYOND_NS - LAST_NS <= ERROR * BEYOND_NS


def test_no_percentile_is_above_the_longest_time_nor_far_below() -> None:
    for seed in range(40):
        times = log_times(seed, 500)
        at = percentiles(merged([entry(times)]), (50.0, 99.0, 99.9999, 100.0))
        assert at[100.0] * 1e9 <= max(times)
        assert at[100.0] * 1e9 >= max(times) * (1 - ERROR - 0.002)
        exact = sorted(times)[int(0.5 * len(times) + 0.5) - 1]
        assert abs(at[50.0] * 1e9 - exact) <= exact * (ERROR + 0.002)


def test_times_beyond_the_scale_are_counted_and_told_as_the_longest() -> None:
    within, longest = 5_000_000, 40_000_000_000
    bins = bounded({within: 9, LAST_NS: 3}, within, longest)
    assert bins == {within: 9, longest: 3}
    assert beyond({within: 9, LAST_NS: 3}, longest) == 3
    assert beyond({LAST_NS: 3}, LAST_NS + 1000) == 0


# -- groups ------------------------------------------------------------------------------------
def test_merged_bins_are_equal_with_and_without_group_reporting() -> None:
    jobs = [entry(log_times(seed), runtime=2000 + seed) for seed in range(4)]
    together = [grouped(jobs)]
    which = (50.0, 99.0, 99.99, 100.0)
    assert percentiles(merged(jobs), which) == percentiles(merged(together), which)
    first, second = jobs_of({"jobs": jobs}), jobs_of({"jobs": together})
    assert wall_s(first) == wall_s(second) == 2.003
    assert sum(sum(job.cpu_s) for job in first) == pytest.approx(
        sum(sum(job.cpu_s) for job in second)
    )
    assert sum(job.directions["read"].in_flight_s for job in first) == pytest.approx(
        second[0].directions["read"].in_flight_s
    )


def test_the_percentile_of_a_group_is_none_of_an_average() -> None:
    quick, slow = entry([1000] * 900), entry([1_000_000] * 100)
    assert percentiles(merged([quick, slow]), (50.0,))[50.0] == pytest.approx(
        1e-6, rel=ERROR + 0.001
    )


def test_the_rate_of_a_group_is_over_the_time_of_its_longest_job() -> None:
    jobs = jobs_of({"jobs": [entry([1000] * 16384, runtime=500), entry([2000] * 1024, 1 << 20)]})
    assert wall_s(jobs) == 2.0
    assert together_s(jobs) / wall_s(jobs) == 0.25


def test_jobs_that_wait_for_others_are_a_stage_of_their_own() -> None:
    after = entry([1000] * 10, runtime=3000) | {"job options": {"stonewall": "1"}}
    jobs = jobs_of({"jobs": [entry([1000] * 10), entry([1000] * 10), after]})
    assert [len(stage) for stage in stages(jobs)] == [2, 1]
    assert wall_s(jobs) == together_s(jobs) == 5.0


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda job: job["read"].pop("io_bytes"), "'io_bytes' is missing"),
        (lambda job: job["read"].update(runtime=None), "'runtime' is no number"),
        (lambda job: job["read"].update(clat_ns={"max": 5}), "no bins"),
    ],
)
def test_a_figure_that_is_needed_and_missing_is_named(spoil: Any, said: str) -> None:
    job = entry([1000, 2000])
    spoil(job)
    with pytest.raises(FigureError, match=said):
        jobs_of({"jobs": [job]})


# -- seconds -----------------------------------------------------------------------------------
def write_log(path: Path, *seconds: list[int]) -> Path:
    """A log of whole seconds, as fio writes it with `write_hist_log`."""
    lines = []
    for number, times in enumerate(seconds, 1):
        counts = Counter(place_of(each) for each in times)
        bins = ", ".join(str(counts[place]) for place in range(COUNT))
        lines.append(f"{number * 1000 + 3}, 0, 4096, {bins}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_pass_is_cut_into_seconds_and_loses_nothing(tmp_path: Path) -> None:
    times = [log_times(seed, 100 + seed) for seed in range(3)]
    jobs = jobs_of({"jobs": [entry([t for part in times for t in part], runtime=2500)]})
    log = write_log(tmp_path / "1.log", *times[:2])
    parts = slices(jobs, ["op"], [log], 2.5)
    assert [(part.from_s, part.to_s) for part in parts] == [(0.0, 1.0), (1.0, 2.0), (2.0, 2.5)]
    assert [sum(part.bins["op"].values()) for part in parts] == [100, 101, 102]
    assert sum(part.bytes["read"] for part in parts) == 303 * 4096
    total: Bins = Counter()
    for part in parts:
        total.update(part.bins["op"])
    assert total == jobs[0].directions["read"].bins


def test_a_log_that_does_not_fit_the_totals_is_left_aside(tmp_path: Path) -> None:
    jobs = jobs_of({"jobs": [entry(log_times(1, 50))]})
    strange = write_log(tmp_path / "1.log", log_times(2, 80))
    (part,) = slices(jobs, ["op"], [strange], 2.0)
    assert (part.from_s, part.to_s, sum(part.bins["op"].values())) == (0.0, 2.0, 50)
    (part,) = slices(jobs, ["op"], [tmp_path / "absent.log"], 2.0)
    assert sum(part.bins["op"].values()) == 50
