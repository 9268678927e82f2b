"""One suite for every scheduler: what Loadstone asks of it holds on a real one.

A scheduler's bench is a context manager that gives the spec of a running one. It is in `BENCHES`,
and skips the tests where it is not installed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path

import pytest
from session import until

from loadstone.schedulers.base import JobState, Request, Scheduler, SchedulerSpec
from loadstone.schedulers.registry import SCHEDULERS, scheduler_of

BENCHES = {
    "slurm": "slurm_by_hand:bench",
    "gridengine": "gridengine_bench:bench",
    "plain": "plain_bench:bench",
}
"""Scheduler: where its bench is, among the modules of the tests."""

_NUMBERS = itertools.count()
_AT_GATE = 'while [ ! -e "{gate}" ]; do sleep 0.1; done\n'


@pytest.fixture(scope="module", params=list(BENCHES))
def spec(request: pytest.FixtureRequest) -> Iterator[SchedulerSpec]:
    module, _, name = BENCHES[request.param].partition(":")
    bench: Callable[[], AbstractContextManager[SchedulerSpec]] = getattr(
        import_module(module), name
    )
    with bench() as found:
        yield found


class Desk:
    """Submits small jobs whose names begin with a prefix of this test's own."""

    def __init__(self, spec: SchedulerSpec, folder: Path) -> None:
        self.spec = spec
        self.scheduler: Scheduler = scheduler_of(spec)
        self.prefix = f"ls{next(_NUMBERS)}-"
        self.folder = folder

    def request(self, suffix: str, ranks: int = 1, nodes: int = 1) -> Request:
        folder = self.folder / f"{self.prefix}{suffix}"
        folder.mkdir()
        return Request(
            name=folder.name,
            script=folder / "job.sh",
            folder=folder,
            ranks=ranks,
            nodes=nodes,
            per_node=ranks // nodes,
            time_limit_s=120,
        )

    def submit(self, script: str, suffix: str = "a") -> Request:
        request = self.request(suffix)
        self.send(request, script)
        return request

    def send(self, request: Request, script: str) -> str:
        request.script.write_text(f"#!/bin/sh\n{script}")
        request.script.chmod(0o755)
        return self.scheduler.submit(request)

    def job(self, suffix: str = "a") -> JobState | None:
        return self.scheduler.jobs(self.prefix).get(f"{self.prefix}{suffix}")

    def over(self, suffix: str = "a") -> JobState:
        def found() -> JobState | None:
            job = self.job(suffix)
            return job if job is not None and job.over else None

        job: JobState = until(f"an end of {suffix}", found)
        return job

    def until_state(self, state: str, suffix: str = "a") -> JobState:
        def found() -> JobState | None:
            job = self.job(suffix)
            return job if job is not None and job.state == state else None

        job: JobState = until(f"{suffix} to be {state}", found)
        return job


@pytest.fixture
def desk(spec: SchedulerSpec, tmp_path: Path) -> Iterator[Desk]:
    found = Desk(spec, tmp_path)
    yield found
    found.scheduler.cancel_all(found.prefix)
    until("an end of all jobs", lambda: not found.scheduler.cancel_all(found.prefix))


def test_every_scheduler_has_a_bench() -> None:
    assert sorted(BENCHES) == sorted(SCHEDULERS)


def test_a_job_runs_on_a_node_and_is_found_by_its_name(desk: Desk) -> None:
    request = desk.request("a")
    id_ = desk.send(request, "echo said; echo complained >&2\n")
    job = desk.over()
    assert (job.state, job.id, job.name) == ("ended", id_, request.name)
    assert job.exit_code in {0, None}
    assert set(job.nodes) <= {node.name for node in desk.scheduler.nodes()}
    times = [each for each in (job.submitted_s, job.began_s, job.ended_s) if each is not None]
    assert times == sorted(times)
    until("its output", lambda: (request.folder / "out.txt").read_text() == "said\n")
    assert (request.folder / "err.txt").read_text() == "complained\n"


def test_a_job_that_fails_has_not_ended_well(desk: Desk) -> None:
    desk.submit("exit 3\n")
    job = desk.over()
    assert job.state == "failed"
    assert job.exit_code in {3, None}


