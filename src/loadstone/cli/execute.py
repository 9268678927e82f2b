"""Runs a checked experiment and answers: what `run`, `compare`, `ladder` and `sweep` share."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loadstone.cli.console import err, say
from loadstone.cli.options import Execution
from loadstone.cli.outlook import too_few_repeats
from loadstone.errors import ExitCode, InterruptedTrialError, LeftBehindError
from loadstone.experiments.file import Written
from loadstone.experiments.preflight.check import Examined, examine_experiment
from loadstone.results.record import Status, TrialResult
from loadstone.spec.problems import refuse

if TYPE_CHECKING:
    from loadstone.cli.progress import Collector
    from loadstone.report.model.searching import SearchReport


def execute(written: Written, execution: Execution) -> int:
    """Checks an experiment, runs it, and prints what was found.

    Args:
        written: The experiment and where it was said.
        execution: How to run it and how to answer.

    Returns:
        The exit code: that of the worst trial.

    Raises:
        LoadstoneError: If it cannot be run.
    """
    experiment = written.experiment
    check(written)
    from loadstone.experiments.conduct import RunOptions, conduct

    if not execution.quiet and (few := too_few_repeats(experiment)) is not None:
        say(f"warning: {few}")
    observer = _observer(execution)
    options = RunOptions(
        results=execution.results,
        command=shlex.join(["loadstone", *sys.argv[1:]]),
        allow_unsafe=execution.allow_unsafe,
        force=execution.force,
    )
    interrupted, left = False, None
    try:
        path = conduct(experiment, options, observer)
    except InterruptedTrialError:
        if observer.path is None:
            raise
        path, interrupted = observer.path, True
    except LeftBehindError as error:
        if observer.path is None or not observer.results:
            raise
        path, left = observer.path, error
    finally:
        observer.close()
    if interrupted:
        say(f"interrupted; what was measured is kept in {path}")
    from loadstone.cli.answer import answer

    document = answer(path, as_json=execution.json, write_page=True)
    if left is not None:
        raise left
    if interrupted:
        return ExitCode.INTERRUPTED
    if document.search is not None and document.search.status != "unfinished":
        return searched(document.search, observer.results)
    return worst(observer.results, every_loss=experiment.design.kind == "crash")


def check(written: Written) -> Examined:
    """Refuses an experiment that cannot run, before anything is started.

    Returns:
        What was found out on the way.

    Raises:
        WrongInputError: With every problem and where it lies.
    """
    examined = examine_experiment(written.experiment)
    if examined.problems:
        refuse(written.source, examined.problems)
    return examined


def worst(results: Sequence[TrialResult], *, every_loss: bool = False) -> ExitCode:
    """The exit code of the worst trial.

    A disturbed trial is none of the user's doing: it was kept, marked, and repeated if allowed.

    Args:
        results: Of all trials.
        every_loss: A loss under unsafe settings counts too, as it does where it was asked for.
    """
    if any(result.status is Status.INTERRUPTED for result in results):
        return ExitCode.INTERRUPTED
    if any(result.status is Status.FAILED for result in results):
        return ExitCode.TARGET
    if any(_wrong_data(result, every_loss) for result in results):
        return ExitCode.FAILED_CHECK
    if any(result.status is Status.INVALID for result in results):
        return ExitCode.INVALID_TRIAL
    return ExitCode.OK


def searched(search: SearchReport, results: Sequence[TrialResult]) -> ExitCode:
    """The exit code of a search that came to its end, whatever it found.

    That trials above the limit fail is what it looked for; wrong data is not, nor is an end that
    is not the system's doing.
    """
    if any(not check.passed for result in results for check in result.checks):
        return ExitCode.FAILED_CHECK
    return ExitCode.INVALID_TRIAL if search.status == "cut short" else ExitCode.OK


def _wrong_data(result: TrialResult, every_loss: bool) -> bool:
    """Whether a check failed, or a crash lost what it must not lose."""
    if result.durability is None:
        return any(not check.passed for check in result.checks)
    return result.durability.outcome != "survived" and (every_loss or not result.unsafe)


def _observer(execution: Execution) -> Collector:
    from loadstone.cli.progress import Collector, Display, Lines

    if execution.quiet:
        return Collector()
    return Display(err()) if sys.stderr.isatty() else Lines()
