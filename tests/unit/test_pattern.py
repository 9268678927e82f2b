"""The application `pattern`: its program, and the checks of what it tells."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from sample_flow import finished

from loadstone.applications import pattern_replay
from loadstone.applications.pattern import (
    COMPLETE,
    READ,
    WRITTEN,
    Pattern,
    PatternParameters,
    read_result,
    told,
)
from loadstone.applications.pattern_replay import (
    CONFIGURATION_FILE,
    INPUT_FILE,
    START,
    STEADY,
    Configuration,
    due_times,
    part_of,
    size_of,
)

SMALL = PatternParameters(volume_mb=0.3, steady=0.05, writes_per_s=200)
STUDY = Configuration(
    seed=1,
    start_s=36,
    steady_s=60,
    writes_per_s=32,
    mean_bytes=8192,
    peak_every_s=20,
    peak_s=4,
)


@pytest.fixture
def given(tmp_path: Path) -> Path:
    folder = tmp_path / "given"
    folder.mkdir()
    Pattern(SMALL).make_input(folder, 5)
    return folder


def replayed(given: Path, ranks: int = 1) -> Path:
    """Runs the ranks of a job, one after the other; returns the output folder."""
    output, work = given.parent / "output", given.parent / "work"
    shutil.copytree(given, work)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(work)
        patch.setenv("LOADSTONE_OUTPUT", str(output))
        patch.setenv("LOADSTONE_RANKS", str(ranks))
        for rank in range(ranks):
            patch.setenv("LOADSTONE_RANK", str(rank))
            assert pattern_replay.main([CONFIGURATION_FILE]) == 0
    return output


@pytest.mark.parametrize("ranks", [1, 3])
def test_what_was_replayed_passes_and_tells_its_rates(given: Path, ranks: int) -> None:
    output = replayed(given, ranks)
    results = Pattern(SMALL).check(finished(output, given, ranks=ranks, began_epoch_s=0.0))
    assert [(result.name, result.passed) for result in results] == [
        (COMPLETE, True),
        (READ, True),
        (WRITTEN, True),
    ]
    assert "start: " in results[0].detail
    assert "read at" in results[0].detail
    assert "steady: " in results[0].detail
    ranks_told = [read_result(output / f"pattern-{rank}.json") for rank in range(ranks)]
    assert sum(each.phases[0].read_bytes for each in ranks_told) == 300_000
    assert sum(each.phases[1].writes for each in ranks_told) == pytest.approx(10, abs=ranks)


def altered(output: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = output / "pattern-0.json"
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))


@pytest.mark.parametrize(
    ("change", "name", "said"),
    [
        (lambda told: told.update(read_sum="0" * 64), READ, "read other bytes"),
        (lambda told: told.update(verified_sum="0" * 64), WRITTEN, "read back other bytes"),
        (lambda told: told.update(began_epoch_s=1.0), COMPLETE, "older than the job's run"),
        (lambda told: told.update(ranks=1), COMPLETE, "0 of 1 wrote what is of 0 of 2"),
        (lambda told: told["phases"][0].update(written_bytes=5), COMPLETE, "and wrote 5"),
        (lambda told: told.update(phases=told["phases"][1:]), COMPLETE, "other phases"),
    ],
)
def test_each_wrong_result_is_caught_by_its_check(
    given: Path, change: Callable[[dict[str, Any]], None], name: str, said: str
) -> None:
    output = replayed(given, 2)
    altered(output, change)
    results = Pattern(SMALL).check(finished(output, given, ranks=2, began_epoch_s=1e9))
    wrong = {result.name: result.detail for result in results if not result.passed}
    assert said in wrong[name]


def test_a_rank_without_a_result_fails_every_check(given: Path) -> None:
    output = replayed(given)
    results = Pattern(SMALL).check(finished(output, given, ranks=2, began_epoch_s=0.0))
    assert [result.passed for result in results] == [False] * 3
    assert "pattern-1.json" in results[0].detail


def test_another_input_is_seen(given: Path) -> None:
    output = replayed(given)
    data = bytearray((given / INPUT_FILE).read_bytes())
    data[1000] ^= 1
    (given / INPUT_FILE).write_bytes(data)
    results = Pattern(SMALL).check(finished(output, given, began_epoch_s=0.0))
    assert [result.name for result in results if not result.passed] == [READ]


def test_a_second_run_in_the_same_folder_is_refused(
    given: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed(given)
    monkeypatch.chdir(given.parent / "work")
    with pytest.raises(FileExistsError):
        pattern_replay.Replay(STUDY, 0, 1).run()


def test_the_same_seed_makes_the_same_input(tmp_path: Path) -> None:
    sums = []
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        (tmp_path / name).mkdir()
        facts = Pattern(SMALL).make_input(tmp_path / name, seed)
        sums.append(facts.sums[INPUT_FILE])
    assert sums[0] == sums[1] != sums[2]
    assert facts.size_bytes > 300_000


def test_small_writes_come_at_the_rate_with_peaks_between() -> None:
    times = due_times(STUDY, 1)
    assert len(times) == 60 * 32 + 2 * 4 * 32
    assert sum(time == 20.0 for time in times) == 128 + 1
    assert times == sorted(times)
    halves = due_times(STUDY, 2)
    assert len(halves) == len(times) / 2


def test_sizes_are_those_of_the_study() -> None:
    draw = random.Random(1)
    sizes = [size_of(8192, draw) for _ in range(5000)]
    assert 2 * 1024 <= min(sizes) < 2200
    assert 60 * 1024 < max(sizes) <= 100 * 1024
    assert fmean(sizes) == pytest.approx(8192, rel=0.1)


@pytest.mark.parametrize(("size", "ranks"), [(10, 3), (300_000, 7), (2, 4)])
def test_parts_are_all_of_the_input(size: int, ranks: int) -> None:
    parts = [part_of(size, rank, ranks) for rank in range(ranks)]
    assert parts[0][0] == 0
    assert parts[-1][1] == size
    assert all(a[1] == b[0] for a, b in pairwise(parts))


def test_rates_are_bytes_by_the_time_within_calls() -> None:
    phase = pattern_replay.Phase(
        START, duration_s=9, read_bytes=8_000_000, read_s=2, written_bytes=6_000_000, write_s=1
    )
    phase.flush_s, phase.longest_write_s = 2.0, 0.25
    result = pattern_replay.Result(0, 1, 0.0, [phase], "", "", "")
    said = told([result], START)
    assert said == ("start: 9.00 s, read at 4.0 MB/s, written at 2.0 MB/s, slowest write 250.0 ms")


def test_the_command_runs_it_in_the_working_folder(given: Path) -> None:
    words = Pattern(SMALL).command(1, sys.executable)
    subprocess.run(words, cwd=given, check=True)
    assert read_result(given / "pattern-0.json").ranks == 1


def test_the_program_needs_the_standard_library_only() -> None:
    code = (
        "import sys, loadstone.applications.pattern_replay as p\n"
        "known = sys.stdlib_module_names | {'loadstone', '__main__'}\n"
        "other = {name.partition('.')[0] for name in sys.modules} - known\n"
        "print(sorted(name for name in other if not name.startswith('_')))\n"
    )
    # Without the site's own start-up modules.
    path = str(Path(pattern_replay.__file__).parent.parent.parent)
    ended = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.strip() == "[]"


def test_phases_are_named_in_their_order(given: Path) -> None:
    result = read_result(replayed(given) / "pattern-0.json")
    assert [phase.name for phase in result.phases] == [START, STEADY, "verify"]
    assert result.phases[2].read_bytes == sum(phase.written_bytes for phase in result.phases)
