"""What tests of workloads that are made of steps ask of an engine and of a result."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from loadstone.errors import LoadstoneError
from loadstone.protocol.frames import Event
from loadstone.protocol.steps import StepRun, steps_of
from loadstone.results.frames import parsed_frames
from loadstone.spec.target import TargetSpec
from loadstone.targets.registry import target_for
from loadstone.workloads.cube.cycle import STEPS


def skip_without(engine: str) -> None:
    """Skips by name where an engine is missing, never in CI."""
    try:
        spec = TargetSpec(engine=engine)
        target_for(spec).describe(spec)
    except LoadstoneError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


def is_there(engine: str) -> bool:
    """Whether this machine has an engine; `skip_without` says why not."""
    try:
        spec = TargetSpec(engine=engine)
        target_for(spec).describe(spec)
    except LoadstoneError:
        return False
    return True


SHORT_LIVED = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""The environment of a JVM that lives for seconds: what it compiles, it compiles quickly."""


@contextmanager
def jvms_that_live_for_seconds() -> Iterator[None]:
    """Those that this process starts within the block have `SHORT_LIVED`."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SHORT_LIVED.items():
            patch.setenv(name, value)
        yield


def compare_engines(engines: Sequence[str], workload: str) -> str:
    """An experiment, as a file: a trial of each engine that is there, and none made again.

    Args:
        engines: In their order.
        workload: With its parameters, and whatever else the file has.
    """
    levels = ", ".join(engine for engine in engines if is_there(engine))
    return (
        f"version: 1\nname: engines\n{workload}\ntarget: {{engine: {engines[0]}}}\n"
        f"design: {{kind: compare, factor: target.engine, levels: [{levels}]}}\n"
        "extra_trials: 0\n"
    )


def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of data that all processes of this test run share: they are made once, locked."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"


def metrics(result: dict[str, Any]) -> dict[str, float]:
    return {metric["name"]: metric["value"] for metric in result["metrics"]}


def steps(trial: Path) -> list[StepRun]:
    return steps_of(frame for frame in parsed_frames(trial) if isinstance(frame, Event))


def check_cycles(trial: Path, result: dict[str, Any], *, cycles: int, rejected: int) -> None:
    """A trial of the planning cube made all its steps, told what they used, and was checked.

    Args:
        trial: Its folder.
        result: Its result.
        cycles: That it was to make.
        rejected: Lines that each cycle must not have taken.
    """
    assert {
        "every step ended well",
        "every cell equals an independent roll-up",
        "stored answers equal hybrid ones",
        "answers equal an independent reading",
    } <= {check["name"] for check in result["checks"]}
    assert not any(operation["errors"] for operation in result["operations"])
    found = metrics(result)
    assert found["cells_stored"] > 5 * found["cells_loaded"]
    made = steps(trial)
    for step in STEPS:
        own = [each for each in made if each.operation == step]
        assert len(own) == cycles
        assert all(each.cpu_s is not None and each.written_bytes is not None for each in own)
    parsed = [each for each in made if each.operation == "native-load"]
    assert all(each.parser_cpu_s is not None for each in parsed)
    rejects = list(trial.glob("rejects-1*.csv"))
    assert sum(len(list(csv.DictReader(path.open()))) for path in rejects) == rejected


def check_retrieval(result: dict[str, Any]) -> None:
    """A cube that was made with the data was asked for grids, and for nothing else."""
    assert set(metrics(result)) == {"grids_per_s", *(f"response_p{p}_ms" for p in (50, 95, 99))}
    assert [operation["name"] for operation in result["operations"]] == ["retrieve"]
    assert all(check["passed"] for check in result["checks"]), result["checks"]
    assert {check["name"] for check in result["checks"]} == {
        "stored answers equal hybrid ones",
        "answers equal an independent reading",
        "level 0 holds the cells of the files",
        "the files are those of their manifest",
    }
