"""What a cluster on this machine needs, and what its settings can be, before it is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadstone.cluster import support
from loadstone.cluster.glusterfs import GlusterFs
from loadstone.cluster.plan import STORAGE, NodePlan
from loadstone.cluster.sshfs import Sshfs
from loadstone.cluster.storage import Local, Shared
from loadstone.errors import WrongInputError
from loadstone.host import cpu_group
from loadstone.host.machine import Absent
from loadstone.journal import Journal
from loadstone.placements import programs
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.cluster_settings import NODE_SETTINGS, optional_number
from loadstone.targets.owned_cluster import OwnedCluster, plans_of


class Small(OwnedCluster):
    """It is never made."""

    engine = "small"


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a cluster needs is there."""
    monkeypatch.setattr(support, "has_capability", lambda _number: True)
    monkeypatch.setattr(support, "_refused_namespaces", lambda: "")
    monkeypatch.setattr(support, "_refused_queue", lambda _queue: "")
    monkeypatch.setattr(programs, "find", lambda name: Path("/usr/bin") / name)
    for each in support.STORAGES.values():
        monkeypatch.setattr(each, "absent", lambda: None)


@pytest.mark.parametrize("storage", support.STORAGES)
@pytest.mark.usefixtures("root")
def test_nothing_is_missing(storage: str) -> None:
    support.check(storage, slow_links=True, late_links=True)


def test_without_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "has_capability", lambda _number: False)
    with pytest.raises(WrongInputError, match="only root may make") as said:
        support.check("shared", slow_links=False)
    assert "use the target local" in str(said.value.advice)


@pytest.mark.parametrize(
    ("missing", "storage", "package"),
    [
        ("unshare", "shared", "util-linux"),
        ("ip", "shared", "iproute2"),
        ("tc", "shared", "iproute2"),
        ("mkfs.ext4", "local", "e2fsprogs"),
        ("sshfs", "sshfs", "sshfs"),
        ("glusterd", "glusterfs", "glusterfs-server"),
    ],
)
@pytest.mark.usefixtures("root")
def test_a_missing_program_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, missing: str, storage: str, package: str
) -> None:
    def find(name: str) -> Path | None:
        return None if name == missing else Path("/usr/bin") / name

    monkeypatch.setattr(programs, "find", find)
    with pytest.raises(WrongInputError) as said:
        support.check(storage, slow_links=True)
    assert said.value.message == f"{missing} is missing: install the package {package}"


@pytest.mark.usefixtures("root")
def test_a_program_that_is_not_used_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        programs, "find", lambda name: None if name in {"tc", "sshfs"} else Path("/usr/bin") / name
    )
    support.check("shared", slow_links=False)


@pytest.mark.usefixtures("root")
def test_where_the_kernel_makes_no_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "_refused_namespaces", lambda: "Operation not permitted")
    with pytest.raises(WrongInputError, match=r"makes no namespaces .*: Operation not permitted"):
        support.check("shared", slow_links=False)


@pytest.mark.parametrize(
    ("queue", "said"),
    [
        ("tbf", r"no link_mbit \(tc tbf\): Specified qdisc kind is unknown"),
        ("netem", r"no link_delay_ms \(tc netem\): Specified qdisc kind is unknown"),
    ],
)
@pytest.mark.usefixtures("root")
def test_where_the_kernel_makes_no_slow_links(
    monkeypatch: pytest.MonkeyPatch, queue: str, said: str
) -> None:
    def refused(words: str) -> str:
        return "Specified qdisc kind is unknown" if words.startswith(queue) else ""

    monkeypatch.setattr(support, "_refused_queue", refused)
    support.check("shared")
    with pytest.raises(WrongInputError, match=said):
        support.check("shared", slow_links=True, late_links=True)


def test_nfs_is_named_as_missing() -> None:
    with pytest.raises(WrongInputError, match="nfs: this needs a client in the kernel") as said:
        support.storage_class("nfs")
    assert said.value.advice == "choose local, shared, sshfs, glusterfs"
    with pytest.raises(WrongInputError, match="no scratch 'tape'"):
        support.storage_class("tape")


def test_only_network_storage_has_a_node_of_its_own() -> None:
    assert Shared.storage_plan(None) == Local.storage_plan(None) == []
    for kind in (Sshfs, GlusterFs):
        assert kind.storage_plan(100) == [NodePlan(STORAGE, link_mbit=100)]


def test_sshfs_is_mounted_without_ssh_from_the_storage_node(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        words = Sshfs(journal, tmp_path / "cluster").words()
    assert words[:2] == ["sshfs", "-o"]
    assert "directport=2022" in words[2].split(",")
    assert words[3:] == [f"storage:{tmp_path}/cluster/exported", f"{tmp_path}/cluster/scratch"]


@pytest.mark.parametrize(
    ("name", "level", "said"),
    [
        ("nodes", 0, "target.nodes is 0"),
        ("slots", 2.5, "target.slots is 2.5"),
        ("share", "much", "target.share is 'much'"),
        ("link_mbit", -1, "target.link_mbit is -1"),
        ("scratch", "nfs", "nfs: this needs a client"),
    ],
)
def test_levels_that_no_setting_has(name: str, level: str | float, said: str) -> None:
    with pytest.raises(WrongInputError, match=said):
        NODE_SETTINGS[name].check(name, level)


@pytest.mark.parametrize("name", NODE_SETTINGS)
def test_every_default_is_a_level(name: str) -> None:
    NODE_SETTINGS[name].check(name, NODE_SETTINGS[name].default)


def test_a_word_stands_for_no_number() -> None:
    spec = TargetSpec(engine="slurm", settings={"link_mbit": "unlimited", "share": 0.5})
    assert optional_number(spec, "link_mbit") is None
    assert optional_number(spec, "share") == 0.5
    assert optional_number(spec, "link_delay_ms") is None


def test_nodes_are_as_the_settings_say() -> None:
    settings = {"nodes": 1, "slots": 3, "share": 0.5, "link_mbit": 10, "link_delay_ms": 2}
    assert plans_of(TargetSpec(engine="slurm", settings=settings)) == [
        NodePlan("n1", 3, 0.5, 10, 2)
    ]


@pytest.mark.usefixtures("root")
def test_a_storage_link_needs_a_storage_node() -> None:
    spec = TargetSpec(engine="slurm", settings={"storage_link_mbit": 10})
    with pytest.raises(WrongInputError, match="with scratch shared there is no storage node"):
        Small.describe(spec)


@pytest.mark.usefixtures("root")
def test_a_wrong_setting_is_told_once() -> None:
    """By the setting itself, with the line that it stands on."""
    spec = TargetSpec(engine="slurm", settings={"nodes": 0, "slots": 3})
    with pytest.raises(WrongInputError, match=r"target\.nodes is 0"):
        Small.setting(spec, "nodes", 0)
    assert Small.describe(spec)["nodes"] == "2 of 3 slots, on this machine"


def test_nodes_without_a_bound_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    spec, profile = TargetSpec(engine="slurm"), ProfileSpec()
    monkeypatch.setattr(cpu_group, "place", lambda: Path("/sys/fs/cgroup"))
    assert Small.cautions(spec, profile) == []
    monkeypatch.setattr(cpu_group, "place", lambda: Absent("no group bounds the time"))
    [notice] = Small.cautions(spec, profile)
    assert notice.severity == "warning"
    assert notice.message == "the nodes are not held to their shares: no group bounds the time"
