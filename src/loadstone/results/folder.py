"""The folders of an experiment and of its trials, written as the run goes.

`results/<experiment>/<trial>/`. Nothing is ever overwritten by another experiment, and whatever
happens to the process, what was written until then can be read.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from pydantic import BaseModel

from loadstone.errors import WrongInputError
from loadstone.protocol.frames import Hello, Tick, parse_frame
from loadstone.results.files import full_disk_said
from loadstone.results.frames import FRAMES_FILE, FramesWriter
from loadstone.results.latency import LatencyLog, log_tag
from loadstone.results.record import Status, TrialResult
from loadstone.results.samples import SAMPLES_LINES, SamplesWriter, finish_samples
from loadstone.results.trial_files import (
    DESIGN_FILE,
    EXPERIMENT_FILE,
    INVENTORY_FILE,
    LATENCY_FILE,
    LOCK_FILE,
    PLAN_FILE,
    RESULT_FILE,
    empty_result,
    is_running,
    read_plan,
    read_result,
    target_log_file,
    write_json,
    write_model,
    write_result,
)
from loadstone.secret import masked, masked_data
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan

__all__ = [
    "DESIGN_FILE",
    "EXPERIMENT_FILE",
    "PLAN_FILE",
    "RESULT_FILE",
    "ExperimentFolder",
    "TrialFolder",
    "is_running",
    "read_plan",
    "read_result",
    "write_result",
]

_MAX_SUFFIX = 10_000
_MAX_LOG_BYTES = 16 * 1024 * 1024


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
        write_model(self.path / EXPERIMENT_FILE, experiment)

    def write_design(
        self,
        variants: Sequence[BaseModel],
        pairs: Sequence[Mapping[str, str]],
        command: str,
        kept: Mapping[str, bool] | None = None,
        skipped: Sequence[BaseModel] = (),
        *,
        bound: BaseModel | None = None,
    ) -> None:
        """Writes `design.json`; again when a ladder has decided a rung.

        Args:
            variants: The first is the baseline.
            pairs: `candidate`, `baseline` and `role` of each comparison.
            command: What the user typed.
            kept: Rung: whether it stayed, if the design decides that.
            skipped: Rungs that this machine cannot climb.
            bound: The highest level of a search that this machine can make.
        """
        document: dict[str, Any] = {
            "variants": [variant.model_dump(mode="json") for variant in variants],
            "pairs": [dict(pair) for pair in pairs],
            "command": command,
        }
        if kept is not None:
            document["kept"] = dict(kept)
        if skipped:
            document["skipped"] = [rung.model_dump(mode="json") for rung in skipped]
        if bound is not None:
            document["bound"] = bound.model_dump(mode="json")
        write_json(self.path / DESIGN_FILE, document)

    def trial(self, plan: TrialPlan) -> TrialFolder:
        """Makes the folder of a trial that begins now."""
        return TrialFolder.create(self.path, plan)

    def remove_unless_begun(self) -> None:
        """Removes it where no trial has begun: the target could not be reached, for instance."""
        if not self.trials():
            shutil.rmtree(self.path)

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
        self._hlog: IO[str] | None = None
        self._latency: LatencyLog | None = None

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
            lock = (path / LOCK_FILE).open("wb")
            fcntl.flock(lock, fcntl.LOCK_EX)
            write_model(path / PLAN_FILE, plan)
            started_at = datetime.now(UTC).isoformat()
            write_model(path / RESULT_FILE, empty_result(plan, Status.RUNNING, started_at))
            return cls(path, plan, started_at, lock)

    def write_frame(self, frame: Mapping[str, Any]) -> None:
        """Keeps what the driver said, and its histograms in the standard log.

        Raises:
            DiskFullError: If there is no space left.
        """
        self.frames.write(frame)
        value = parse_frame(frame)
        with full_disk_said(self.path / LATENCY_FILE):
            if isinstance(value, Hello):
                self._hlog = (self.path / LATENCY_FILE).open("x", encoding="ascii")
                start_unix_s = value.unix_time_s - value.t_s
                self._latency = LatencyLog(self._hlog, start_unix_s=start_unix_s)
            elif isinstance(value, Tick) and self._latency is not None:
                _log_latency(self._latency, value)

    def keep_log(self, log: Path | None, part: str = "") -> None:
        """Copies the end of the target's own log into the folder, passwords masked.

        Args:
            log: Where it is; None, or a file that is gone, is no error.
            part: Of the target, whose log it is; empty: of all of it.

        Raises:
            DiskFullError: If there is no space left.
        """
        if log is None or not log.is_file():
            return
        kept = self.path / target_log_file(part)
        with full_disk_said(kept), log.open("rb") as source, kept.open("wb") as copy:
            source.seek(max(0, log.stat().st_size - _MAX_LOG_BYTES))
            text = source.read().decode(errors="surrogateescape")
            copy.write(masked(text).encode(errors="surrogateescape"))

    def write_inventory(self, inventory: Mapping[str, Any]) -> None:
        """Writes `inventory.json`: settings of a server may hold passwords, which are masked."""
        write_json(self.path / INVENTORY_FILE, masked_data(inventory))

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
                if self._hlog is not None:
                    stack.callback(self._hlog.close)
        finally:
            (self.path / LOCK_FILE).unlink(missing_ok=True)
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


def _log_latency(log: LatencyLog, tick: Tick) -> None:
    for name, operation in tick.operations.items():
        if operation.response:
            tag = log_tag(tick.phase, name, "response")
            log.append(tag, tick.from_s, tick.to_s, operation.response)
        if operation.service:
            tag = log_tag(tick.phase, name, "service")
            log.append(tag, tick.from_s, tick.to_s, operation.service)
        for request, made in operation.requests.items():
            if made.service:
                tag = log_tag(tick.phase, name, "service", request)
                log.append(tag, tick.from_s, tick.to_s, made.service)


def _make_new(results: Path, name: str) -> Path:
    for number in range(1, _MAX_SUFFIX):
        path = results / (name if number == 1 else f"{name}-{number}")
        with contextlib.suppress(FileExistsError):
            path.mkdir()
            return path
    raise WrongInputError(
        f"{results} holds {_MAX_SUFFIX} results named {name}", advice="name the experiment anew"
    )
