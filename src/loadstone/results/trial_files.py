"""The JSON files of a trial's folder: their names, and how they are read and written."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, RootModel, ValidationError

from loadstone.errors import WrongInputError
from loadstone.results.files import write_atomically
from loadstone.results.record import Status, TrialResult
from loadstone.spec.plans import TrialPlan

EXPERIMENT_FILE = "experiment.json"
DESIGN_FILE = "design.json"
PLAN_FILE = "plan.json"
RESULT_FILE = "result.json"
INVENTORY_FILE = "inventory.json"
JOURNAL_FILE = "journal.jsonl"
LATENCY_FILE = "latency.hlog"
TARGET_LOG_FILE = "target.log"
LOCK_FILE = ".running"

Model = TypeVar("Model", bound=BaseModel)


def target_log_file(part: str = "") -> str:
    """Name of the log of a part of the target; without one, of all of it."""
    if not part:
        return TARGET_LOG_FILE
    return f"{Path(TARGET_LOG_FILE).stem}.{part}{Path(TARGET_LOG_FILE).suffix}"


def write_result(trial: Path, result: TrialResult) -> None:
    """Writes `result.json` of a trial, atomically."""
    write_model(trial / RESULT_FILE, result)


def read_plan(trial: Path) -> TrialPlan:
    """Reads `plan.json` of a trial.

    Raises:
        WrongInputError: If it is missing or cannot be read.
    """
    return read_model(trial / PLAN_FILE, TrialPlan)


def read_result(trial: Path) -> TrialResult:
    """Reads `result.json` of a trial.

    Raises:
        WrongInputError: If it is missing or cannot be read.
    """
    return read_model(trial / RESULT_FILE, TrialResult)


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON object of a result that has no model.

    Raises:
        WrongInputError: As `read_model`.
    """
    return read_model(path, RootModel[dict[str, Any]]).root


def is_running(trial: Path) -> bool:
    """True while the process that makes the trial lives."""
    try:
        with (trial / LOCK_FILE).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def empty_result(plan: TrialPlan, status: Status, started_at: str) -> TrialResult:
    """The record of a trial before anything is known of it."""
    return TrialResult(
        experiment=plan.experiment,
        trial=plan.trial,
        variant=plan.variant.name,
        block=plan.block,
        order=plan.order,
        status=status,
        baseline_of=plan.baseline_of,
        started_at=started_at,
    )


def write_model(path: Path, value: BaseModel) -> None:
    """Writes a model as JSON, atomically."""
    write_atomically(path, value.model_dump_json(indent=2) + "\n")


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Writes a JSON object, atomically."""
    write_atomically(path, json.dumps(value, indent=2, default=str) + "\n")


def read_model(path: Path, model: type[Model]) -> Model:
    """Reads a JSON file of a result.

    Raises:
        WrongInputError: If it is missing or damaged; the message names the file, and the place in
            it that is wrong.
    """
    try:
        return model.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise WrongInputError(f"{path} is missing") from None
    except OSError as error:
        raise WrongInputError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise WrongInputError(f"{path} is damaged: {_wrong(error)}") from error


def _wrong(error: ValidationError) -> str:
    detail = error.errors()[0]
    if detail["type"] == "json_invalid":
        return "it is not a whole JSON document"
    place = ".".join(str(part) for part in detail["loc"]) or "the document"
    what = {"missing": "is missing", "extra_forbidden": "is not known to this release"}
    return f"{place} {what.get(detail['type'], 'has a wrong value')}"
