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


def metrics(result: dict[str, Any]) -> dict[str, float]:
    return {metric["name"]: metric["value"] for metric in result["metrics"]}


def steps(trial: Path) -> list[StepRun]:
    return steps_of(frame for frame in parsed_frames(trial) if isinstance(frame, Event))
