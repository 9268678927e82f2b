"""A Slurm that Loadstone makes: nodes in namespaces, a controller, real jobs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import slurm_by_hand
from lengths import LONG
from packages import do_without
from session import until
from target_context import context_in

from loadstone.errors import LoadstoneError
from loadstone.schedulers.base import JobState, Launch, Request
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.slurm import Slurm, SlurmAtAddress
from loadstone.targets.slurm.daemons import missing


@contextmanager
def _cluster(folder: Path, **settings: Level) -> Iterator[Slurm]:
    spec = TargetSpec(engine="slurm", settings={"slots": 1, **settings})
    if reason := missing(accounting=settings.get("accounting") == "slurmdbd"):
        do_without(reason)
    try:
        Slurm.describe(spec)
    except LoadstoneError as error:
        do_without(error.message)
    context = context_in(folder)
    with context.journal:
        target = Slurm(spec, context)
        try:
            target.open()
            yield target
        finally:
            target.close()


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    with _cluster(tmp_path_factory.mktemp("slurm"), node_timeout_s=5) as found:
        yield found


def _submit(target: Slurm, desk: Path, name: str, script: str, how: Launch = "mpi") -> Request:
    """A job of two ranks, one on each node; `$launch` starts them."""
    folder = desk / name
    folder.mkdir()
    request = Request(name, folder / "job.sh", folder, 2, 2, 1, 120)
    scheduler = target.scheduler()
    launch = " ".join(scheduler.launcher(request, how))
    request.script.write_text(f'#!/bin/sh\nlaunch="{launch}"\n{script}')
    scheduler.submit(request)
    return request


def _over(target: Slurm, name: str) -> JobState:
    def found() -> JobState | None:
        job = target.scheduler().jobs(name).get(name)
        return job if job is not None and job.over else None

    job: JobState = until(f"an end of {name}", found)
    return job


def test_the_ranks_of_a_distributed_job_are_on_two_hosts_and_talk_over_the_links(
    slurm: Slurm, tmp_path: Path
) -> None:
    how: Launch = "mpi" if shutil.which("mpirun") else "plain"
    before = dict(slurm.link_bytes())
    request = _submit(slurm, slurm.desk(tmp_path), "wide", "$launch hostname\n", how)
    job = _over(slurm, "wide")
    assert job.state == "ended", (request.folder / "err.txt").read_text()
    assert sorted((request.folder / "out.txt").read_text().split()) == ["n1", "n2"]
    assert job.nodes == ("n1", "n2")
    after = slurm.link_bytes()
    assert all(after[name] > before[name] for name in ("n1", "n2"))


def test_its_nodes_are_what_the_settings_say(slurm: Slurm) -> None:
    assert [(node.name, node.slots) for node in slurm.slots()] == [("n1", 1), ("n2", 1)]
    readings = {each.factor: each.read_back for each in slurm.restore("", slurm.spec)}
    assert readings["target.node_timeout_s"] == 5
    assert readings["target.slots"] == 1
    told = slurm.inventory()
    assert "slurm" in told["scheduler"]
    assert told["nodes"] == {"n1": 1, "n2": 1}


@LONG
def test_the_jobs_of_a_node_that_is_killed_have_failed_and_it_comes_back(
    slurm: Slurm, tmp_path: Path
) -> None:
    _submit(slurm, slurm.desk(tmp_path), "lost", "exec sleep 600\n")
    until("it to run", lambda: slurm.scheduler().jobs("lost")["lost"].state == "running")
    with slurm.outage("kill"):
        assert _over(slurm, "lost").state == "node-failed"
    assert len(slurm.slots()) == 2


@LONG
def test_slurmdbd_keeps_accounts(tmp_path: Path) -> None:
    with _cluster(tmp_path, accounting="slurmdbd") as target:
        assert target.scheduler().accounting_missing() == ""
        _submit(target, target.desk(tmp_path), "counted", "exec sleep 0.1\n")
        assert _over(target, "counted").state == "ended"

        def kept() -> bool:
            found = target.scheduler().accounting("counted").get("counted")
            return found is not None and found.ended_s is not None

        until("its account", kept)
        assert target.scheduler().accounting("counted")["counted"].state == "ended"


def test_an_existing_slurm_is_used_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with slurm_by_hand.slurm_by_hand() as own:
        monkeypatch.setenv("SLURM_CONF", str(own.conf))
        monkeypatch.chdir(tmp_path)
        wrong = TargetSpec(engine="slurm", server="slurm://nights")
        context = context_in(tmp_path)
        with context.journal:
            with pytest.raises(LoadstoneError, match="partition nights of this Slurm has no nodes"):
                SlurmAtAddress(wrong, context).check_access()
            spec = TargetSpec(engine="slurm", server=f"slurm://{slurm_by_hand.PARTITION}")
            assert SlurmAtAddress.describe(spec)["server"] == spec.server
            target = SlurmAtAddress(spec, context)
            target.check_access()
            target.open()
            target.check_ready()
            scratch = Path(target.scratch().path)
            assert scratch.is_dir()
            target.announce("mine")
            request = Request("mine", tmp_path / "job.sh", tmp_path, 1, 1, 1, 120)
            request.script.write_text("#!/bin/sh\nexec sleep 600\n")
            target.scheduler().submit(request)
            target.forget("mine")
            assert target.scheduler().jobs("mine")["mine"].state == "cancelled"
            assert target.inventory()["partition"] == slurm_by_hand.PARTITION
            target.close()
            assert not scratch.exists()
