"""The contracts, seen by a package of somebody else: a folder is measured, without a database.

`tests/outside` is what an installer leaves of such a package: modules, and the names of its entry
points.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lengths import LONG, long_but
from session import Session

from loadstone.errors import ExitCode

PACKAGES = Path(__file__).parent.parent / "outside"
SHORT = ("--warm-up", "0s", "--measure", "500ms")


@pytest.fixture
def user(tmp_path: Path) -> Iterator[Session]:
    """Somebody who has the package `toy`."""
    with Session(tmp_path) as session:
        session.environment["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(PACKAGES), os.environ.get("PYTHONPATH")])
        )
        yield session
        session.assert_nothing_left()


def document(user: Session, *arguments: str, code: ExitCode = ExitCode.OK) -> dict[str, Any]:
    """What a command answers."""
    ended = user.run(*arguments, "--json")
    assert ended.returncode == code, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_what_a_package_brings_is_listed_and_what_is_broken_is_named(
    user: Session, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    info = broken / "hasty-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hasty\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(
        "[loadstone.workloads]\nhaste = hasty_nowhere:Haste\n"
        "[loadstone.targets]\nduckdb = toy.folder:Folder\n"
        "[loadstone.operations]\nhaste = hasty_nowhere:open_haste\n"
    )
    user.environment["PYTHONPATH"] += f"{os.pathsep}{broken}"
    said = {}
    for what, own, brought in (("workloads", "noop", "files"), ("targets", "duckdb", "toy-folder")):
        listed = user.run("list", what, "--json")
        names = {row["name"] for row in json.loads(listed.stdout)[what]}
        assert {own, brought} <= names
        assert "haste" not in names
        said[what] = listed.stderr.splitlines()
    assert [line.partition(" (")[0] for line in said["workloads"]] == [
        "loadstone: left out: package hasty 0.1: entry point 'haste' of loadstone.workloads",
        "loadstone: left out: package hasty 0.1: entry point 'haste' of loadstone.operations",
    ]
    assert said["targets"] == [
        "loadstone: left out: package hasty 0.1: entry point 'duckdb' of loadstone.targets "
        "(toy.folder:Folder): Loadstone has one of this name"
    ]
    asked = user.run("run", "haste", *SHORT)
    assert asked.returncode == ExitCode.WRONG_INPUT
    assert "No module named 'hasty_nowhere'" in asked.stderr
    assert user.run("plan", "noop").returncode == ExitCode.OK


def test_a_folder_is_measured_and_its_plan_made_again(user: Session) -> None:
    (result,) = user.trial_results("run", "files", "--users", "2", *SHORT)
    metrics = {each["name"]: each["value"] for each in result["metrics"]}
    assert metrics["appends_per_s"] > 0
    assert {each["name"] for each in result["operations"]} == {"append", "read"}
    assert [each["passed"] for each in result["checks"]] == [True, True]
    assert all(each["claim"] for each in result["checks"])
    (again,) = user.trial_results("run", str(user.trial() / "plan.json"))
    assert again["fingerprint"] == result["fingerprint"]
    assert user.run("report", "files-run").returncode == ExitCode.OK


def test_the_setting_of_a_target_is_compared_and_marked_unsafe(user: Session) -> None:
    compare = ("compare", "files", "--factor", "target.sync", "--levels", "on,off", *SHORT)
    refused = user.run(*compare)
    assert refused.returncode == ExitCode.REFUSED
    assert "unsafe: sync=off" in refused.stderr
    pace = ("--users", "2", "--think-time", "2ms")
    results = user.trial_results(*compare, *pace, "--repeats", "2", "--allow-unsafe")
    for result in results:
        (factor,) = result["factors"]
        off = factor["read_back"] == "off"
        assert factor["unsafe"] == off
        assert result["unsafe"] == (["sync=off"] if off else [])
    assert len({result["variant"] for result in results}) == 2
    assert len(results) >= 4, "one that the machine disturbed is made again"
    assert len({result["fingerprint"]["digest"] for result in results}) == 1
    assert {check["passed"] for result in results for check in result["checks"]} == {True}


@pytest.mark.parametrize(
    "load",
    [
        # Users who never think would take all of the load generator, and be a test of that.
        pytest.param(
            ("--over", "users", "--from", "1", "--at-most", "2", "--think-time", "2ms"),
            id="users",
            marks=LONG,
        ),
        pytest.param(
            ("--over", "rate", "--from", "20", "--at-most", "40", "--approach", "raise"), id="rate"
        ),
    ],
)
def test_a_search_raises_the_load_of_a_folder(user: Session, load: tuple[str, ...]) -> None:
    search = ("search", "files", *load, "--objective", "p99 < 60 s", "--confirm", "0")
    times = ("--warm-up", "0s", "--measure", "1s", "--window", "1s")
    found = document(user, *search, *times)["search"]
    assert (found["status"], found["level"]) == ("no limit found", float(load[5]))


@pytest.mark.parametrize(
    ("sync", "code"),
    long_but(
        [("off", ExitCode.FAILED_CHECK)], [("on", ExitCode.OK), ("off", ExitCode.FAILED_CHECK)]
    ),
)
def test_a_crash_shows_what_was_acknowledged_and_is_lost(
    user: Session, sync: str, code: ExitCode
) -> None:
    crash = ("crash", "files", "--crashes", "1", "--users", "2", "--set", f"sync={sync}")
    found = document(user, *crash, "--allow-unsafe", "--param", "read_share=0", *SHORT, code=code)
    durability = found["trials"][0]["result"]["durability"]
    assert durability["acknowledged"] > 0
    assert bool(durability["lost"]) == (sync == "off")
    assert durability["conditions_failed"] == []


def test_a_program_of_a_package_makes_load_and_a_meter_of_it_counts(user: Session) -> None:
    wheel = "toy-wheel,main=true,every=50ms,parameters.watts=40"
    # Of 500 ms a busy machine may miss more than the twentieth that a meter is allowed to miss.
    long = ("--warm-up", "0s", "--measure", "3s")
    (result,) = user.trial_results("run", "beat", "--meter", wheel, *long)
    assert [(each["name"], each["count"]) for each in result["operations"]] == [("beat", 1000)]
    (power,) = result["power"]
    assert (power["kind"], power["channel"], power["scope"]) == ("toy-wheel", "wheel", "board")
    assert power["watts"] == pytest.approx(40, rel=0.02), power


def test_a_check_of_a_package_can_fail(user: Session, tmp_path: Path) -> None:
    """A target that lost a line after the load, and has another twice, makes the trial invalid."""
    planted = tmp_path / "planted"
    planted.mkdir()
    (planted / "sitecustomize.py").write_text(
        "import toy.files\n"
        "whole = toy.files.Files.check\n"
        "def check(self, target, before, measured):\n"
        "    path = next(target.data_folder().iterdir())\n"
        "    lines = path.read_bytes()\n"
        "    path.write_bytes(lines[:-128] + lines[-64:] + lines[-64:])\n"
        "    return whole(self, target, before, measured)\n"
        "toy.files.Files.check = check\n"
    )
    user.environment["PYTHONPATH"] += f"{os.pathsep}{planted}"
    found = document(user, "run", "files", *SHORT, code=ExitCode.FAILED_CHECK)
    (result,) = [each["result"] for each in found["trials"]]
    assert result["status"] == "invalid"
    assert [each["name"] for each in result["checks"] if not each["passed"]] == ["lines"]
