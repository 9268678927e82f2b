"""Two real nodes on this machine: what is their own, what they share, and what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psutil
import pytest
from lengths import LONG
from packages import do_without
from sleepers import asleep, nap

from loadstone.cli.recover import command as recover
from loadstone.cluster import support
from loadstone.cluster.node import Node
from loadstone.cluster.nodes import Nodes
from loadstone.cluster.plan import HEAD, STORAGE, compute_plans
from loadstone.cluster.storage import WorkingStorage
from loadstone.errors import ExitCode, TargetError, WrongInputError
from loadstone.host import cpu_group, own_group
from loadstone.host.machine import Absent
from loadstone.host.processes import matching
from loadstone.journal import Journal, open_journals
from loadstone.placements import tree
from loadstone.placements.account import Account

VICTIM = Path(__file__).with_name("cluster_victim.py")
SHARE = 0.4
SENT = 4 << 20
MOST_ENTRIES = 30
_RECEIVE = """
import socket
with socket.create_server(("", 5000)) as listener:
    print("ready", flush=True)
    client, _ = listener.accept()
    got = 0
    while part := client.recv(1 << 16):
        got += len(part)
    print(got, flush=True)
"""
_SEND = """
import socket, sys
with socket.create_connection((sys.argv[1], 5000)) as peer:
    peer.sendall(bytes(int(sys.argv[2])))
"""


_KNOCK = """
import socket, sys
socket.socket().connect_ex((sys.argv[1], 1))
"""


def why_not(storage: str) -> str | None:
    """Why no cluster can be made here, or None."""
    try:
        support.check(storage, slow_links=True)
    except WrongInputError as error:
        return error.message
    return None


pytestmark = pytest.mark.skipif(
    why_not("local") is not None, reason=str(why_not("local") or "it can be made")
)


@dataclass
class Made:
    """A cluster of a test."""

    nodes: Nodes
    storage: WorkingStorage
    folder: Path


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Made]]:
    """Makes clusters with two nodes; all are gone afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        base = tmp_path_factory.mktemp("cluster")
        patch.setenv("LOADSTONE_STATE", str(base / "state"))
        account = Account("me", os.getuid(), os.getgid(), switch=False)
        with Journal(base / "journal.jsonl", "pytest") as journal:

            def make(kind: str, storage_mbit: float | None = None) -> Made:
                folder, _ = tree.make(journal, base, account, "pytest")
                plans = compute_plans(2, 2, processors=2, share=SHARE)
                storage = support.STORAGES[kind](journal, folder)
                plans += storage.storage_plan(storage_mbit)
                storage.make(plans)
                nodes = Nodes(journal, folder, plans)
                nodes.open()
                storage.serve(nodes)
                for node in nodes.every:
                    storage.mount_on(node)
                return Made(nodes, storage, folder)

            yield make
        assert open_journals() == []
        assert matching(lambda words: any(str(base) in word for word in words)) == []
        assert list(base.glob("loadstone-*")) == []


@pytest.fixture(scope="module")
def made(make: Callable[..., Made]) -> Made:
    return make("local")


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def groups_within(node: Node) -> list[str]:
    """The control groups of a command that is run on a node."""
    return node.run(["cat", "/proc/self/cgroup"], doing="asking").splitlines()


def test_a_node_has_a_name_and_finds_the_others(made: Made) -> None:
    for node in made.nodes.every:
        assert node.run(["uname", "-n"], doing="asking").strip() == node.name
        for other in made.nodes.every:
            told = node.run(["getent", "hosts", other.name], doing="asking").split()
            assert told[:2] == [other.address, other.name]


def test_what_runs_in_a_node_is_in_its_group(made: Made) -> None:
    if not isinstance(cpu_group.place(), Path):
        do_without("no control group bounds the processor time here")
    assert made.nodes.unbounded == ""
    first, second = made.nodes.compute
    assert first.held_share() == SHARE
    assert made.nodes.head.held_share() is None
    one, other = (
        {line for line in groups_within(node) if "loadstone-" in line} for node in (first, second)
    )
    assert one
    assert other
    assert not one & other


