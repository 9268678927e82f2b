"""What the commands say of host settings; nothing is started and nothing is changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode
from loadstone.host.registry import all_known

ABSENT = "host.queue.nosuchdisk.scheduler"
LADDER = (
    "noop", "--rung", "users=2", "--rung", f"disk:{ABSENT}=none", "--rung", "host.vm.swappiness=10",
)  # fmt: skip


pytestmark = pytest.mark.usefixtures("own_places", "wide")


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def test_a_plan_says_what_is_now_and_what_is_skipped(capsys: pytest.CaptureFixture[str]):
    assert run_command(["plan", *LADDER, "--host", "vm.dirty_expire_centisecs=1000"]) == 0
    said = capsys.readouterr().out
    assert "Skipped: disk: host.queue.nosuchdisk.scheduler is absent: " in said
    assert "now" in said
    assert "the host" in said
    assert "host.vm.dirty_expire_centisecs" in said


def test_a_plan_as_json_has_them_too(capsys: pytest.CaptureFixture[str]):
    assert run_command(["plan", *LADDER, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [rung["name"] for rung in plan["skipped"]] == ["disk"]
    factors = {line["factor"]: line for line in plan["factors"]}
    assert factors["host.vm.swappiness"]["present"].isdigit()
    assert factors[ABSENT]["unavailable"].startswith("absent: ")
    assert {trial["variant"] for trial in plan["trials"]} == {
        "baseline",
        "users=2",
        "host.vm.swappiness=10",
    }


def test_a_comparison_that_this_machine_cannot_run_is_planned_and_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    words = ["noop", "--factor", ABSENT, "--levels", "none,bfq"]
    assert run_command(["plan", *words]) == 0
    assert "It will be refused: this machine cannot run it: " in capsys.readouterr().out
    assert run_command(["compare", *words]) == ExitCode.REFUSED
    said = capsys.readouterr().err
    assert "/sys/class/block/nosuchdisk is missing" in said
    assert not (tmp_path / "results").exists()


def test_the_host_is_listed_with_every_setting(capsys: pytest.CaptureFixture[str]):
    assert run_command(["list", "host", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["host"]
    assert [row["name"] for row in rows] == [f"host.{each.name}" for each in all_known()]
    assert all(row["now"] and row["takes"] and row["source"] for row in rows)
    assert run_command(["list", "host"]) == 0
    assert "host.vm.swappiness" in capsys.readouterr().out
