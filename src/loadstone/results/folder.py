"""The folders of an experiment and of its trials, written as the run goes.

`results/<experiment>/<trial>/`. Nothing is ever overwritten by another experiment, and whatever
happens to the process, what was written until then can be read.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from loadstone.errors import WrongInputError
from loadstone.experiments.model import Experiment, TrialPlan
from loadstone.load.totals import LoadLog
from loadstone.results.files import full_disk_said, write_atomically
from loadstone.results.frames import FRAMES_FILE, FramesWriter, parsed_frames
from loadstone.results.record import Notice, Status, TrialResult
from loadstone.results.samples import SAMPLES_LINES, SamplesWriter, finish_samples

EXPERIMENT_FILE = "experiment.json"
DESIGN_FILE = "design.json"
PLAN_FILE = "plan.json"
RESULT_FILE = "result.json"
INVENTORY_FILE = "inventory.json"
LATENCY_FILE = "latency.hlog"
_LOCK_FILE = ".running"
_MAX_SUFFIX = 10_000

Model = TypeVar("Model", bound=BaseModel)


class ExperimentFolder:
    """`results/<experiment>/`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, results: Path, name: str) -> ExperimentFolder:
        """Makes a folder of its own: `name`, or `name-2`, `name-3` ... if there are such already.

        Args:
            results: Folder of all results; made if it is missing.
            name: Of the experiment.

        Raises:
            WrongInputError: If it cannot be made.
            DiskFullError: If there is no space left.
        """
        try:
            with full_disk_said(results / name):
                results.mkdir(parents=True, exist_ok=True)
                return cls(_make_new(results, name))
        except OSError as error:
            raise WrongInputError(
                f"results cannot be written to {results}: {error.strerror}",
                advice="name another folder with --results",
            ) from error

    @property
    def name(self) -> str:
        """The experiment's name, with the suffix that made it unique."""
        return self.path.name

    def write_experiment(self, experiment: Experiment) -> None:
        """Writes `experiment.json`."""
        _write_model(self.path / EXPERIMENT_FILE, experiment)

    def write_design(
        self,
        variants: Sequence[BaseModel],
        pairs: Sequence[Mapping[str, str]],
        command: str,
        kept: Mapping[str, bool] | None = None,
    ) -> None:
        """Writes `design.json`; again when a ladder has decided a rung.

        Args:
            variants: The first is the baseline.
            pairs: `candidate`, `baseline` and `role` of each comparison.
            command: What the user typed.
            kept: Rung: whether it stayed, if the design decides that.
        """
        document: dict[str, Any] = {
            "variants": [variant.model_dump(mode="json") for variant in variants],
            "pairs": [dict(pair) for pair in pairs],
            "command": command,
        }
        if kept is not None:
            document["kept"] = dict(kept)
        _write_json(self.path / DESIGN_FILE, document)

    def trial(self, plan: TrialPlan) -> TrialFolder:
        """Makes the folder of a trial that begins now."""
        return TrialFolder.create(self.path, plan)

    def trials(self) -> list[Path]:
        """Folders of its trials, by name."""
        return sorted(path.parent for path in self.path.glob(f"*/{PLAN_FILE}"))


class TrialFolder:
    """`results/<experiment>/<trial>/` of a trial that runs.

    A lock marks it as running. The kernel lets go of it when the process dies, so a trial that
    is `running` without a lock is one that was killed.
    """

    def __init__(self, path: Path, plan: TrialPlan, started_at: str, lock: IO[bytes]) -> None:
        self.path = path
        self.plan = plan
        self.started_at = started_at
        self._lock = lock
        self.frames = FramesWriter(path / FRAMES_FILE)
        self.samples = SamplesWriter(path / SAMPLES_LINES)

    @classmethod
    def create(cls, experiment: Path, plan: TrialPlan) -> TrialFolder:
        """Makes the folder, with the plan and a result of status `running`.

        Raises:
            WrongInputError: If there is such a trial already.
            DiskFullError: If there is no space left.
        """
        path = experiment / plan.trial
        with full_disk_said(path):
            try:
                path.mkdir()
            except FileExistsError as error:
                raise WrongInputError(
                    f"{path} exists already, and results are never overwritten"
                ) from error
            lock = (path / _LOCK_FILE).open("wb")
            fcntl.flock(lock, fcntl.LOCK_EX)
            _write_model(path / PLAN_FILE, plan)
            started_at = _now()
            _write_model(path / RESULT_FILE, _empty(plan, Status.RUNNING, started_at))
            return cls(path, plan, started_at, lock)

    def write_inventory(self, inventory: Mapping[str, Any]) -> None:
        """Writes `inventory.json`."""
        _write_json(self.path / INVENTORY_FILE, inventory)

    def write_result(self, result: TrialResult) -> None:
        """Writes `result.json` as a whole."""
        write_result(self.path, result)

    def close(self) -> None:
        """Closes the files, turns the samples into a table and gives up the lock."""
        try:
            with contextlib.ExitStack() as stack:
                stack.callback(finish_samples, self.path)
                stack.callback(self.samples.close)
                stack.callback(self.frames.close)
        finally:
            (self.path / _LOCK_FILE).unlink(missing_ok=True)
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def write_result(trial: Path, result: TrialResult) -> None:
    """Writes `result.json` of a trial, atomically."""
    _write_model(trial / RESULT_FILE, result)


