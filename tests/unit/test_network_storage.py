"""What network storage is told, what is refused, and which fio can reach it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadstone.errors import TargetError, WrongInputError
from loadstone.experiments.conduct import examine
from loadstone.experiments.preflight.check import check_experiment
from loadstone.placements import exported, programs
from loadstone.placements.network import nbdkit_arguments
from loadstone.placements.nfs_export import NfsExport
from loadstone.placements.place import parse
from loadstone.spec.model import Experiment
from loadstone.spec.target import TargetSpec
from loadstone.targets import fio_program
from loadstone.targets.network_storage import Iscsi, Nbd, Nfs, libnfs
from loadstone.targets.registry import target_for
from loadstone.workloads.storage import workload
from loadstone.workloads.storage.fio_binary import examine_fio

REACHED = {
    "folder": {"none", "fsync", "fdatasync", "dsync"},
    "nbd": {"none", "fsync"},
    "iscsi": {"none", "fsync", "fdatasync"},
    "nfs": {"none"},
}


@pytest.fixture(autouse=True)
def all_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that has every package."""
    monkeypatch.setattr(Nbd, "unavailable", classmethod(lambda _: None))
    monkeypatch.setattr(Iscsi, "unavailable", classmethod(lambda _: None))
    monkeypatch.setattr(Nfs, "unavailable", classmethod(lambda _: None))
    monkeypatch.setattr(workload, "examine_fio", lambda _: None)


@pytest.mark.parametrize("engine", REACHED)
@pytest.mark.parametrize("sync", ["none", "fsync", "fdatasync", "dsync"])
def test_what_the_transport_does_not_have_is_refused(engine: str, sync: str) -> None:
    own = Experiment.model_validate(
        {
            "name": "x",
            "workload": {"name": "storage", "parameters": {"sync": sync, "file_size": "16MB"}},
            "target": {"engine": engine},
            "design": {"kind": "run"},
        }
    )
    said = [each.message for each in check_experiment(own)]
    if sync in REACHED[engine]:
        assert said == []
    else:
        assert f"{engine} does not offer {sync} (" in said[0]


@pytest.mark.parametrize(
    ("engine", "writes", "unsafe"),
    [
        *(("nbd", each, each == "async") for each in ("cached", "sync", "async")),
        *(("iscsi", each, False) for each in ("cached", "sync")),
        *(("iscsi", each, True) for each in ("async", "claimed")),
        *(("nfs", each, False) for each in ("cached", "sync")),
    ],
)
def test_the_ways_to_write(engine: str, writes: str, unsafe: bool) -> None:
    spec = TargetSpec(engine=engine)
    assert target_for(spec).setting(spec, "writes", writes).unsafe is unsafe


def test_nfs_is_never_called_asynchronous() -> None:
    """Ganesha honours COMMIT whatever NFS_Commit is."""
    spec = TargetSpec(engine="nfs")
    with pytest.raises(WrongInputError, match=r"one of cached, sync; given 'async'"):
        Nfs.setting(spec, "writes", "async")
    with pytest.raises(WrongInputError, match="NFS has no async"):
        parse("nfs:ext4,async")


@pytest.mark.parametrize("level", ["2", "x", "99999999ms"])
def test_a_delay_is_a_time(level: str) -> None:
    with pytest.raises(WrongInputError, match="write for example 2ms"):
        Nbd.setting(TargetSpec(engine="nbd"), "write_delay", level)


@pytest.mark.parametrize(("writes", "delay_ms"), [("sync", 5), ("async", 0)])
def test_a_slow_disk_is_behind_the_server_and_only_async_answers_before_it(
    writes: str, delay_ms: int
) -> None:
    words = nbdkit_arguments(Path("/i"), writes, 0, disk_delay_ms=5)
    filters = [word.partition("=")[2] for word in words if word.startswith("--filter")]
    assert filters == ["fua", "delay"], "reads must take one way, whatever writes do"
    assert words[-1] == f"wdelay={delay_ms}ms"


