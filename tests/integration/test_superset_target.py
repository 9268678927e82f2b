"""A whole Superset under load, and what is found when something is wrong with it.

`make test` needs one that is installed, and starts from the state that is kept; the first
installation, and all that takes several starts, is for `make test-long`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from command_line import process
from lengths import LONG
from session import until

from loadstone.cache import cache_folder
from loadstone.errors import TargetError
from loadstone.host.processes import lives
from loadstone.placements import programs
from loadstone.targets.superset import installation

BI = ("run", "bi", "--target", "superset", "--param", "scale=0.002", "--param", "accounts=60")
SMALL = ("--set", "workers=1", "--users", "3", "--ramp", "1s", "--think-time", "200ms")
FEW = ("--param", "sample=0", "--measure", "10s")


def why_not() -> str | None:
    """Why there is no Superset to be started here."""
    for name in ("redis-server", "haproxy"):
        if why := programs.absent(name):
            return why
    try:
        return None if installation.environment().is_there else "Superset is not installed yet"
    except TargetError as error:
        return error.message


pytestmark = pytest.mark.timeout(1800)
installed = pytest.mark.skipif(why_not() is not None, reason=f"{why_not()}: see make test-long")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> dict[str, Any]:
    """The record of the one trial of a run, whatever became of it."""
    done = process(*BI, "--name", "bi", *arguments)
    made = sorted(Path("results").glob("bi*"), key=lambda path: path.stat().st_mtime)
    assert made, done.stderr
    path = made[-1] / "b01-1-baseline" / "result.json"
    assert path.exists(), done.stderr
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def operation(record: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in record["operations"] if each["name"] == name)
    return found


def errors_in(record: dict[str, Any]) -> set[str]:
    """The classes of all errors, of every phase."""
    told = [*record["operations"], *record["phases"]]
    return {name for each in told for name in each["errors"]}


def secrets() -> set[str]:
    """Those of all states that are kept."""
    states = (cache_folder() / "superset" / "states").glob("*/secrets.json")
    return {word for path in states for word in json.loads(path.read_text()).values()}


@installed
def test_people_work_at_dashboards_and_see_what_the_warehouse_has() -> None:
    record = run(*SMALL, "--measure", "10s", "--set", "cache.maxmemory=200mb")
    assert record["status"] in ("valid", "disturbed"), record["notices"]
    checks = {check["name"]: check for check in record["checks"]}
    assert checks["charts show the warehouse"]["passed"], checks
    assert errors_in(record) == set()
    parts = {part["name"]: part for part in record["parts"]}
    assert list(parts) == ["database", "cache", "nodes", "nodes.1", "balancer"]
    assert parts["nodes"]["memory_bytes"] > parts["cache"]["memory_bytes"] > 0
    factors = {each["factor"]: each["read_back"] for each in record["factors"]}
    assert factors["target.workers"] == 1
    assert factors["target.cache.maxmemory"] == str(200 * 1024**2)
    texts = [path.read_bytes() for path in Path("results").rglob("*") if path.is_file()]
    assert secrets()
    assert not any(word.encode() in text for word in secrets() for text in texts)


@LONG
def test_the_first_start_keeps_what_it_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = installation.installed().folder
    own = tmp_path / "cache" / "superset"
    own.mkdir(parents=True)
    (own / has.name).symlink_to(has)
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path / "cache"))
    first = run(*SMALL, *FEW)
    assert first["data"]["accounts"] == 60
    kept = {path for path in (own / "states").iterdir() if path.is_dir()}
    assert len(kept) == 2  # one is from before there was any content
    again = run(*SMALL, *FEW)
    assert again["data"] == first["data"]
    assert again["fingerprint"]["digest"] == first["fingerprint"]["digest"]
    assert {path for path in (own / "states").iterdir() if path.is_dir()} == kept


# -- what goes away ----------------------------------------------------------------------------
@LONG
@installed
@pytest.mark.parametrize("kind", ["stop", "kill"])
def test_people_go_on_at_the_other_node_without_another_log_in(kind: str) -> None:
    lost = f"{kind}:nodes.2,after=5s,for=10s"
    load = ("--param", "sample=0", "--measure", "40s", "--param", "errors_allowed=10")
    record = run(*SMALL, *load, "--set", "nodes=2", "--outage", lost)
    (outage,) = record["outages"]
    assert (outage["kind"], outage["part"]) == (kind, "nodes.2")
    log_ins = operation(record, "log-in")
    assert (log_ins["count"], log_ins["errors"]) == (0, {})
    assert operation(record, "open")["count"] > 0
    # What a killed node had begun is lost; what its front end may try again is.
    assert errors_in(record) <= {"status_502", "status_503"}


@LONG
@installed
def test_a_killed_run_leaves_nothing_after_recover() -> None:
    before = set(Path("/var/tmp").glob("loadstone-*"))
    command = [sys.executable, "-m", "loadstone.cli.main", *BI, *SMALL, "--measure", "600s"]
    killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until("the balancer runs", lambda: balancers_of(killed.pid))
        left = psutil.Process(killed.pid).children(recursive=True)
    finally:
        killed.kill()
        killed.wait()
    assert any("gunicorn" in each.cmdline() for each in left if each.is_running())
    done = process("recover")
    assert done.returncode == 0, done.stderr
    assert set(Path("/var/tmp").glob("loadstone-*")) <= before
    until("all of them end", lambda: not any(lives(each) for each in left))


def balancers_of(pid: int) -> list[psutil.Process]:
    words = "haproxy.cfg"
    found = psutil.Process(pid).children(recursive=True)
    return [each for each in found if lives(each) and words in " ".join(each.cmdline())]


# -- what is wrong, by its own name ------------------------------------------------------------
@LONG
@installed
@pytest.mark.parametrize(
    ("settings", "error"),
    [
        (("csrf_life_s=2",), "csrf_expired"),
        (("session_life_s=10",), "session_expired"),
        (("rate_limit=5 per second",), "rate_limited"),
        (("pool_size=1", "pool_timeout_s=1", "threads=16"), "pool_exhausted"),
    ],
)
def test_a_setting_that_is_too_tight_is_named(settings: tuple[str, ...], error: str) -> None:
    given = [word for setting in settings for word in ("--set", setting)]
    users = ("--users", "12", "--ramp", "1s", "--think-time", "3s", "--set", "workers=1")
    record = run(*users, *given, "--param", "sample=0", "--measure", "40s")
    assert error in errors_in(record)
    assert record["status"] != "valid"


@LONG
@installed
def test_a_node_that_dies_at_its_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(_planted(Path.cwd())))
    done = process(*BI, *SMALL, *FEW)
    assert "gunicorn does not start" in done.stderr
    assert "planted" in done.stderr
    assert os.environ["PYTHONPATH"]


def _planted(folder: Path) -> Path:
    """A module that Loadstone's process finds, after which its nodes find no cache."""
    text = (
        "from loadstone.targets.superset import configuration\n"
        "real = configuration.text\n"
        "def text(*given):\n"
        "    return real(*given) + \"\\nraise RuntimeError('planted')\\n\"\n"
        "configuration.text = text\n"
    )
    (folder / "sitecustomize.py").write_text(text)
    return folder