def test_jobs_of_another_prefix_are_left_alone(desk: Desk, spec: SchedulerSpec) -> None:
    other = Desk(spec, desk.folder)
    mine, others = desk.submit("exec sleep 600\n"), other.submit("exec sleep 600\n")
    try:
        desk.until_state("running")
        other.until_state("running")
        assert len(desk.scheduler.cancel_all(desk.prefix)) == 1
        assert desk.over().state == "cancelled"
        assert (found := other.job()) is not None
        assert found.state == "running"
        assert list(other.scheduler.jobs(other.prefix)) == [others.name] != [mine.name]
    finally:
        other.scheduler.cancel_all(other.prefix)
    assert other.over().state == "cancelled"
    assert desk.scheduler.cancel_all(desk.prefix) == []


def test_what_was_never_submitted_is_not_there(desk: Desk) -> None:
    assert desk.scheduler.jobs(desk.prefix) == {}
    assert desk.scheduler.accounting(desk.prefix) == {}


def test_a_job_too_many_waits_and_says_why(desk: Desk) -> None:
    gate = desk.folder / "gate"
    slots = sum(node.slots for node in desk.scheduler.nodes() if node.up)
    suffixes = [f"j{number}" for number in range(slots + 1)]
    for suffix in suffixes:
        desk.submit(_AT_GATE.format(gate=gate), suffix)

    def full() -> bool:
        jobs = desk.scheduler.jobs(desk.prefix).values()
        return sorted(job.state for job in jobs) == ["running"] * slots + ["waiting"]

    until("a full cluster", full)
    waiting = [j for j in desk.scheduler.jobs(desk.prefix).values() if j.state == "waiting"]
    until("a reason", lambda: desk.scheduler.jobs(desk.prefix)[waiting[0].name].reason)
    gate.touch()
    assert {desk.over(suffix).state for suffix in suffixes} == {"ended"}


def test_each_rank_is_a_process_on_the_nodes_of_its_job(desk: Desk) -> None:
    nodes = min(2, sum(node.up for node in desk.scheduler.nodes()))
    request = desk.request("a", ranks=2, nodes=nodes)
    words = [*desk.scheduler.launcher(request, "plain"), "sh", "-c", "'echo rank $(hostname) $$'"]
    desk.send(request, f"exec {' '.join(map(_quoted, words))}\n")
    job = desk.over()
    assert job.state == "ended", (request.folder / "err.txt").read_text()
    ranks = (request.folder / "out.txt").read_text().splitlines()
    assert len(set(ranks)) == 2
    assert len(job.nodes) == nodes


def _quoted(word: str) -> str:
    """For the shell, unless the test has quoted it already."""
    plain = word.startswith("'") or not set(word) & set(' \n\t"$&;|<>(){}*?')
    return word if plain else "'" + word.replace("'", "'\\''") + "'"


def test_what_a_person_has_set_for_himself_steers_no_job(
    spec: SchedulerSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = {
        "SLURM_CPU_BIND": "quiet,mask_cpu:0x1",
        "SLURM_NTASKS": "7",
        "SLURM_JOB_ID": "9999",
        "SBATCH_TIMELIMIT": "0:05",
        "SGE_TASK_ID": "7",
        "OMPI_COMM_WORLD_RANK": "3",
    }
    for name, value in mine.items():
        monkeypatch.setenv(name, value)
    desk = Desk(spec, tmp_path)
    request = desk.submit("env\n")
    assert desk.over().state == "ended"
    told = (request.folder / "out.txt").read_text().splitlines()
    assert not {f"{name}={value}" for name, value in mine.items()} & set(told)
    assert set(mine) <= set(desk.scheduler.removed())


def test_accounting_has_the_job_or_says_why_there_is_none(desk: Desk) -> None:
    request = desk.submit("exit 0\n")
    assert desk.over().state == "ended"
    if desk.scheduler.accounting_missing():
        assert desk.scheduler.accounting(desk.prefix) == {}
    else:
        found = until("its account", lambda: desk.scheduler.accounting(desk.prefix))
        assert found[request.name].state == "ended"


def test_it_tells_its_version(desk: Desk) -> None:
    assert any(sign.isdigit() for sign in desk.scheduler.version())
