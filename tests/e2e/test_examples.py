"""The examples run as they stand; here with one repeat, one crash and a short measurement each.

The long ladders are run on less data and without their crashes, which the examples of crashes show.
`make test` runs a few of them; tests/unit/test_cli.py plans all.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from alone import ON_THE_HOST, host_to_itself
from lengths import LONG
from packages import do_without
from session import Session

from loadstone.errors import ExitCode

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
LOSES_THE_LAST_COMMIT = "journal_mode=delete, synchronous=full"
"""Of SQLite's example: a commit is the removal of a file, which only `extra` makes durable."""
SHORT = ("--warm-up", "500ms", "--measure", "2s")


def changes_the_host(path: Path) -> bool:
    return "host." in path.read_text()


PARTS = {
    "archive": "archive",
    "bi": "bi",
    "crash": "crash",
    "cube": "cube",
    "dss": "dss",
    "http": "http",
    "jobs": "jobs",
    "maximus": "oltp",
    "noop": "driver",
    "oltp": "oltp",
    "power": "oltp",
    "scale": "search",
    "search": "search",
    "ssj": "ssj",
    "storage": "storage",
}
"""How the name of an example begins: the part of `make test-long` that runs it."""
QUICK = {"http-pages", "noop-open", "oltp-ladder"}
"""What `make test` runs of them: the demo, and two that cost little."""
SHOP = ROOT / "examples" / "http" / "shop.py"
SHOP_AT = "http://127.0.0.1:8080"
"""Where the examples of web applications have it."""


def examples() -> Iterator[Any]:
    for path in EXAMPLES:
        marks = [pytest.mark.part(PARTS[path.stem.partition("-")[0]])]
        if path.stem not in QUICK:
            marks.append(LONG)
        if changes_the_host(path):
            marks.append(ON_THE_HOST)
        yield pytest.param(path, marks=marks, id=path.stem)


@pytest.mark.parametrize("path", list(examples()))
def test_example_runs(session: Session, path: Path, pytestconfig: pytest.Config) -> None:
    shortened = session.folder / path.name
    text = soon(path.read_text())
    maximus = path.stem.startswith("maximus")
    if maximus or not pytestconfig.getoption("--long"):
        text = one_warehouse(text)
    if maximus:
        text = without_crashes(text)
    if path.stem.startswith("search"):
        text = low(path.stem, coarse(text))
    if path.stem == "jobs-test4":
        text = few_mixes(text)
    text = re.sub(r"(?m)^    scale: [\d.]+\b.*$", "    scale: 0.01", text)
    crash_once = ("--crashes", "1") if re.search(r"(?m)^ *crashes:", text) else ()
    short = ("--repeats", "1", *crash_once, *short_of(text))
    with ExitStack() as around:
        if changes_the_host(path):
            around.enter_context(host_to_itself())
        if SHOP_AT in text:
            text = at_shop(text, around.enter_context(shop()))
        shortened.write_text(without_extra_trials(text))
        ended = session.run("run", str(shortened), *short, "--allow-unsafe", "--json")
    if ended.returncode == ExitCode.REFUSED and "this machine cannot run it" in ended.stderr:
        do_without(ended.stderr)
    assert ended.stdout, ended.stderr
    document = json.loads(ended.stdout)
    # On a busy machine a trial of two seconds may be marked, never broken.
    expected = {4} if last_commit_lost(document) else {0, 3}
    assert ended.returncode in expected, ended.stderr
    assert document["status"] == "complete"
    statuses = {trial["result"]["status"] for trial in document["trials"]}
    assert statuses <= {"valid", "disturbed", "invalid"}
    for trial in document["trials"]:
        crash = trial["result"]["durability"]
        if crash is None:
            assert all(check["passed"] for check in trial["result"]["checks"])
        elif not trial["result"]["unsafe"] and trial["result"]["variant"] != LOSES_THE_LAST_COMMIT:
            assert crash["lost"] == 0
            assert crash["conditions_failed"] == []
    session.assert_nothing_left()


