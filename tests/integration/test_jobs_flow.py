"""OPM Flow itself: generated decks of each physics, serial and parallel, and planted faults."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lengths import LONG, long_but
from sample_flow import record

from loadstone.applications.base import FinishedJob
from loadstone.applications.flow.application import COMPLETE, FRESH, RESULT, WORLD, Flow
from loadstone.applications.flow.parameters import FlowParameters
from loadstone.applications.flow.physics import PHYSICS
from loadstone.applications.flow.program import ENVIRONMENT, find_flow, find_resfo
from loadstone.errors import TargetError

pytestmark = [
    pytest.mark.skipif(shutil.which("flow") is None, reason="libopm-simulators-bin is missing"),
    pytest.mark.skipif(shutil.which("mpirun") is None, reason="openmpi-bin is missing"),
]
pytest.importorskip("resfo", reason="the package resfo is not installed")

SMALL: dict[str, Any] = {"size": "8x8x3", "report_steps": 4}
MPIRUN = (
    *("mpirun", "--allow-run-as-root", "--bind-to", "none", "--oversubscribe"),
    *("--mca", "mpi_yield_when_idle", "1"),
)


def generated(**given: Any) -> Flow:
    return Flow(FlowParameters.model_validate({**SMALL, **given}))


class Bench:
    """Runs jobs of a deck as a node does, each in a fresh folder."""

    def __init__(self, folder: Path, flow: Flow, seed: int = 1) -> None:
        self.flow, self.folder = flow, folder
        self.given, self.reference = folder / "given", folder / "reference"
        for each in (self.given, self.reference):
            each.mkdir(parents=True)
        self.facts = flow.make_input(self.given, seed)
        flow.make_reference(self.given, self.reference, "python3")

    def job(self, ranks: int = 1, *, launched: int | None = None) -> FinishedJob:
        """A job of so many ranks; `launched`: the world that its launcher makes instead."""
        number = len(list(self.folder.iterdir()))
        work, output = (self.folder / f"{name}-{number}" for name in ("work", "output"))
        output.mkdir()
        for file in self.facts.files:
            target = work / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.path, target)
        began_s = time.time()
        code = self._run(work, launched or ranks)
        told = record(ranks, began_epoch_s=began_s, run_s=time.time() - began_s, exit_code=code)
        for pattern in self.flow.bring_back():
            for path in work.glob(pattern):
                shutil.copy2(path, output)
        return FinishedJob(output, told, ranks, self.given, self.reference)

    def _run(self, work: Path, ranks: int) -> int:
        words = self.flow.command(ranks, "python3")
        if ranks > 1:
            words = [*MPIRUN, "-n", str(ranks), *words]
        return subprocess.run(
            words,
            cwd=work,
            env={**os.environ, **ENVIRONMENT},
            capture_output=True,
            timeout=600,
            check=False,
        ).returncode

    def failed(self, job: FinishedJob) -> dict[str, str]:
        """The checks that a job does not pass."""
        return {each.name: each.detail for each in self.flow.check(job) if not each.passed}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("flow") / "blackoil", generated())


def test_it_tells_its_version_and_that_of_its_reader() -> None:
    assert "(/" in find_flow()
    assert find_resfo()


def test_a_serial_job_is_right(bench: Bench) -> None:
    job = bench.job()
    assert bench.failed(job) == {}
    assert bench.flow.done_share(job.output) == 1.0


def test_a_parallel_job_is_right_and_one_world(bench: Bench) -> None:
    job = bench.job(2)
    assert bench.failed(job) == {}
    results = {each.name: each.detail for each in bench.flow.check(job)}
    assert results[WORLD] == "2 MPI processes counted by Flow"


def test_two_ranks_that_are_two_worlds_are_seen(bench: Bench) -> None:
    job = bench.job(2, launched=1)
    assert bench.failed(job) == {WORLD: "2 ranks asked, 2 worlds of 1 rank seen"}


@pytest.mark.parametrize("physics", long_but(["co2store"], PHYSICS))
def test_every_physics_runs_and_is_right_in_parallel(tmp_path: Path, physics: str) -> None:
    bench = Bench(tmp_path / "a", generated(physics=physics, report_steps=2))
    assert bench.failed(bench.job(2)) == {}


@pytest.mark.parametrize("physics", long_but(["blackoil"], PHYSICS))
def test_a_changed_porosity_is_caught(tmp_path: Path, physics: str) -> None:
    bench = Bench(tmp_path / "a", generated(physics=physics, fault="porosity"))
    wrong = bench.failed(bench.job())
    assert list(wrong) == [RESULT]
    assert "allowed" in wrong[RESULT]


def test_a_deck_that_stops_at_once_or_at_half_does_not_count(bench: Bench) -> None:
    deck = bench.facts.files[0].path
    text = deck.read_text()
    try:
        deck.write_text(text.replace("TSTEP", "TSTAP"))
        stopped = bench.failed(bench.job())
        deck.write_text(text.replace("4*30", "2*30"))
        half = bench.failed(bench.job())
    finally:
        deck.write_text(text)
    assert stopped.keys() >= {COMPLETE, RESULT}
    assert half[COMPLETE] == "Flow read 2 report steps, the deck has 4"


def test_yesterdays_output_is_seen(bench: Bench) -> None:
    job = bench.job()
    later = replace(job.record, began_epoch_s=job.record.began_epoch_s + 3600)
    assert list(bench.failed(replace(job, record=later))) == [FRESH]


def test_a_mixed_case_deck_runs_under_capitals(bench: Bench, tmp_path: Path) -> None:
    shutil.copyfile(bench.given / "CASE.DATA", tmp_path / "Case_a.data")
    shutil.copyfile(bench.given / "ROCK.INC", tmp_path / "ROCK.INC")
    own = Bench(tmp_path / "own", Flow(FlowParameters(deck=str(tmp_path / "Case_a.data"))))
    assert own.failed(own.job()) == {}
    assert sorted(path.name for path in own.reference.iterdir()) == [
        "CASE_A.PRT",
        "CASE_A.SMSPEC",
        "CASE_A.UNSMRY",
    ]


def test_a_serial_run_that_fails_says_why(tmp_path: Path) -> None:
    path = tmp_path / "BAD.DATA"
    path.write_text("RUNSPEC\nNONSENSE\nSUMMARY\nFOPT\nSCHEDULE\nTSTEP\n1 /\nEND\n")
    with pytest.raises(TargetError, match="the serial run of BAD ended with exit code") as caught:
        Bench(tmp_path / "own", Flow(FlowParameters(deck=str(path))))
    assert "\n" not in caught.value.message


def _decks() -> Iterator[Any]:
    """Physics, sizes and wells change with the seed."""
    for seed in range(1, 51):
        size = f"{8 + seed % 5}x{8 + seed % 3}x{2 + seed % 4}"
        given = {"physics": list(PHYSICS)[seed % 4], "size": size, "wells": 2 + seed % 4}
        yield pytest.param(seed, {**given, "report_steps": 6}, id=f"seed{seed}")


@LONG
@pytest.mark.parametrize(("seed", "given"), list(_decks()))
def test_serial_and_parallel_agree_and_a_porosity_a_little_off_is_caught(
    tmp_path: Path, seed: int, given: dict[str, Any]
) -> None:
    bench = Bench(tmp_path / "right", generated(**given), seed)
    assert bench.failed(bench.job(2)) == {}
    wrong = Bench(tmp_path / "wrong", generated(**given, fault="porosity"), seed)
    assert list(wrong.failed(wrong.job())) == [RESULT]
