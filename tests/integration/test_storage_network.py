"""Network storage on loopback and at addresses: served, read back, silent, killed, and gone."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lengths import long_but
from machine import apart, assert_as_before, listing
from machine import need as need_place
from packages import do_without, need_program

from loadstone.cli.recover import command as recover
from loadstone.errors import ExitCode, LoadstoneError, RefusedError, TargetError, WrongInputError
from loadstone.host.processes import matching, signal_all, wait_stopped
from loadstone.journal import Journal
from loadstone.placements import mounts, programs
from loadstone.placements.account import own_account
from loadstone.placements.mounted import MountedPlace
from loadstone.placements.place import parse
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.targets import fio_program
from loadstone.targets.base import TargetContext
from loadstone.targets.network_storage import Iscsi, Nbd, Nfs, address
from loadstone.targets.network_storage.served import ServedStorage
from loadstone.targets.registry import target_for
from loadstone.workloads.storage.fio_binary import NETWORK_ENGINES

VICTIM = Path(__file__).with_name("network_victim.py")
KINDS: dict[str, type[ServedStorage]] = {"nbd": Nbd, "iscsi": Iscsi, "nfs": Nfs}
DISK = "loop:ext4,size=64MB"
_BYTES = 1 << 20


@pytest.fixture(scope="module", autouse=True)
def own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with apart(tmp_path_factory.mktemp("apart")):
        yield


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TargetContext]:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        yield TargetContext(journal, "pytest")


def need(kind: type[ServedStorage]) -> None:
    """Skips by name where a server, or the fio for it, is missing; a fio is built where it can."""
    reason = kind.unavailable() or fio_program.unavailable(NETWORK_ENGINES[kind.engine])
    if reason:
        do_without(f"{kind.engine}: {reason}")


def opened(engine: str, context: TargetContext, folder: Path, **settings: str) -> ServedStorage:
    kind = KINDS[engine]
    need(kind)
    spec = TargetSpec(engine=engine, data=str(folder), settings=dict(settings))
    target = kind(spec, context)
    target.open()
    with target.laying_out(["data"]) as paths:
        for path in paths:
            path.write_bytes(bytes(_BYTES))
    return target


def flushes_below(target: ServedStorage) -> int:
    """Flushes that the disk of its files has got so far."""
    told = programs.run(
        "findmnt", ["-n", "-o", "SOURCE", "--target", target.shared], doing="finding a disk"
    )
    counters = Path("/sys/class/block") / Path(told.strip()).name / "stat"
    return int(counters.read_text().split()[15])


def fio(target: ServedStorage | address.StorageAtAddress, *options: str) -> int:
    """Writes 32 blocks with a flush after each; returns fio's exit code."""
    url = target.url()
    place = {
        "nbd": [f"--uri={url}"],
        "iscsi": ["--filename=" + url.replace(":", "\\:")],
        "nfs": [f"--nfs_url={url}", "--filename=/data"],
    }[target.engine]
    fixed = ["--name=x", "--thread", f"--size={_BYTES}", "--bs=4k", "--rw=write", "--io_size=128k"]
    engine = NETWORK_ENGINES[target.engine]
    command = [fio_program.fio_with(engine), f"--ioengine={engine}", *fixed, *place, *options]
    return subprocess.run(command, capture_output=True, check=False, timeout=60).returncode


BLOCKS = 32
SERVED = [
    ("nbd", "cached", True, 0),
    ("nbd", "sync", False, BLOCKS),
    ("nbd", "async", True, 0),
    ("iscsi", "cached", True, 0),
    ("iscsi", "sync", False, BLOCKS),
    ("iscsi", "async", True, 0),
    ("iscsi", "claimed", True, 0),
    ("nfs", "cached", False, 0),
    ("nfs", "sync", False, BLOCKS),
]
"""Engine, how it writes, whether fio flushes after each block, flushes that come of the blocks."""


@pytest.mark.parametrize(
    ("engine", "writes", "flush", "least"),
    long_but([("nbd", "cached", True, 0), ("nbd", "async", True, 0)], SERVED),
)
def test_what_becomes_of_writes_and_flushes(  # noqa: PLR0917
    context: TargetContext, open_folder: Path, engine: str, writes: str, flush: bool, least: int
) -> None:
    """Counted at the disk below the server, not judged by time."""
    before = listing()
    target = opened(engine, context, open_folder)
    spec = target.spec.model_copy(
        update={"storage": StorageSpec(data=DISK), "settings": {"writes": writes}}
    )
    (reading, *_) = target.restore("any", spec)
    assert (reading.factor, reading.read_back) == ("target.writes", writes)
    drops = writes in {"async", "claimed"}
    assert reading.unsafe is drops
    if (server := target.flushes_counted()) is not None:
        assert server.arrived == server.syncs > 0
        assert (server.drops, server.claims_no_cache) == (drops, writes == "claimed")
    assert (server is None) is (engine == "nfs")
    with target.laying_out(["data"]) as (path,):
        path.write_bytes(bytes(_BYTES))
    target.settle("cold")
    counted = flushes_below(target)
    assert fio(target, *(["--fsync=1"] if flush else [])) == 0
    counted = flushes_below(target) - counted
    if drops:
        assert counted < BLOCKS / 4
    else:
        assert counted >= (BLOCKS - 1 if flush else least)
    target.close()
    assert_as_before(before, open_folder)