def test_a_node_sees_its_own_processes_only(made: Made) -> None:
    first, second = made.nodes.compute
    first.popen(["sleep", "301"], made.folder / "log")
    wait_until(lambda: "sleep 301" in first.run(["ps", "ax"], doing="listing"))
    assert "sleep 301" not in second.run(["ps", "ax"], doing="listing")
    assert any("301" in each.cmdline() for each in first.processes())


def test_a_node_has_a_tmp_and_shared_memory_of_its_own(
    made: Made, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first, second = made.nodes.compute
    for name in ("/tmp/of-node", "/dev/shm/of-node"):
        first.run(["touch", name], doing="writing")
        assert not Path(name).exists()
        with pytest.raises(TargetError, match="No such file"):
            second.run(["ls", name], doing="looking")
    desk = tmp_path_factory.mktemp("desk")  # the nodes have it to their end
    made.nodes.show(desk)
    made.nodes.show(desk)
    first.run(["touch", desk / "written"], doing="writing")
    assert (desk / "written").exists()
    assert "written" in second.run(["ls", desk], doing="looking")


def test_bytes_between_nodes_are_counted_at_their_links(made: Made) -> None:
    first, second = made.nodes.compute
    before = made.nodes.link_counters()
    log = made.folder / "receiver.log"
    with second.popen([sys.executable, "-c", _RECEIVE], log) as receiver:
        wait_until(lambda: "ready" in log.read_text())
        first.run([sys.executable, "-c", _SEND, second.name, str(SENT)], doing="sending")
        assert receiver.wait(60) == 0
    assert log.read_text().split() == ["ready", str(SENT)]
    now = made.nodes.link_counters()
    assert now[first.name].from_node - before[first.name].from_node > SENT
    assert now[second.name].to_node - before[second.name].to_node > SENT
    assert now[HEAD].both - before[HEAD].both < SENT / 10


def test_a_local_disk_is_seen_by_its_node_only(made: Made) -> None:
    first, second = made.nodes.compute
    path = made.storage.path / "mine"
    first.run(["touch", path], doing="writing")
    assert [made.storage.seen_on(each) for each in (first, second)] == ["ext4", "ext4"]
    assert not path.exists()
    with pytest.raises(TargetError, match="No such file"):
        second.run(["ls", path], doing="looking")


def test_a_command_that_hangs_is_ended(made: Made) -> None:
    first = made.nodes.compute[0]
    with pytest.raises(TargetError, match=r"waiting on n1 did not end within 0\.2 s"):
        first.run(["sleep", "302"], doing="waiting", timeout_s=0.2)
    wait_until(lambda: not any("302" in each.cmdline() for each in first.processes()))


def test_a_killed_node_takes_all_with_it_and_comes_back(made: Made) -> None:
    first, second = made.nodes.compute
    duration = nap(3473)
    words = f"setsid sleep {duration} & setsid sleep {duration} &"
    second.popen(["/bin/sh", "-c", words], made.folder / "log")
    wait_until(lambda: len(asleep(duration)) == 2)
    first.run([sys.executable, "-c", _KNOCK, second.name], doing="knocking")
    crossed = made.nodes.link_counters()["n2"]
    made.nodes.kill("n2")
    assert not second.runs
    assert asleep(duration) == []
    assert first.run(["uname", "-n"], doing="asking") == "n1\n"
    assert made.nodes.link_counters()["n2"].both >= crossed.both > 0, "its link stays counted"
    with pytest.raises(TargetError, match="the node n2 is down"):
        second.run(["true"], doing="asking")

    node = made.nodes.revive("n2")
    made.storage.mount_on(node)
    assert made.storage.seen_on(node) == "ext4"
    assert node.run(["ls", made.folder / "hosts"], doing="looking")
    assert made.nodes.link_counters()["n2"].both >= crossed.both
    assert node.held_share() == (SHARE if not made.nodes.unbounded else None)


def test_a_node_with_a_stopped_process_is_killed_too(made: Made) -> None:
    """nsenter stops with what it brought in, and has to collect it."""
    second = made.nodes.compute[1]
    with second.popen(["sleep", nap(3475)], made.folder / "log") as outside:
        wait_until(lambda: asleep(nap(3475)) != [])
        [inside] = asleep(nap(3475))
        inside.suspend()
        wait_until(lambda: psutil.Process(outside.pid).status() == psutil.STATUS_STOPPED)
        made.nodes.kill("n2")
        assert outside.wait(30) != 0
    made.storage.mount_on(made.nodes.revive("n2"))


@LONG
def test_nodes_without_a_bound_say_so(
    make: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_group, "place", lambda: Absent("no group bounds the time"))
    made = make("shared")
    assert made.nodes.unbounded == "no group bounds the time"
    assert [each.held_share() for each in made.nodes.compute] == [None, None]
    path = made.storage.path / "file"
    made.nodes["n1"].run(["touch", path], doing="writing")
    assert path.exists(), "a plain folder of this machine"
    assert made.storage.seen_on(made.nodes["n2"]) == ""
    made.nodes.close()
    made.storage.close()


@pytest.mark.parametrize("kind", ["sshfs", pytest.param("glusterfs", marks=LONG)])
def test_bytes_of_network_storage_cross_the_link_of_its_node(
    make: Callable[..., Made], kind: str
) -> None:
    if reason := why_not(kind):
        do_without(reason)
    made = make(kind, storage_mbit=800)
    first, second = made.nodes.compute
    storage = made.nodes[STORAGE]
    assert storage.shape().mbit == pytest.approx(800)
    before = made.nodes.link_counters()[STORAGE]
    path = made.storage.path / "file"
    first.run(["dd", "if=/dev/zero", f"of={path}", "bs=64k", "count=64"], doing="writing")
    assert made.storage.seen_on(first) == made.storage.file_system
    assert second.run(["stat", "-c", "%s", path], doing="looking") == f"{SENT}\n"
    assert made.nodes.link_counters()[STORAGE].to_node - before.to_node > SENT
    made.nodes.kill("n2")
    first.run(["rm", path], doing="removing")
    made.nodes.close()
    made.storage.close()


# -- what a killed lab leaves --------------------------------------------------------------------
@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))


