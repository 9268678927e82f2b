"""Decision support as a user runs it: on each engine, on several, and what can go wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import Session, until
from stepped import metrics, skip_without, steps

from loadstone.storage import support
from loadstone.storage.place import parse
from loadstone.targets.registry import TARGETS

ENGINES = [name for name, cls in TARGETS.items() if {"sql", "files"} <= cls.capabilities]
QUERIES = 22
PLACE = "loop:ext4,size=340MB"


def changes(engine: str) -> bool:
    return "changes" in TARGETS[engine].capabilities


def trials(session: Session, *arguments: str) -> list[dict[str, Any]]:
    ended = session.run(*arguments, "--json")
    assert ended.returncode in {0, 3}, ended.stderr
    found: list[dict[str, Any]] = [each["result"] for each in json.loads(ended.stdout)["trials"]]
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_family_on_each_engine(own: Session, engine: str) -> None:
    skip_without(engine)
    less = [] if changes(engine) else ["--param", "refreshes=false"]
    less += ["--set", "spark.sql.shuffle.partitions=2"] if engine == "spark" else []
    (result,) = trials(own, "run", "dss", "--scale", "0.01", "--target", engine, *less)
    assert result["status"] in {"valid", "disturbed"}, result["notices"]
    assert all(check["passed"] for check in result["checks"]), result["checks"]
    found = metrics(result)
    assert {f"q{number:02d}_s" for number in range(1, QUERIES + 1)} <= set(found)
    assert found["geometric_mean_s"] > 0
    assert ("composite" in found) == changes(engine)
    assert found["throughput"] > 0
    data = result["data"]
    parts = sum(data[f"{part}_s"] for part in ("create", "rows", "keys", "statistics"))
    assert data["load_time_s"] == pytest.approx(parts)
    trial = own.trial()
    assert len(list((trial / "plans").iterdir())) == QUERIES
    assert len(list((trial / "shapes").iterdir())) == QUERIES
    assert len(list((trial / "answers").iterdir())) == 2 * QUERIES
    made = steps(trial)
    alone = [step for step in made if step.stream == "power"]
    assert all(step.cpu_s is not None and step.cpu_s >= 0 for step in alone)
    assert sum(step.cpu_s or 0.0 for step in alone) > 0
    together = [step for step in made if step.stream.startswith("stream-")]
    assert len(together) == 2 * QUERIES
    assert (trial.parent / "report.html").is_file()


def test_engines_answer_alike(own: Session) -> None:
    engines = [engine for engine in ENGINES if changes(engine)]
    for engine in engines:
        skip_without(engine)
    arguments = ("--scale", "0.01", "--param", "streams=0", "--factor", "engine")
    found = trials(own, "compare", "dss", *arguments, "--levels", ",".join(engines))
    assert {result["variant"] for result in found} == {f"engine={engine}" for engine in engines}
    alike = [
        check["detail"]
        for result in found
        for check in result["checks"]
        if check["name"] == "answers equal those of other trials" and check["passed"]
    ]
    assert len(alike) == len(found) - 1
    assert all(detail.count(f"{QUERIES} answers of") == 2 for detail in alike)


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if changes(engine)])
def test_a_query_that_takes_too_long_spoils_the_composite_only(own: Session, engine: str) -> None:
    skip_without(engine)
    arguments = ("--scale", "0.1", "--param", "time_limit=12ms", "--param", "warm_up=false")
    ended = own.run("run", "dss", "--target", engine, *arguments, "--json")
    assert ended.stdout, ended.stderr
    result = own.result()
    made = steps(own.trial())
    late = [step for step in made if step.error_class == "time-limit"]
    assert late
    assert len(made) == 24 + 2 * QUERIES + 4
    if all(step.kind == "query" for step in late):  # on a busy machine refreshes may be late too
        assert all(check["passed"] for check in result["checks"])
    assert "composite" not in metrics(result)
    well = {step.operation for step in made if step.stream == "power" and step.ended_well}
    assert {f"{name}_s" for name in well} <= set(metrics(result))
    (notice,) = (each for each in result["notices"] if each["code"] == "queries-failed")
    assert f"{len(late)} of {len(made)} steps did not end well" in notice["message"]


@pytest.mark.parametrize("stream", ["validation", "stream-1"])
def test_a_server_that_is_killed_leaves_what_was_finished(own: Session, stream: str) -> None:
    process = own.start("run", "dss", "--scale", "0.2", "--target", "postgresql")
    trial = own.trial()
    until("some queries", lambda: sum(step.stream == stream for step in steps(trial)) > 5)
    own.postmaster().kill()
    process.communicate(timeout=300)
    assert process.returncode != 0
    result = own.result()
    assert result["status"] == "failed"
    assert sum(step.ended_well for step in steps(trial) if step.stream == stream) > 5
    assert any("has ended" in notice["message"] for notice in result["notices"])


def test_a_disk_that_is_full_in_a_spill_is_told(own: Session) -> None:
    problem = support.unavailable(parse(PLACE))
    if problem:
        pytest.skip(problem)
    experiment = own.folder / "spill.yaml"
    experiment.write_text(
        "version: 1\nname: spill\n"
        "workload: {name: dss, parameters: {scale: 1, streams: 0, warm_up: false}}\n"
        "target:\n  engine: duckdb\n  settings: {memory_limit: 40MB, threads: 2}\n"
        f"  storage: {{data: '{PLACE}'}}\n"
    )
    (result,) = trials(own, "run", "spill.yaml")
    made = steps(own.trial())
    failed = {step.operation: step for step in made if not step.ended_well}
    # On a busy machine q10 may find too little memory or room as well: its threads decide.
    assert "q18" in failed.keys() <= {"q10", "q18"}
    assert "failed to offload" in str(failed["q18"].error)
    assert all("Out of Memory" in str(step.error) for step in failed.values())
    # How much it had spilled when a block found no room differs with its threads, too.
    assert (failed["q18"].spilled_bytes or 0) > 0
    assert len(made) == 24
    assert "power" not in metrics(result)
    assert "q21_s" in metrics(result)


def test_a_scale_that_finds_no_space_is_refused_in_a_line(own: Session) -> None:
    ended = own.run("run", "dss", "--scale", "90000")
    assert ended.returncode != 0
    assert "the data of scale 90000 need" in ended.stderr + ended.stdout
    assert "Traceback" not in ended.stderr
