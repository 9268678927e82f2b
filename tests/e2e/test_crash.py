"""`loadstone crash` as a user runs it: its exit codes, and what is left when it is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from lengths import LONG, long_but
from session import Session, until

from loadstone.placements import support
from loadstone.placements.place import parse
from loadstone.results.frames import read_frames

NO_POWER_LOSS = support.unavailable(parse("volatile:ext4"))
needs_power_loss = pytest.mark.skipif(NO_POWER_LOSS is not None, reason=str(NO_POWER_LOSS))
SMALL = ("oltp", "--param", "warehouses=1", "--users", "2", "--warm-up", "0s")
SOON = ("--seed", "131")
"""The first failure comes after two seconds."""
ON_SQLITE = ("--target", "sqlite")
SAFE = (*ON_SQLITE, "--set", "synchronous=extra")
"""SQLite's own default may lose the last commit: `extra` may not."""
UNSAFE = {"sqlite": (*ON_SQLITE, "--set", "synchronous=off"), "postgresql": ("--set", "fsync=off")}


def devices_of(root: Path) -> list[str]:
    """The mounts and loop devices of one run, found by its folder."""
    loops = subprocess.run(["losetup", "-a"], capture_output=True, text=True, check=False).stdout
    lines = [*loops.splitlines(), *Path("/proc/mounts").read_text().splitlines()]
    return [line for line in lines if str(root) in line]


def loading(session: Session) -> Path:
    """Waits until the load of the crash trial runs; returns the trial's folder."""
    trial = session.trial()
    until("load", lambda: any(frame["frame"] == "tick" for frame in read_frames(trial)))
    return trial


@pytest.mark.parametrize("target", [SAFE, pytest.param((), marks=LONG)], ids=["sqlite", "server"])
def test_a_survived_kill_is_exit_code_0_shown_listed_exported_and_made_again(
    session: Session, target: tuple[str, ...]
) -> None:
    ended = session.run("crash", *SMALL, *SOON, *target, "--crashes", "1", "--json")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    verdict = document["variants"][0]["durability"]
    assert (verdict["failure"], verdict["survived"], verdict["crashes"]) == ("kill", 1, 1)
    assert document["status"] == "complete"
    shown = session.run("show", document["name"])
    assert "survived" in shown.stdout
    listed = json.loads(session.run("list", "--json").stdout)["results"][0]
    assert listed["crashes"] == {"survived": 1}
    exported = json.loads(session.run("export", document["name"], "--json").stdout)["rows"]
    assert {row["metric"] for row in exported} >= {"acknowledged_commits", "lost_commits"}

    plan = session.trial() / "plan.json"
    again = session.run("run", str(plan), "--json")
    assert again.returncode == 0, again.stderr
    trials = [each["trials"][0]["result"] for each in (document, json.loads(again.stdout))]
    assert [each["durability"]["failure"] for each in trials] == ["kill", "kill"]
    second = session.results / trials[1]["experiment"] / trials[1]["trial"] / "plan.json"
    assert json.loads(second.read_text())["crash"] == json.loads(plan.read_text())["crash"]
    session.assert_nothing_left()


@needs_power_loss
@pytest.mark.parametrize("engine", long_but(["sqlite"], UNSAFE))
def test_a_loss_is_exit_code_4(session: Session, engine: str) -> None:
    unsafe = (*UNSAFE[engine], "--allow-unsafe", "--failure", "power-loss")
    ended = session.run("crash", *SMALL, *SOON, *unsafe, "--crashes", "1", "--json")
    assert ended.returncode == 4, ended.stderr
    record = json.loads(ended.stdout)["trials"][0]["result"]["durability"]
    assert record["lost"] > 0 or record["problem"]
    session.assert_nothing_left()


def test_an_unsafe_setting_needs_leave(session: Session) -> None:
    ended = session.run("crash", *SMALL, "--set", "synchronous_commit=off")
    assert ended.returncode == 6
    assert "--allow-unsafe" in ended.stderr


@needs_power_loss
@LONG
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_crash_trial_leaves_nothing(
    session: Session, number: signal.Signals
) -> None:
    run = session.start("crash", *SMALL, "--failure", "power-loss", "--crashes", "2")
    trial = loading(session)
    root = session.data_folder().parent
    assert devices_of(root), "the power is to be cut on a device of its own"
    os.kill(run.pid, number)
    run.communicate(timeout=120)
    if number is signal.SIGINT:
        assert run.returncode == 130
    else:
        assert devices_of(root), "kill -9 leaves the data mounted"
        recovered = session.run("recover")
        assert recovered.returncode == 0, recovered.stderr
    assert devices_of(root) == []
    session.assert_nothing_left()
    result = json.loads((trial / "result.json").read_text())
    assert result["status"] == "interrupted"
    assert result["durability"] is None
