"""The catalogue over NFS: the driver is the client; at an address, by itself, silent and gone."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from machine import apart

from loadstone.errors import LeftBehindError, LoadstoneError, TargetError
from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.observer import Observer
from loadstone.experiments.preflight.check import check_experiment
from loadstone.host.processes import signal_all
from loadstone.journal import Journal, open_journals
from loadstone.placements.nfs_export import NfsExport
from loadstone.protocol.frames import Tick, parse_frame
from loadstone.results.folder import read_result
from loadstone.results.record import Status, TrialResult
from loadstone.spec.model import Experiment
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.network_storage import Nfs, libnfs

HOMES = 30
CALLS = {
    "create": 3,
    "stat": 1,
    "open-read": 2,
    "list": 1,
    "write-fsync-rename": 4,
    "delete": 1,
}
"""With handles kept, and each creation committed."""


@pytest.fixture(scope="module", autouse=True)
def own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with apart(tmp_path_factory.mktemp("apart")):
        yield


@pytest.fixture(autouse=True)
def needed() -> None:
    """Skips by name where the server, or the fio for it, is missing."""
    if reason := Nfs.unavailable():
        pytest.skip(f"nfs: {reason}")


def experiment(target: dict[str, Any], measure: str = "0.6s", **fields: Any) -> Experiment:
    """One trial; fields are parameters."""
    parameters = {"profile": "catalogue", "homes": HOMES, "home_files": 2, "sync": "fsync"} | fields
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "catalogue",
            "workload": {"name": "storage", "parameters": parameters},
            "target": {"engine": "nfs", **target},
            "profile": {"users": 3, "threads": 1, "warm_up": "0.2s", "measure": measure},
            "design": {"kind": "run"},
        }
    )


def result_of(given: Experiment, folder: Path) -> TrialResult:
    made = conduct(given, RunOptions(results=folder, command="pytest"), Observer())
    (result,) = (read_result(each.parent) for each in made.glob("*/result.json"))
    return result


def calls_of(result: TrialResult) -> dict[str, float]:
    values = {each.name: each.value for each in result.metrics}
    return {each: values[f"calls_per_{each.replace('-', '_')}"] for each in CALLS}


@contextmanager
def served(folder: Path, storage: str | None = None) -> Iterator[Nfs]:
    """An export of somebody else."""
    folder.mkdir()
    spec = TargetSpec(engine="nfs", data=str(folder))
    with Journal(folder / "journal.jsonl", "pytest") as journal:
        target = Nfs(spec, TargetContext(journal, "pytest"))
        try:
            target.open()
            if storage is not None:
                target.empty(spec.model_copy(update={"storage": StorageSpec(data=storage)}))
            yield target
        finally:
            target.close()


def passed(result: TrialResult) -> bool:
    return len(result.checks) == 3 and all(each.passed for each in result.checks)


@pytest.mark.parametrize("handles", ["kept", pytest.param("looked-up", marks=pytest.mark.long)])
def test_each_operation_makes_its_calls(open_folder: Path, tmp_path: Path, handles: str) -> None:
    given = experiment({"data": str(open_folder)}, handles=handles)
    result = result_of(given, tmp_path / "results")
    assert result.status is not Status.FAILED, result.notices
    assert [each.name for each in result.operations] == list(CALLS)
    assert all(each.count > 0 and not each.errors for each in result.operations)
    assert passed(result)
    # Three folders are on the way to a file; what is renamed is looked for twice.
    way = {each: 6 if each == "write-fsync-rename" else 3 for each in CALLS}
    expected = {
        each: count + (way[each] if handles == "looked-up" else 0) for each, count in CALLS.items()
    }
    # Some of the first calls look folders up; an operation at the edge of the phase is in one only.
    assert calls_of(result) == pytest.approx(expected, rel=0.15, abs=0.5)
    assert "COMMIT" in next(each.message for each in result.notices if each.code == "nfs-calls")
    assert result.metric("stat_misses_percent") is None
    assert list(open_folder.iterdir()) == []


def test_an_export_at_an_address_is_left_as_it_was(open_folder: Path, tmp_path: Path) -> None:
    with served(open_folder / "server") as server:
        given = experiment({"server": server.url()})
        result = result_of(given, tmp_path / "results")
        assert result.status is not Status.FAILED, result.notices
        assert passed(result)
        assert result.fingerprint is not None
        assert result.fingerprint.rows == {"homes": HOMES, "files": 2 * HOMES}
        assert list(server.data_folder().iterdir()) == []


class Restarting(Observer):
    """Kills a server and starts it anew, three times, from the first second of the load on."""

    def __init__(self, server: Nfs) -> None:
        self.server, self.thread = server, threading.Thread(target=self.restart)

    def frame(self, frame: dict[str, Any]) -> None:
        value = parse_frame(frame)
        begun = isinstance(value, Tick) and value.phase == "measure"
        if begun and self.thread.ident is None:
            self.thread.start()

    def restart(self) -> None:
        for _ in range(3):
            self.server.crash("kill")
            self.server.start()


@pytest.mark.long
def test_a_server_that_is_restarted_costs_operations_and_no_file(
    open_folder: Path, tmp_path: Path
) -> None:
    with served(open_folder / "server") as server:
        mix = "create=40,write-fsync-rename=40,stat=10,delete=10"
        given = experiment({"server": server.url()}, measure="5s", mix=mix)
        made = conduct(given, RunOptions(results=tmp_path, command="pytest"), Restarting(server))
        (result,) = (read_result(each.parent) for each in made.glob("*/result.json"))
        assert passed(result), result.checks
        errors = {kind for each in result.operations for kind in each.errors}
        assert errors == {"connection"}
        assert list(server.data_folder().iterdir()) == []


class Silencing(Observer):
    """Stops the processes of a server, once, when the load is under way."""

    def __init__(self, server: Nfs) -> None:
        self.processes = server.server.processes()
        self.silenced = False

    def frame(self, frame: dict[str, Any]) -> None:
        value = parse_frame(frame)
        if not self.silenced and isinstance(value, Tick) and value.phase == "measure":
            self.silenced = True
            signal_all(self.processes, signal.SIGSTOP)


@pytest.mark.long
def test_a_server_that_falls_silent_leaves_a_folder_for_recover(
    open_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    with served(open_folder / "server") as server:
        given = experiment({"server": server.url()}, measure="6s")
        silencing = Silencing(server)
        timer = threading.Timer(90, signal_all, [silencing.processes, signal.SIGCONT])
        timer.start()
        try:
            with pytest.raises(LeftBehindError, match="make a folder loadstone-") as raised:
                conduct(given, RunOptions(results=tmp_path, command="pytest"), silencing)
            assert timer.is_alive(), "it did not end in time"
        finally:
            timer.cancel()
            signal_all(silencing.processes, signal.SIGCONT)
        assert "could not be undone" in raised.value.message
        assert len(raised.value.message.splitlines()) == 1
        for left in open_journals():
            assert tmp_path not in left.path.parents or left.recover(lambda *_: None)
        assert list(server.data_folder().iterdir()) == []


def test_a_server_that_is_gone_is_named_before_anything_begins(
    open_folder: Path, tmp_path: Path
) -> None:
    with served(open_folder / "server") as server:
        given = experiment({"server": server.url()})
    with pytest.raises(LoadstoneError, match="does not answer: Connection refused"):
        conduct(given, RunOptions(results=tmp_path, command="pytest"), Observer())


def test_an_export_that_lets_nobody_in_is_one_line_and_nothing_is_left(
    open_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    as_root, squashed = NfsExport._text, "Squash = All_Squash; Anonymous_Uid = 65534"
    monkeypatch.setattr(
        NfsExport, "_text", lambda own: as_root(own).replace("Squash = None", squashed)
    )
    with served(open_folder / "server") as server:
        given = experiment({"server": server.url()})
        with pytest.raises(TargetError, match="NFS3ERR_ACCES") as raised:
            conduct(given, RunOptions(results=tmp_path / "results", command="pytest"), Observer())
        assert not isinstance(raised.value, LeftBehindError)
        assert not [each for each in open_journals() if tmp_path in each.path.parents]


@pytest.mark.long
def test_an_export_without_inodes_is_named(open_folder: Path, tmp_path: Path) -> None:
    with served(open_folder / "server", "loop:ext4,size=16MB") as server:
        given = experiment({"server": server.url()}, homes=5000)
        result = result_of(given, tmp_path / "results")
        assert result.status is Status.FAILED
        said = " ".join(each.message for each in result.notices)
        assert "files and folders need an inode each" in said
        assert list(server.data_folder().iterdir()) == []


def test_a_tree_at_an_address_is_written_read_and_removed(open_folder: Path) -> None:
    with served(open_folder / "server") as server, libnfs.mounted(server.url()) as tree:
        for folder in ("a", "a/b"):
            tree.make(folder)
        content = bytes(range(256)) * 600
        tree.write("a/b/file", content)
        assert tree.read("a/b/file") == content
        assert (server.data_folder() / "a/b/file").read_bytes() == content
        assert tree.names("a") == {"b"}
        assert tree.names("none") is None
        assert list(tree.sizes("a")) == [("a/b/file", len(content))]
        assert tree.inodes().free <= tree.inodes().total
        tree.clear()
        assert tree.names("") == set()


@pytest.mark.parametrize("engine", ["nbd", "iscsi", "device"])
def test_a_target_without_folders_is_named(engine: str) -> None:
    given = experiment({"engine": engine, **({"data": "/dev/x"} if engine == "device" else {})})
    said = [each.message for each in check_experiment(given)]
    assert any(f"cannot run on {engine}" in each and "folders" in each for each in said), said


def test_handles_do_nothing_in_a_folder(tmp_path: Path) -> None:
    given = experiment({"engine": "folder", "data": str(tmp_path)}, handles="looked-up")
    (problem,) = check_experiment(given)
    assert "does nothing on folder" in problem.message
