"""Finishing the record of a trial whose process was killed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from loadstone.results.frames import parsed_frames
from loadstone.results.record import Notice, Status, TrialResult
from loadstone.results.trial_files import (
    LOCK_FILE,
    PLAN_FILE,
    RESULT_FILE,
    empty_result,
    is_running,
    read_plan,
    read_result,
    write_result,
)

if TYPE_CHECKING:
    from loadstone.load.totals import LoadLog


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
        before = empty_result(plan, Status.RUNNING, begun.isoformat())
    if is_running(trial):
        return before
    # They bring numpy and pyarrow, which a command that lists results does not need otherwise.
    from loadstone.load.totals import LoadLog
    from loadstone.results.samples import finish_samples

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
    (trial / LOCK_FILE).unlink(missing_ok=True)
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


def _result_or_none(trial: Path) -> TrialResult | None:
    return read_result(trial) if (trial / RESULT_FILE).exists() else None


def _last_written(trial: Path) -> str:
    moments = [path.stat().st_mtime for path in trial.iterdir() if path.is_file()]
    return datetime.fromtimestamp(max(moments), UTC).isoformat()
