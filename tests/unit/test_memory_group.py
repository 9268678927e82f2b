"""A control group for the load: where it can be made in v1 and v2, and what is said where not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from loadstone.errors import TargetError
from loadstone.host import memory_group
from loadstone.host.machine import Absent, Machine
from loadstone.journal import Journal

V1 = "32 1 0:29 / /cg/memory rw - cgroup cgroup rw,memory\n"
V2 = "31 1 0:28 / /cg rw - cgroup2 cgroup2 rw\n"


def machine(root: Path, mounts: str, groups: str) -> Machine:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text(mounts)
    (root / "proc/self/cgroup").write_text(groups)
    return Machine(root)


def folder(root: Path, path: str, **files: str) -> Path:
    made = root / path.lstrip("/")
    made.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (made / name.replace("__", ".")).write_text(text)
    return made


def test_in_v1_it_lies_below_the_group_of_this_process(tmp_path: Path) -> None:
    own = folder(tmp_path, "/cg/memory/pod", memory__limit_in_bytes="9223372036854771712")
    assert memory_group.place(machine(tmp_path, V1, "4:memory:/pod\n")) == own


def test_in_v2_it_lies_below_the_nearest_that_hands_memory_on(tmp_path: Path) -> None:
    top = folder(tmp_path, "/cg", cgroup__subtree_control="cpu memory\n")
    folder(tmp_path, "/cg/pod", cgroup__subtree_control="cpu\n")
    folder(tmp_path, "/cg/pod/own", cgroup__subtree_control="\n")
    assert memory_group.place(machine(tmp_path, V2, "0::/pod/own\n")) == top


def test_where_none_hands_memory_on_that_is_said(tmp_path: Path) -> None:
    folder(tmp_path, "/cg/pod", cgroup__subtree_control="cpu\n")
    here = machine(tmp_path, V2, "0::/pod\n")
    assert isinstance(memory_group.place(here), Absent)
    with pytest.raises(TargetError, match="no control group above this process"):
        memory_group.where(here)


def test_a_machine_that_tells_of_no_groups_has_none(tmp_path: Path) -> None:
    assert isinstance(memory_group.place(Machine(tmp_path)), Absent)


def test_two_runs_and_two_limits_have_groups_of_their_own(tmp_path: Path) -> None:
    folder(tmp_path, "/cg/memory/pod", memory__limit_in_bytes="1")
    here = machine(tmp_path, V1, "4:memory:/pod\n")
    wanted = [("a", 1 << 28), ("a", 1 << 29), ("b", 1 << 28)]
    found = {memory_group.group_of(tmp_path / run, limit, here).folder for run, limit in wanted}
    assert len(found) == 3
    assert memory_group.group_of(tmp_path / "a", 1 << 28, here).folder in found


def test_the_real_one_is_made_read_back_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not isinstance(memory_group.place(), Path):
        pytest.skip(f"no control group can be made here: {memory_group.place()}")
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        group = memory_group.group_of(journal.path, 128 << 20)
        assert group.counters() == {}
        memory_group.make(journal, group)
        memory_group.make(journal, group)
        assert group.counters()["limit_bytes"] == 128 << 20
        assert os.access(group.members, os.W_OK)
    assert not group.folder.exists()


def test_recover_removes_what_a_killed_run_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    left = tmp_path / "loadstone-left"
    left.mkdir()
    script = (
        "import os, sys; from pathlib import Path; from loadstone.host.own_group import REMOVE\n"
        "from loadstone.journal import Journal\n"
        "Journal(Path(sys.argv[1]), 'killed').before('make a group', REMOVE, folder=sys.argv[2])\n"
        "os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path / "journal.jsonl", left], check=False)
    recover = "from loadstone.cli.recover import command; raise SystemExit(command())"
    subprocess.run([sys.executable, "-c", recover], check=True, capture_output=True)
    assert not left.exists()