@contextmanager
def shop() -> Iterator[str]:
    """The application that comes with the examples, at a port of its own: its address."""
    command = [sys.executable, str(SHOP), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def at_shop(text: str, url: str) -> str:
    """The same experiment on that application, with the people of the example."""
    return text.replace(SHOP_AT, url).replace("people: http/", f"people: {SHOP.parent}/")


def short_of(text: str) -> tuple[str, ...]:
    """A short load, as far as the workload leaves that to the profile."""
    if any(f"name: {name}\n" in text for name in ("dss", "storage", "jobs")):
        return ()
    return ("--measure", "2s") if "name: cube" in text else SHORT


def last_commit_lost(document: dict[str, Any]) -> bool:
    """Whether SQLite's default has lost what it may lose, which no setting had been said to."""
    return any(
        trial["result"]["variant"] == LOSES_THE_LAST_COMMIT
        and (trial["result"]["durability"] or {}).get("lost")
        for trial in document["trials"]
    )


def one_warehouse(text: str) -> str:
    """The same experiment on less data."""
    return re.sub(r"warehouses: \d+", "warehouses: 1", text)


def without_crashes(text: str) -> str:
    """The same ladder without crashes, on a disk without delay."""
    return re.sub(r"(?m)^(durability|crashes): .*\n", "", text).replace("write-delay=1ms,", "")


def soon(text: str) -> str:
    """The same outage within the two seconds that are measured here."""
    return re.sub(r"(?m)^(  (?:after|for):) \d+s", r"\1 500ms", text)


def coarse(text: str) -> str:
    """The same search with few and short trials, and no soak."""
    text = re.sub(r"(?m)^  (longest|soak): .*\n", "", text)
    text = re.sub(r"precision: \d+", "precision: 40", text)
    return re.sub(r"(?m)^  (failures|confirm): .*\n", "", text).replace(
        "  kind: search\n", "  kind: search\n  failures: 1\n  confirm: 1\n  soak: 0s\n"
    )


def few_mixes(text: str) -> str:
    """The same mixed jobs: each application alone, and both together."""
    fewer = re.sub(r'(?m)^ +- "(?:flow=[24]|pstm=2)" .*\n', "", text)
    assert text.count("\n") - fewer.count("\n") == 3, "its mixes are not what they were"
    return fewer


LEVELS = {
    "search-archive": {"  from: 100000\n": "  from: 5000\n  at_most: 10000\n"},
    "search-bi-users": {
        "think_time: 5s": "think_time: 200ms",
        "users: 32": "users: 4",
        "at_most: 2048": "at_most: 8",
    },
    "search-cube-users": {
        "warm_up: 10s": "warm_up: 1s",
        "users: 256": "users: 8",
        "at_most: 2048": "at_most: 16",
    },
    "search-oltp-users": {"users: 128": "users: 8", "at_most: 2048": "at_most: 16"},
}
"""What the examples of searches say of their levels, and what is tried here."""


def low(name: str, text: str) -> str:
    """The same search between low levels."""
    for said, instead in LEVELS.get(name, {}).items():
        assert said in text, f"{name} does not say {said!r} any more"
        text = text.replace(said, instead)
    return text


def without_extra_trials(text: str) -> str:
    """Trials that the machine disturbs stay as they are: there is nothing to be learnt here."""
    return re.sub(r"(?m)^extra_trials: .*\n", "", text) + "\nextra_trials: 0\n"


@pytest.mark.part("oltp")
@LONG
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_five_trials_of_one_configuration_begin_alike(session: Session, engine: str) -> None:
    ended = session.run(
        *("run", "oltp", "--target", engine, "--param", "warehouses=1", "--users", "2"),
        *("--repeats", "5", "--warm-up", "0s", "--measure", "1s", "--json"),
    )
    assert ended.returncode in {0, 3}, ended.stderr
    document = json.loads(ended.stdout)
    prints = [trial["result"]["fingerprint"] for trial in document["trials"]]
    assert len(prints) >= 5
    assert {each["digest"] for each in prints} == {prints[0]["digest"]}
    assert {each["size_bytes"] for each in prints} == {prints[0]["size_bytes"]}
    assert not document["comparisons"]


@pytest.mark.part("driver")
def test_a_price_becomes_a_figure(session: Session) -> None:
    path = session.folder / "priced.yaml"
    text = (ROOT / "examples" / "noop-open.yaml").read_text()
    path.write_text(text + "\nprice: {amount: 5000, currency: EUR, covers: one server}\n")
    ended = session.run("run", str(path), *SHORT, "--json")
    assert ended.returncode in {0, 3}, ended.stderr
    metrics = json.loads(ended.stdout)["trials"][0]["result"]["metrics"]
    figures = {metric["name"]: metric for metric in metrics}
    price = figures["price_per_operations_per_s"]
    assert price["unit"] == "EUR per operations/s"
    assert price["value"] == pytest.approx(5000 / figures["operations_per_s"]["value"])
