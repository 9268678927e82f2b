"""A Grid Engine of Loadstone's own: placement, errors, a hung qmaster, a lost node."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from gridengine_bench import gridengine
from lengths import LONG
from session import until
from target_context import context_in

from loadstone.schedulers.base import JobState, Request, Scheduler, SubmissionError
from loadstone.schedulers.registry import scheduler_of
from loadstone.spec.target import TargetSpec
from loadstone.targets.gridengine import GridEngine, GridEngineAtAddress

COMMANDS = ("qsub", "qstat", "qdel", "qacct", "qconf")
AT_GATE = 'while [ ! -e "{gate}" ]; do sleep 0.1; done\n'


@pytest.fixture(scope="module")
def cluster() -> Iterator[GridEngine]:
    with gridengine(node_timeout_s=5) as found:
        yield found


@pytest.fixture
def scheduler(cluster: GridEngine) -> Iterator[Scheduler]:
    found = cluster.scheduler()
    yield found
    until("an end of all jobs", lambda: not found.cancel_all("ge-"))


def _request(folder: Path, name: str, script: str, ranks: int = 1, nodes: int = 1) -> Request:
    desk = folder / name
    desk.mkdir()
    (desk / "job.sh").write_text(f"#!/bin/sh\n{script}")
    return Request(
        name=f"ge-{folder.name}-{name}",
        script=desk / "job.sh",
        folder=desk,
        ranks=ranks,
        nodes=nodes,
        per_node=ranks // nodes,
        time_limit_s=120,
    )


def _in_state(scheduler: Scheduler, request: Request, *states: str) -> JobState:
    def found() -> JobState | None:
        job = scheduler.jobs(request.name).get(request.name)
        return job if job is not None and job.state in states else None

    job: JobState = until(f"{request.name} to be {' or '.join(states)}", found)
    return job


def test_each_node_gets_as_many_ranks_as_were_asked_for(
    scheduler: Scheduler, tmp_path: Path
) -> None:
    """Three jobs share two nodes; `$round_robin` would double the second one's ranks up."""
    gate = tmp_path / "gate"
    jobs = {
        "first": _request(tmp_path, "first", AT_GATE.format(gate=gate), ranks=2, nodes=2),
        "second": _request(tmp_path, "second", AT_GATE.format(gate=gate), ranks=2, nodes=2),
        "packed": _request(tmp_path, "packed", "exit 0\n", ranks=2, nodes=1),
    }
    for request in jobs.values():
        scheduler.submit(request)
    for name in ("first", "second"):
        job = _in_state(scheduler, jobs[name], "running")
        assert sorted(job.nodes) == ["n1", "n2"]
    waits = _in_state(scheduler, jobs["packed"], "waiting")
    reason = until("a reason", lambda: scheduler.jobs(waits.name)[waits.name].reason)
    assert "full" in reason or "offers" in reason
    gate.touch()
    packed = _in_state(scheduler, jobs["packed"], "ended", "failed")
    assert (packed.state, len(packed.nodes)) == ("ended", 1)


def test_a_job_in_error_tells_its_reason_and_can_be_cancelled(
    scheduler: Scheduler, tmp_path: Path
) -> None:
    request = _request(tmp_path, "gone", "exit 0\n")
    where = request.folder.rename(tmp_path / "moved")
    request = Request(
        name=request.name,
        script=where / "job.sh",
        folder=request.folder,
        ranks=1,
        nodes=1,
        per_node=1,
        time_limit_s=60,
    )
    scheduler.submit(request)
    job = _in_state(scheduler, request, "failed")
    assert job.reason.startswith("Eqw: ")
    assert str(request.folder) in job.reason
    assert "\n" not in job.reason
    assert scheduler.cancel_all(request.name) == [job.id]
    until("its end", lambda: not scheduler.cancel_all(request.name))


def test_mpirun_starts_the_ranks_on_the_nodes_of_the_job(
    cluster: GridEngine, scheduler: Scheduler, tmp_path: Path
) -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("no Open MPI is installed here (Debian: openmpi-bin)")
    request = _request(tmp_path, "mpi", "", ranks=4, nodes=2)
    words = " ".join(scheduler.launcher(request, "mpi"))
    rank = 'echo "$(hostname) $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE"'
    request.script.write_text(f"#!/bin/sh\nexec {words} sh -c '{rank}'\n")
    before = dict(cluster.link_bytes())
    scheduler.submit(request)
    job = _in_state(scheduler, request, "ended", "failed")
    assert job.state == "ended", (request.folder / "err.txt").read_text()
    said = sorted((request.folder / "out.txt").read_text().splitlines())
    assert [line.split()[0] for line in said] == ["n1", "n1", "n2", "n2"]
    assert sorted(line.split()[1] for line in said) == ["0", "1", "2", "3"]
    assert {line.split()[2] for line in said} == {"4"}
    assert all(cluster.link_bytes()[name] > before[name] for name in ("n1", "n2"))


