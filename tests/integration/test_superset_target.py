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
from superset_runs import installed

from loadstone.cache import cache_folder
from loadstone.host.processes import lives
from loadstone.targets.superset import installation
from loadstone.targets.superset.runs_as import runs_as

BI = ("run", "bi", "--target", "superset", "--param", "scale=0.002", "--param", "accounts=60")
SMALL = ("--set", "workers=1", "--users", "3", "--ramp", "1s", "--think-time", "200ms")
FEW = ("--param", "sample=0", "--measure", "10s")


pytestmark = [pytest.mark.timeout(1800), pytest.mark.xdist_group("superset")]


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
    (inventory,) = Path("results").glob("bi*/*/inventory.json")
    own = json.loads(inventory.read_text())["target"]["parts"]
    accounts = {own[name]["account"] for name in ("database", "cache", "balancer")}
    assert accounts | {own["nodes"]["parts"]["1"]["account"]} == {runs_as().account.name}
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
def test_a_killed_run_leaves_nothing_after_recover() -> None:
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
    made = folders_made()
    assert made
    assert not any(folder.exists() for folder in made)
    until("all of them end", lambda: not any(lives(each) for each in left))


def folders_made() -> list[Path]:
    """Those that the journal of the one run here has told of: others make theirs meanwhile."""
    (journal,) = Path("results").glob("*/journal.jsonl")
    lines = [json.loads(line) for line in journal.read_text().splitlines() if line]
    return [Path(line["data"]["path"]) for line in lines if line.get("kind") == "remove-tree"]


def balancers_of(pid: int) -> list[psutil.Process]:
    words = "haproxy.cfg"
    found = psutil.Process(pid).children(recursive=True)
    return [each for each in found if lives(each) and words in " ".join(each.cmdline())]


# -- what is wrong, by its own name ------------------------------------------------------------
@LONG
@installed
@pytest.mark.parametrize(
    ("options", "resource", "part"),
    [
        (("--host", "host.server.nodes.quota=0.25"), "part processors", "nodes"),
        (
            ("--set", "pool_size=1", "--set", "pool_timeout_s=1", "--set", "threads=16"),
            "pool",
            "",
        ),
        (("--set", "rate_limit=5 per second"), "rate limit", ""),
    ],
)
def test_what_limits_the_system_is_named_with_its_evidence(
    options: tuple[str, ...], resource: str, part: str
) -> None:
    users = ("--users", "12", "--ramp", "1s", "--think-time", "3s", "--set", "workers=1")
    record = run(*users, *options, "--param", "sample=0", "--measure", "30s")
    # Other programs may fill the processors of this machine meanwhile.
    found = [use for use in record["limits"] if use["full"] and use["resource"][:4] != "host"]
    assert found, record["limits"]
    assert (found[0]["resource"], found[0]["part"]) == (resource, part)
    assert any(character.isdigit() for character in found[0]["evidence"])
    assert {"threads", "host processors", "generator"} <= {
        use["resource"] for use in record["limits"]
    }


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
