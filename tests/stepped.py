"""What tests of workloads that are made of steps ask of an engine and of a result."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from loadstone.errors import LoadstoneError
from loadstone.experiments.model import TargetSpec
from loadstone.load.frames import Event
from loadstone.load.steps import StepRun, steps_of
from loadstone.results.frames import parsed_frames
from loadstone.targets.registry import TARGETS


def skip_without(engine: str) -> None:
    """Skips by name where an engine is missing, never in CI."""
    try:
        TARGETS[engine].describe(TargetSpec(engine=engine))
    except LoadstoneError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


def is_there(engine: str) -> bool:
    """Whether this machine has an engine; `skip_without` says why not."""
    try:
        TARGETS[engine].describe(TargetSpec(engine=engine))
    except LoadstoneError:
        return False
    return True


SHORT_LIVED = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""The environment of a JVM that lives for seconds: what it compiles, it compiles quickly."""


def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of data that all processes of this test run share: they are made once, locked."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"


def metrics(result: dict[str, Any]) -> dict[str, float]:
    return {metric["name"]: metric["value"] for metric in result["metrics"]}


def steps(trial: Path) -> list[StepRun]:
    return steps_of(frame for frame in parsed_frames(trial) if isinstance(frame, Event))
