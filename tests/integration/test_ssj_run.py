"""Server-side Java, by the commands of users, on small companies in real JVMs."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from command_line import Done, loadstone
from lengths import LONG
from session import Session, until

from loadstone.errors import ExitCode, WrongInputError
from loadstone.spec.target import TargetSpec
from loadstone.targets.jvm import Jvm
from loadstone.targets.jvm.server import JvmServer
from loadstone.workloads.ssj.checks import CHECKS
from loadstone.workloads.ssj.parameters import OPERATIONS

ENDED = {ExitCode.OK, ExitCode.INVALID_TRIAL}
"""On a busy machine the generator may be late, which marks a trial."""
SMALL = ("--set", "heap=128m", "--set", "customers=50", "--set", "items=500", "--set", "orders=30")
SHORT = ("--warm-up", "200ms", "--measure")
TWO = ("--param", "warehouses=2", "--set", "jvms=2")


@pytest.fixture(autouse=True, scope="module")
def java() -> None:
    """Skips without a Java runtime or the program, but for continuous integration."""
    try:
        Jvm.describe(TargetSpec(engine="jvm"))
    except WrongInputError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(error.message)


@pytest.fixture(autouse=True)
def nothing_left(own_places: Path) -> Iterator[None]:
    yield
    assert list((own_places / "state").glob("open/*.json")) == []


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path) as user:
        yield user


def run(*options: str, verb: str = "run", measure: str = "1s") -> Done:
    return loadstone(verb, "ssj", *SMALL, *SHORT, measure, "--json", "--quiet", *options)


def documented(done: Done) -> dict[str, Any]:
    assert done.returncode in ENDED, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def results(done: Done) -> list[dict[str, Any]]:
    return [trial["result"] for trial in documented(done)["trials"]]


def inventories() -> list[dict[str, Any]]:
    return [
        json.loads(path.read_text())["target"]
        for path in sorted(Path("results").glob("*/*/inventory.json"))
    ]


def jvms_of(folder: Path) -> list[psutil.Process]:
    """Those that a journal below a folder tells of."""
    found = []
    for journal in folder.glob("results/*/journal.jsonl"):
        for line in filter(None, journal.read_text().splitlines()):
            entry = json.loads(line)
            if entry.get("kind") == JvmServer.undo_name:
                found += JvmServer.processes_of(Path(os.path.realpath(entry["data"]["data"])))
    return found


def test_two_jvms_make_one_load_and_their_books_balance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx64m")
    (result,) = results(run(*TWO, "--set", "collector=Serial"))
    checks = {each["name"]: each for each in result["checks"]}
    assert set(checks) == {check.name for check in CHECKS}
    assert [each["detail"] for each in checks.values() if not each["passed"]] == []
    assert "of company 2" in checks["the live set is level"]["detail"]
    counts = {each["name"]: each["count"] for each in result["operations"]}
    assert set(counts) == set(OPERATIONS)
    assert all(counts[name] for name in ("new-order", "payment", "customer-report"))
    factors = {each["factor"]: each["read_back"] for each in result["factors"]}
    assert factors["target.heap"] == "128m"  # and not the 64m of the environment
    assert (factors["target.jvms"], factors["target.collector"]) == (2, "Serial")
    assert {"jvm1", "jvm2"} <= {each["name"] for each in result["parts"]}
    assert "java-options-taken-away" in {each["code"] for each in result["notices"]}
    assert "gc-log-not-known" not in {each["code"] for each in result["notices"]}
    (inventory,) = inventories()
    assert inventory["collector"] == "Serial"
    assert inventory["jvms"]["count"] == 2
    assert inventory["settings"]["heap"]["MaxHeapSize"] == "134217728 (command line)"
    (log,) = Path("results").glob("*/*/target.jvm2.log")
    assert "Using Serial" in log.read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--set", "heap=lots"), "heap is a size"),
        (("--set", "flag.UseConcMarkSweepGC=true"), "UseConcMarkSweepGC"),
        (("--set", "flag.NoSuchFlag=1"), "NoSuchFlag"),
        (("--users", "3"), "ssj"),
        (("--param", "warehouses=3", "--set", "jvms=2"), "3 warehouses cannot be divided"),
        (("--param", "mix=new-order=1"), "orders would pile up or run out"),
        (("--set", "java=/no/such/runtime"), "there is no program"),
        (("--target", "postgresql"), "java-transactions"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_begins(
    options: tuple[str, ...], words: str
) -> None:
    done = loadstone("plan", "ssj", *options)
    assert done.returncode == ExitCode.WRONG_INPUT, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path("results").exists()


@LONG
def test_a_planted_wrong_balance_fails_its_check_and_no_other() -> None:
    done = run("--param", "fault=wrong-balance")
    assert done.returncode == ExitCode.FAILED_CHECK
    (trial,) = json.loads(done.stdout)["trials"]
    result = trial["result"]
    assert [each["name"] for each in result["checks"] if not each["passed"]] == [
        "customers' balances"
    ]


@LONG
def test_transactions_become_due_at_a_rate() -> None:
    (result,) = results(run("--rate", "2000", measure="3s"))
    values = {each["name"]: each["value"] for each in result["metrics"]}
    assert values["operations_per_s"] == pytest.approx(2000, rel=0.5)
    assert values["response_p99_ms"] > 0
    assert all(each["passed"] for each in result["checks"])


@LONG
def test_another_collector_that_jvms_choose_by_themselves_is_a_second_variable() -> None:
    """Case 14: one JVM on two processors takes G1, two on one each take Serial."""
    if len(os.sched_getaffinity(0)) != 2:
        pytest.skip("a machine of two processors is needed")
    vary = ("--factor", "target.jvms", "--levels", "1,2", "--repeats", "2")
    document = documented(
        run(*vary, "--param", "warehouses=2", "--set", "affinity=split", verb="compare")
    )
    said = [each["message"] for each in document["notices"]]
    here = [each for each in said if "changed too" in each]
    chosen = {each["jvms"]["count"]: each["collector"] for each in inventories()}
    if chosen[1] == chosen[2]:  # less than 2 GB: both are Serial
        assert here == []
    else:
        assert chosen == {1: "G1", 2: "Serial"}
        assert "the collector changed too (G1 to Serial): two variables" in here[0]
    processors = {
        each["jvms"]["count"]: each["jvms"]["affinity"]["processors"] for each in inventories()
    }
    assert processors == {1: "2", 2: "1"}


@LONG
def test_large_pages_without_reserved_ones_are_an_error() -> None:
    if int(Path("/proc/sys/vm/nr_hugepages").read_text()):
        pytest.skip("huge pages are reserved here")
    done = run("--set", "page_size=2m")
    assert done.returncode not in ENDED
    assert "target.page_size = 2m did not come into force" in done.stderr + done.stdout


@LONG
@pytest.mark.parametrize("collector", ["G1", "Parallel", "Serial", "ZGC"])
def test_the_log_of_each_collector_is_understood(collector: str) -> None:
    (result,) = results(run("--set", f"collector={collector}", measure="4s"))
    notices = {each["code"]: each["message"] for each in result["notices"]}
    assert "gc-log-not-known" not in notices, notices
    assert all(each["passed"] for each in result["checks"])


@LONG
@pytest.mark.parametrize("victim", ["a JVM", "the lab", "by Ctrl-C"])
def test_nothing_is_left(session: Session, victim: str) -> None:
    lab = session.start("run", "ssj", *SMALL, *TWO, "--warm-up", "100ms", "--measure", "60s")
    session.measuring()
    running = until("JVMs", lambda: jvms_of(session.folder))
    assert len(running) == 2
    if victim == "a JVM":
        running[0].kill()
        _, said = lab.communicate(timeout=120)
        assert lab.returncode != 0
        assert "the JVM" in said
        assert session.result()["status"] == "failed"
    elif victim == "by Ctrl-C":
        lab.send_signal(signal.SIGINT)
        lab.communicate(timeout=120)
        assert lab.returncode == 130
    else:
        lab.kill()
        lab.communicate()
        assert jvms_of(session.folder) == running
        recovered = session.run("recover")
        assert recovered.returncode == 0, recovered.stderr
    assert jvms_of(session.folder) == []
    session.assert_nothing_left()


@LONG
def test_a_jvm_that_stands_still_serves_nothing_meanwhile(tmp_path: Path) -> None:
    experiment = {
        "version": 1,
        "name": "stopped",
        "workload": {"name": "ssj", "parameters": {"warehouses": 1}},
        "target": {"engine": "jvm", "settings": {"heap": "128m", "jvms": 1, "customers": 50}},
        "profile": {"load": "open", "rate_per_s": 2000, "warm_up": "300ms", "measure": "4s"},
        "outage": {"kind": "pause", "after": "500ms", "for": "2s", "part": "jvm1"},
    }
    (tmp_path / "stopped.yaml").write_text(json.dumps(experiment))
    (result,) = results(loadstone("run", "stopped.yaml", "--json", "--quiet"))
    (outage,) = result["outages"]
    assert outage["to_s"] - outage["from_s"] >= 2
    longest = max(each["response"]["max_s"] for each in result["operations"] if each["response"])
    assert longest >= 1.5
    assert all(each["passed"] for each in result["checks"])