def test_the_command_of_nbdkit() -> None:
    words = nbdkit_arguments(Path("/i"), "async", 2)
    expected = ["--filter=delay", "--filter=fua", "file", "file=/i"]
    assert words == [*expected, "wdelay=2ms", "fuamode=discard"]


def test_an_export_with_ports_of_its_own_and_one_in_a_network_of_its_own(tmp_path: Path) -> None:
    near = NfsExport(tmp_path, Path("/data"), commit=True, ports=(1, 2))
    assert near.url_of("disk") == "nfs://127.0.0.1/data/disk?nfsport=1&mountport=2"
    assert "--net" not in near.command()
    text = near.config.read_text()
    assert "NFS_Port = 1; MNT_Port = 2;" in text
    assert "NFS_Commit = true" in text
    far = NfsExport(tmp_path, Path("/data"), commit=False)
    assert far.url_of("disk") == "nfs://127.0.0.1/data/disk"
    assert "--net" in far.command()
    assert "NFS_Commit = false" in far.config.read_text()


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ("nfs://host", None),
        ("nfs://user:sesame@host/x", "holds a password"),
        ("nbd://host/x", "cannot be read"),
        ("nfs://host:port/x", "cannot be read"),
    ],
)
def test_an_address_of_nfs(server: str, said: str | None) -> None:
    spec = TargetSpec(engine="nfs", server=server)
    if said is None:
        assert target_for(spec).__name__ == "NfsAtAddress"
        return
    with pytest.raises(WrongInputError, match=said) as caught:
        target_for(spec).describe(spec)
    assert "sesame" not in str(caught.value)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(programs, "_FOLDERS", ())
    with pytest.raises(TargetError, match="tgtd is missing: install the package tgt"):
        Iscsi.describe(TargetSpec(engine="iscsi"))
    monkeypatch.setattr(programs, "_LIBRARIES", ())
    reasons = [programs.absent_library(*each) for each in exported.LIBRARIES["nfs"].items()]
    assert [str(each).rpartition(" ")[2] for each in reasons] == [
        "nfs-ganesha-vfs",
        "qemu-block-extra",
    ]


def test_a_fio_that_cannot_be_built_names_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fio = tmp_path / "fio"
    fio.write_text("#!/bin/sh\necho Available IO engines:\necho '\tnbd'\n")
    fio.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(programs, "_FOLDERS", ())
    monkeypatch.setattr(fio_program, "_INCLUDE", tmp_path)
    assert fio_program.unavailable("nbd") is None
    said = str(fio_program.unavailable("nfs"))
    assert "no engine nfs" in said
    assert "libiscsi-dev libnfs-dev" in said
    with pytest.raises(TargetError, match=r"install .*libnfs-dev"):
        fio_program.fio_with("nfs")


def examined(profile: str, server: str | None = None) -> None:
    """As `plan` and `run` do."""
    own = Experiment.model_validate(
        {
            "name": "x",
            "workload": {"name": "storage", "parameters": {"profile": profile}},
            "target": {"engine": "nfs"} | ({"server": server} if server else {}),
            "design": {"kind": "run"},
        }
    )
    examine(own, allow_unsafe=False)


def test_only_the_profiles_of_fio_need_one_that_speaks_nfs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload, "examine_fio", examine_fio)
    monkeypatch.delenv("LOADSTONE_FIO_BINARY", raising=False)
    monkeypatch.setattr(fio_program, "unavailable", lambda engine: f"no engine {engine}")
    with pytest.raises(TargetError, match="nothing makes load on target nfs: no engine nfs"):
        examined("cdm8")
    examined("catalogue")


@pytest.mark.parametrize("profile", ["cdm8", "catalogue"])
def test_an_export_at_an_address_needs_libnfs(
    monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    monkeypatch.setattr(libnfs, "_found", lambda: None)
    with pytest.raises(TargetError, match="libnfs is missing: install the package libnfs-dev"):
        examined(profile, "nfs://host/export")