def test_a_cluster_of_somebody_else_is_used_by_its_commands_alone(
    cluster: GridEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same cluster, as a person finds it: commands in PATH, SGE_ROOT and SGE_CELL."""
    spec = cluster.scheduler_spec()
    for name in COMMANDS:
        program = tmp_path / name
        enter = " ".join(f"'{word}'" for word in [*spec.wrap, str(shutil.which(name))])
        program.write_text(f'#!/bin/sh\nexec {enter} "$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for name in ("SGE_ROOT", "SGE_CELL", "SGE_QMASTER_PORT", "SGE_EXECD_PORT"):
        monkeypatch.setenv(name, spec.environment[name])
    asked = TargetSpec(engine="gridengine", server=f"gridengine://{spec.queue}", data=str(tmp_path))
    assert GridEngine.for_spec(asked) is GridEngineAtAddress
    assert GridEngineAtAddress.describe(asked)["server"] == asked.server
    context = context_in(tmp_path)
    with context.journal:
        target = GridEngineAtAddress(asked, context)
        target.check_access()
        target.open()
        assert {node.name: node.slots for node in target.slots()} == {"n1": 2, "n2": 2}
        known = target.scheduler_spec().parallel_environments
        assert known == {"1": "ranks1", "2": "ranks2"}
        request = _request(tmp_path, "job", "exit 0\n", ranks=2, nodes=2)
        target.announce(request.name)
        scheduler = target.scheduler()
        scheduler.submit(request)
        assert _in_state(scheduler, request, "ended", "failed").state == "ended"
        target.close()


def test_where_no_queue_is_of_that_name_it_is_said(
    cluster: GridEngine,
) -> None:
    spec = cluster.scheduler_spec().model_copy(update={"queue": "nowhere.q"})
    assert scheduler_of(spec).nodes() == []


def test_a_qmaster_that_hangs_has_the_job_once(
    cluster: GridEngine, scheduler: Scheduler, tmp_path: Path
) -> None:
    spec = cluster.scheduler_spec().model_copy(update={"call_timeout_s": 1.0})
    hasty = scheduler_of(spec)
    request = _request(tmp_path, "once", "echo ran >>ran\n")
    with cluster.outage("pause"), pytest.raises(SubmissionError) as failed:
        hasty.submit(request)
    assert failed.value.doubtful
    sent = _in_state_if_there(scheduler, request)
    assert (request.folder / "ran").exists() == sent
    assert not sent or (request.folder / "ran").read_text() == "ran\n"


def _in_state_if_there(scheduler: Scheduler, request: Request) -> bool:
    """Whether the job was taken; then it is awaited.

    A later job is awaited first: qmaster takes them in their order.
    """
    after = Request(**{**vars(request), "name": f"{request.name}-after"})
    scheduler.submit(after)
    _in_state(scheduler, after, "ended")
    (request.folder / "ran").unlink()
    if request.name not in scheduler.jobs(request.name):
        return False
    return _in_state(scheduler, request, "ended").state == "ended"


@LONG
def test_a_queue_in_error_is_cleared_before_a_trial(
    cluster: GridEngine, scheduler: Scheduler, tmp_path: Path
) -> None:
    """A prolog that cannot be started puts the queue of its node into the state E."""
    head, queue = cluster.nodes.head, cluster.scheduler_spec().queue
    variables = {**cluster.scheduler_spec().environment, "PATH": os.environ["PATH"]}

    def prolog(path: str) -> None:
        words = ["qconf", "-mattr", "queue", "prolog", path, queue]
        head.run(words, doing="qconf", environment=variables)

    prolog("/nowhere/prolog")
    try:
        request = _request(tmp_path, "victim", "exit 0\n")
        scheduler.submit(request)
        until("an error", lambda: any("E" in node.state for node in scheduler.nodes()))
        scheduler.cancel_all(request.name)
    finally:
        prolog("NONE")
    until("its end", lambda: not scheduler.cancel_all(request.name))
    cluster.restore("", cluster.spec)
    assert all(node.up for node in scheduler.nodes())


@LONG
def test_a_job_over_its_time_limit_is_timed_out(scheduler: Scheduler, tmp_path: Path) -> None:
    request = _request(tmp_path, "long", "sleep 600\n")
    request = Request(**{**vars(request), "time_limit_s": 2})
    scheduler.submit(request)
    job = _in_state(scheduler, request, "timed-out", "failed", "ended")
    assert job.state == "timed-out"
    assert "2 s" in job.reason


@LONG
def test_a_node_that_is_lost_fails_its_job_alone_and_comes_back(
    cluster: GridEngine, scheduler: Scheduler, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    both = [
        _request(tmp_path, name, AT_GATE.format(gate=gate), ranks=2, nodes=1) for name in ("a", "b")
    ]
    for request in both:
        scheduler.submit(request)
    nodes = {_in_state(scheduler, each, "running").nodes[0]: each for each in both}
    assert set(nodes) == {"n1", "n2"}
    with cluster.outage("kill"):
        lost = _in_state(scheduler, nodes["n2"], "node-failed")
        assert "n2" in lost.reason
        gate.touch()
        assert _in_state(scheduler, nodes["n1"], "ended").nodes == ("n1",)
        scheduler.cancel_all(lost.name)
    until("an end of the lost job", lambda: not scheduler.cancel_all(lost.name))
    again = _request(tmp_path, "again", "exit 0\n", ranks=2, nodes=2)
    scheduler.submit(again)
    assert _in_state(scheduler, again, "ended", "failed").state == "ended"