def read_plan(trial: Path) -> TrialPlan:
    """Reads `plan.json` of a trial.

    Raises:
        WrongInputError: If it is missing or cannot be read.
    """
    return _read_model(trial / PLAN_FILE, TrialPlan)


def read_result(trial: Path) -> TrialResult:
    """Reads `result.json` of a trial.

    Raises:
        WrongInputError: If it is missing or cannot be read.
    """
    return _read_model(trial / RESULT_FILE, TrialResult)


def read_inventory(trial: Path) -> dict[str, Any]:
    """Reads `inventory.json` of a trial; empty if there is none."""
    with contextlib.suppress(OSError, ValueError):
        value = json.loads((trial / INVENTORY_FILE).read_text(encoding="utf-8"))
        return value if isinstance(value, dict) else {}
    return {}


def is_running(trial: Path) -> bool:
    """True while the process that makes the trial lives."""
    try:
        with (trial / _LOCK_FILE).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def finish_interrupted(trial: Path) -> TrialResult:
    """Finishes the record of a trial whose process was killed; a finished one is left alone.

    What was measured is kept: phases, operations and the generator's health come from the frames
    that are whole. Figures that need the data's own counters cannot be had any more.

    Args:
        trial: Folder of the trial.

    Returns:
        The record as it stands now.

    Raises:
        WrongInputError: If the folder holds no plan.
    """
    plan = read_plan(trial)
    before = _result_or_none(trial)
    if before is not None and before.status is not Status.RUNNING:
        return before
    if before is None:
        begun = datetime.fromtimestamp((trial / PLAN_FILE).stat().st_mtime, UTC)
        before = _empty(plan, Status.RUNNING, begun.isoformat())
    if is_running(trial):
        return before
    log = LoadLog.of(parsed_frames(trial))
    finish_samples(trial)
    result = before.model_copy(
        update={
            "status": Status.INTERRUPTED,
            "finished_at": _last_written(trial),
            "notices": [*before.notices, _killed(log)],
            "operations": log.operations() if log.measured().duration_s > 0 else [],
            "phases": log.phases(),
            "generator": log.health(),
        }
    )
    write_result(trial, result)
    (trial / _LOCK_FILE).unlink(missing_ok=True)
    return result


def _killed(log: LoadLog) -> Notice:
    phases = log.phases()
    where = f"in phase {phases[-1].name} at {phases[-1].to_s:.0f} s" if phases else "before load"
    return Notice(
        code="interrupted",
        severity="error",
        message=f"the process that made this trial was killed {where}; "
        "what was measured until then is kept",
        advice="`loadstone recover` undoes what it left on the machine; then repeat the trial",
    )


def _empty(plan: TrialPlan, status: Status, started_at: str) -> TrialResult:
    return TrialResult(
        experiment=plan.experiment,
        trial=plan.trial,
        variant=plan.variant.name,
        block=plan.block,
        order=plan.order,
        status=status,
        started_at=started_at,
    )


def _make_new(results: Path, name: str) -> Path:
    for number in range(1, _MAX_SUFFIX):
        path = results / (name if number == 1 else f"{name}-{number}")
        with contextlib.suppress(FileExistsError):
            path.mkdir()
            return path
    raise WrongInputError(
        f"{results} holds {_MAX_SUFFIX} results named {name}", advice="name the experiment anew"
    )


def _result_or_none(trial: Path) -> TrialResult | None:
    return read_result(trial) if (trial / RESULT_FILE).exists() else None


def _last_written(trial: Path) -> str:
    moments = [path.stat().st_mtime for path in trial.iterdir() if path.is_file()]
    return datetime.fromtimestamp(max(moments), UTC).isoformat()


def _read_model(path: Path, model: type[Model]) -> Model:
    try:
        return model.model_validate_json(path.read_bytes())
    except OSError as error:
        raise WrongInputError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise WrongInputError(
            f"{path} is not what this version of Loadstone writes: {error.errors()[0]['msg']}"
        ) from error


def _write_model(path: Path, value: BaseModel) -> None:
    write_atomically(path, value.model_dump_json(indent=2) + "\n")


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(value, indent=2, default=str) + "\n")


def _now() -> str:
    return datetime.now(UTC).isoformat()