@pytest.mark.parametrize("engine", long_but(["nbd"], KINDS))
def test_killed_while_it_serves(
    tmp_path: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    need(KINDS[engine])
    fio_program.fio_with(NETWORK_ENGINES[engine])
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    before = listing()
    arguments = [engine, open_folder, tmp_path / "journal.jsonl"]
    done = subprocess.run([sys.executable, VICTIM, *arguments], check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    (root,) = open_folder.glob("loadstone-*")
    if engine != "nbd":  # nbdkit has the kernel end it with its parent
        assert matching(lambda words: any(str(root) in word for word in words))
    assert recover() == ExitCode.OK
    assert matching(lambda words: any(str(root) in word for word in words)) == []
    assert_as_before(before, open_folder)
    assert list(open_folder.iterdir()) == []


@pytest.mark.parametrize("engine", long_but(["nbd"], KINDS))
def test_an_address_that_goes_silent(
    context: TargetContext,
    open_folder: Path,
    engine: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is told within a bounded time, before anything is touched; one that is gone, at once."""
    monkeypatch.setattr(address, "_ANSWER_S", 1.0)
    server = opened(engine, context, open_folder)
    spec = TargetSpec(engine=engine, server=server.url())
    target = target_for(spec)(spec, context)
    target.check_access()
    found = server.server.processes()
    signal_all(found, signal.SIGSTOP)
    assert wait_stopped(found, 5)
    began = time.monotonic()
    with pytest.raises(TargetError, match=r"does not answer|timed out"):
        target.check_access()
    assert time.monotonic() - began < 30
    server.close()
    with pytest.raises(TargetError, match="does not answer: Connection refused"):
        target.check_access()


def test_a_disk_at_an_address_is_named_twice_and_must_be_empty(
    context: TargetContext, open_folder: Path
) -> None:
    server = opened("nbd", context, open_folder)
    need_program("qemu-img")
    url = server.url()
    plain = TargetSpec(engine="nbd", server=url)
    assert "overwriting" not in target_for(plain).capabilities
    with pytest.raises(WrongInputError, match="named twice"):
        target_for(plain).setting(plain, "erase", "nbd://elsewhere")
    erased = plain.with_settings({"erase": url})
    assert "overwriting" in target_for(erased).capabilities
    target_for(erased)(erased, context).check_access()
    with server.laying_out(["data"]) as (path,):
        path.unlink()
        path.write_bytes(bytes(16 << 20))
        programs.run("mkfs.ext4", ["-q", "-F", path], doing="making a file system")
    with pytest.raises(RefusedError, match="not empty: it holds ext4"):
        target_for(erased)(erased, context).check_access()
    target_for(plain)(plain, context).check_access()
    server.close()


@pytest.mark.parametrize(
    ("text", "server"),
    long_but(
        [("nbd:ext4,size=64MB", "nbdkit")],
        [
            ("nbd:ext4,size=64MB", "nbdkit"),
            ("iscsi:ext4,size=64MB", "tgtd"),
            ("nfs:ext4,size=64MB", "ganesha.nfsd"),
        ],
    ),
)
def test_a_placement_whose_server_goes_silent_can_be_removed(
    context: TargetContext,
    open_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    server: str,
) -> None:
    need_place(text)
    monkeypatch.setattr(mounts, "_SILENT_S", 1.0)
    before = listing()
    place = MountedPlace(context.journal, parse(text), own_account())
    work = open_folder / "work"
    work.mkdir()
    place.open(work, "pytest", _BYTES)
    (place.folder / "file").write_bytes(bytes(_BYTES))
    found = matching(lambda words: Path(words[0]).name == server and str(work) in " ".join(words))
    assert found
    signal_all(found, signal.SIGSTOP)
    assert wait_stopped(found, 5)
    began = time.monotonic()
    place.close()
    assert time.monotonic() - began < 60
    assert_as_before(before, open_folder)
    assert matching(lambda words: str(work) in " ".join(words)) == []


@pytest.mark.long
def test_an_export_at_an_address_is_left_as_it_was(
    context: TargetContext, open_folder: Path
) -> None:
    server = opened("nfs", context, open_folder)
    (server.shared / "precious").touch()
    spec = TargetSpec(engine="nfs", server=server.url())
    target = target_for(spec)(spec, context)
    target.open()
    assert fio(target) == 0
    assert len(list(server.shared.glob("loadstone-*/*"))) == 1
    target.close()
    assert sorted(each.name for each in server.shared.iterdir()) == ["data", "precious"]
    server.shared.chmod(0o500)
    assert recover() == ExitCode.OK
    server.close()


@pytest.mark.long
def test_ganesha_leaves_the_port_of_rpcbind_alone(
    context: TargetContext, open_folder: Path
) -> None:
    """It serves where another has port 111, and where nobody has."""
    need(Nfs)
    try:
        other = socket.create_server(("127.0.0.1", 111))
    except OSError:
        other = None  # the machine's own rpcbind has it
    server = opened("nfs", context, open_folder)
    assert isinstance(server, Nfs)
    assert answers(server.nfs_server.export.ports or (0, 0))
    server.close()
    if other is not None:
        other.close()
        server = opened("nfs", context, open_folder)
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", 111), timeout=5)
        server.close()


def answers(ports: tuple[int, int]) -> bool:
    """Whether NFSv3 answers a call that does nothing (RFC 5531)."""
    call = struct.pack(">10I", 7, 0, 2, 100003, 3, 0, 0, 0, 0, 0)
    with socket.create_connection(("127.0.0.1", ports[0]), timeout=10) as client:
        client.sendall(struct.pack(">I", 1 << 31 | len(call)) + call)
        told = client.recv(100)
    return struct.unpack(">3I", told[4:16]) == (7, 1, 0)


def test_a_folder_that_cannot_be_an_address_is_refused() -> None:
    with pytest.raises(LoadstoneError, match="takes letters, digits"):
        Nfs.describe(TargetSpec(engine="nfs", data="/var/tmp/with blank"))
