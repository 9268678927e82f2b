"""A cluster with a scheduler: settings read back, a node out, a controller that hangs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from lengths import LONG
from packages import do_without
from sleepers import asleep, nap
from target_context import context_in

from loadstone.cluster import support
from loadstone.errors import WrongInputError
from loadstone.host.processes import matching
from loadstone.journal import open_journals
from loadstone.schedulers.base import Request
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.cluster import Cluster
from loadstone.targets.owned_cluster import OwnedCluster
from loadstone.targets.registry import target_for

SPEC = TargetSpec(
    engine="slurm", settings={"nodes": 2, "slots": 1, "share": 0.4, "node_timeout_s": 5}
)
PREFIX = "owned-"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("owned")
        patch.setenv("LOADSTONE_STATE", str(folder / "state"))
        yield folder


@pytest.fixture(scope="module")
def cluster(base: Path) -> Iterator[OwnedCluster]:
    spec = SPEC.model_copy(update={"data": str(base)})
    kind = target_for(spec)
    try:
        kind.describe(spec)
    except WrongInputError as error:
        do_without(error.message)
    target = kind(spec, context_in(base))
    assert isinstance(target, OwnedCluster)
    try:
        target.open()
        yield target
    finally:
        target.close()
        target.context.journal.close()
    assert open_journals() == []
    assert list(base.glob("loadstone-*")) == []
    assert matching(lambda words: any(str(base) in word for word in words)) == []


def submit(cluster: Cluster, folder: Path, name: str, words: str) -> None:
    """Submits a job with one rank."""
    folder.mkdir(exist_ok=True)
    script = folder / f"{name}.sh"
    script.write_text(f"#!/bin/sh\n{words}\n")
    script.chmod(0o755)
    cluster.scheduler().submit(Request(f"{PREFIX}{name}", script, folder, 1, 1, 1, 300))


def can_be_late() -> bool:
    """Whether this kernel delays packets."""
    try:
        support.check("shared", late_links=True)
    except WrongInputError:
        return False
    return True


def test_settings_are_read_back_from_the_running_cluster(cluster: OwnedCluster) -> None:
    settings: dict[str, Level] = {"link_mbit": 50, "scratch": "local"}
    if not cluster.nodes.unbounded:
        settings["share_per"] = "slot"
    if late := can_be_late():
        settings["link_delay_ms"] = 1
    shaped = cluster.spec.with_settings(settings)
    before = [node.holder.pid for node in cluster.nodes.compute]
    found = {each.factor: each.read_back for each in cluster.restore("", shaped)}
    assert [node.holder.pid for node in cluster.nodes.compute] != before, "it was made anew"
    assert found["target.nodes"] == 2
    assert found["target.slots"] == 1
    assert found["target.scratch"] == "local"
    assert found["target.link_mbit"] == pytest.approx(50, rel=0.02)
    if late:
        assert found["target.link_delay_ms"] == pytest.approx(1, rel=0.02)
    if not cluster.nodes.unbounded:
        assert found["target.share"] == pytest.approx(0.4)
        assert found["target.share_per"] == "slot"
        assert cluster.inventory()["shares_of_slots"] == {"n1": [0.4], "n2": [0.4]}
        groups = {name: Path(members) for name, (members,) in cluster.slot_groups().items()}
        assert len(set(groups.values())) == 2
        assert all(each.exists() for each in groups.values())
    same = [node.holder.pid for node in cluster.nodes.compute]
    cluster.restore("", shaped)
    assert [node.holder.pid for node in cluster.nodes.compute] == same, "nothing had changed"


def test_what_is_told_of_it(cluster: OwnedCluster) -> None:
    assert cluster.functional_only() == ""
    assert set(cluster.link_bytes()) >= {"head", "n1", "n2"}
    found = cluster.inventory()
    assert found["nodes"] == {"n1": 1, "n2": 1}
    assert found["storage"]["kind"] == cluster.scratch().kind
    assert len(cluster.server_pids()) == len(cluster.nodes.every)


@LONG
@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_node_goes_down_under_a_job_and_comes_back(
    cluster: OwnedCluster, tmp_path: Path, how: Literal["kill", "stop"]
) -> None:
    desk = cluster.desk(tmp_path)
    cluster.announce(PREFIX)
    for name in (f"{how}-one", f"{how}-two"):
        submit(cluster, desk / name, name, f"sleep {nap(3477)}")
    with cluster.outage(how):
        assert not cluster.nodes["n2"].runs
        assert len(asleep(nap(3477))) <= 1
        cluster.check_alive()
    assert cluster.ready()
    cluster.forget_all()
    assert asleep(nap(3477)) == []


@LONG
def test_jobs_end_though_the_controller_hangs(cluster: OwnedCluster, tmp_path: Path) -> None:
    """Their nodes are killed; the next trial begins with a cluster that was made anew."""
    desk = cluster.desk(tmp_path)
    cluster.announce(PREFIX)
    submit(cluster, desk / "hung", "hung", f"sleep {nap(3478)}")
    with cluster.outage("pause"):
        cluster.forget_all()
        assert asleep(nap(3478)) == []
        assert not any(node.runs for node in cluster.nodes.compute)
    cluster.restore("", cluster.spec)
    assert cluster.ready()
    assert all(node.runs for node in cluster.nodes.every)