def run_victim(*arguments: object) -> int:
    journal, folder, *when = arguments
    words = [sys.executable, VICTIM, journal, folder, nap(3471), *when]
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    return done.returncode


def assert_nothing_left(folder: Path) -> None:
    """Processes, disks, groups and folders; networks and mounts went with the processes."""
    assert list(folder.iterdir()) == []
    assert matching(lambda words: any(str(folder) in word for word in words)) == []
    assert asleep(nap(3471)) == []
    loops = [each.read_text() for each in Path("/sys/block").glob("loop*/loop/backing_file")]
    assert [each for each in loops if str(folder) in each] == []


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize("stage", ["used", pytest.param("node-down", marks=LONG)])
def test_recover_after_the_lab_was_killed(tmp_path: Path, stage: str) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    assert run_victim(tmp_path / "j.jsonl", folder, "stage", stage) == -signal.SIGKILL
    assert matching(lambda words: any(str(folder) in word for word in words)) != []
    groups = groups_in_journal()
    assert len(groups) == (2 if isinstance(cpu_group.place(), Path) else 0)
    assert all(each.exists() for each in groups)
    assert recover() == ExitCode.OK
    assert_nothing_left(folder)
    assert not any(each.exists() for each in groups)
    assert recover() == ExitCode.OK, "twice does no harm"


@LONG
@pytest.mark.usefixtures("state")
def test_killed_at_every_entry_of_the_journal(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    for number in count(1):
        assert number < MOST_ENTRIES
        code = run_victim(tmp_path / f"j{number}.jsonl", folder, "entry", number)
        if code == 0:
            break
        assert recover() == ExitCode.OK
        assert_nothing_left(folder)
    assert number > 5
    assert_nothing_left(folder)


def groups_in_journal() -> list[Path]:
    """Control groups that a killed run has made."""
    [journal] = open_journals()
    return [
        Path(each.data["folder"]) for each in journal.entries() if each.kind == own_group.REMOVE
    ]


def test_a_node_can_be_asked_for_by_name_only_if_it_is_there(made: Made) -> None:
    with pytest.raises(TargetError, match="there is no node n9"):
        made.nodes["n9"]
    assert isinstance(made.nodes["n1"], Node)
