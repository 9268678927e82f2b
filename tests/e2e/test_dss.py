"""Decision support as a user runs it: on each engine, on several, and what can go wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lengths import LONG, long_but
from session import Session, until
from stepped import SHORT_LIVED, compare_engines, metrics, skip_without, steps

from loadstone.placements import support
from loadstone.placements.place import parse
from loadstone.targets.registry import TARGETS

CHANGED = [name for name, cls in TARGETS.items() if {"files", "changes"} <= cls.capabilities]
QUICK = ("postgresql", "duckdb")
"""Those that a quick run compares: a server, and an engine within the process."""
TOGETHER = pytest.mark.xdist_group("dss")
"""Of tests that look at the same trials: one process makes those."""
QUERIES = 22
PLACE = "loop:ext4,size=340MB"


@pytest.fixture(scope="module")
def compared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Path]]:
    """The trial of each engine that is there, of one experiment."""
    engines = CHANGED if request.config.getoption("--long") else QUICK
    workload = "workload: {name: dss, parameters: {scale: 0.01}}"
    with Session(tmp_path_factory.mktemp("compared")) as user:
        (user.folder / "engines.yaml").write_text(compare_engines(engines, workload))
        found = user.trial_results("run", "engines.yaml")
        user.assert_nothing_left()
        yield {
            result["variant"].removeprefix("engine="): trial_folder(user, result)
            for result in found
        }


def trial_folder(session: Session, result: dict[str, Any]) -> Path:
    (folder,) = session.results.glob(f"*/{result['trial']}")
    return folder


@TOGETHER
@pytest.mark.parametrize("engine", long_but(QUICK, CHANGED))
def test_the_whole_family_on_each_engine(compared: dict[str, Path], engine: str) -> None:
    skip_without(engine)
    result = check_family(compared[engine])
    assert metrics(result)["composite"] > 0


@LONG
def test_the_whole_family_without_refreshes_on_spark(own: Session) -> None:
    skip_without("spark")
    own.environment |= SHORT_LIVED
    arguments = ("--param", "refreshes=false", "--set", "spark.sql.shuffle.partitions=2")
    own.trial_results("run", "dss", "--scale", "0.01", "--target", "spark", *arguments)
    result = check_family(own.trial())
    assert "composite" not in metrics(result)


def check_family(trial: Path) -> dict[str, Any]:
    """Every figure, answer and step is there; returns the result."""
    result: dict[str, Any] = json.loads((trial / "result.json").read_text())
    assert result["status"] in {"valid", "disturbed"}, result["notices"]
    assert all(check["passed"] for check in result["checks"]), result["checks"]
    found = metrics(result)
    assert {f"q{number:02d}_s" for number in range(1, QUERIES + 1)} <= set(found)
    assert found["geometric_mean_s"] > 0
    assert found["throughput"] > 0
    data = result["data"]
    parts = sum(data[f"{part}_s"] for part in ("create", "rows", "keys", "statistics"))
    assert data["load_time_s"] == pytest.approx(parts)
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
    return result


@TOGETHER
def test_engines_answer_alike(compared: dict[str, Path]) -> None:
    results = [json.loads((trial / "result.json").read_text()) for trial in compared.values()]
    alike = [
        check["detail"]
        for result in results
        for check in result["checks"]
        if check["name"] == "answers equal those of other trials" and check["passed"]
    ]
    assert len(alike) == len(results) - 1 >= 1
    assert all(detail.count(f"{QUERIES} answers of") == 2 for detail in alike)


@LONG
def test_the_answers_at_scale_1_are_the_published_ones(own: Session) -> None:
    given = ("--scale", "1", "--param", "streams=0", "--param", "refreshes=false")
    (result,) = own.trial_results("run", "dss", "--target", "duckdb", *given)
    checks = {check["name"]: check for check in result["checks"]}
    published = checks["answers are the published ones"]
    assert published["passed"], published
    assert published["detail"].startswith(f"{QUERIES} of {QUERIES} queries have the answer")


@pytest.mark.parametrize(
    ("engine", "scale", "limit"),
    [
        ("duckdb", "0.01", "4ms"),
        *(pytest.param(engine, "0.1", "12ms", marks=LONG) for engine in CHANGED),
    ],
)
def test_a_query_that_takes_too_long_spoils_the_composite_only(
    own: Session, engine: str, scale: str, limit: str
) -> None:
    skip_without(engine)
    arguments = ("--scale", scale, "--param", f"time_limit={limit}", "--param", "warm_up=false")
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


@pytest.mark.parametrize(
    ("stream", "scale"), [("validation", "0.01"), pytest.param("stream-1", "0.1", marks=LONG)]
)
def test_a_server_that_is_killed_leaves_what_was_finished(
    own: Session, stream: str, scale: str
) -> None:
    process = own.start("run", "dss", "--scale", scale, "--target", "postgresql")
    trial = own.trial()
    until("some queries", lambda: sum(step.stream == stream for step in steps(trial)) > 5)
    own.postmaster().kill()
    process.communicate(timeout=300)
    assert process.returncode != 0
    result = own.result()
    assert result["status"] == "failed"
    assert sum(step.ended_well for step in steps(trial) if step.stream == stream) > 5
    assert any("has ended" in notice["message"] for notice in result["notices"])


@LONG
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
    (result,) = own.trial_results("run", "spill.yaml")
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
