"""`loadstone crash`."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from loadstone.cli.changes import put_crash
from loadstone.cli.draft import begin
from loadstone.cli.execute import execute
from loadstone.cli.options import EXPERIMENT, Execution, ShortForm


def command(
    what: str,
    /,
    *,
    failure: Annotated[Literal["kill", "power-loss"] | None, Parameter(group=EXPERIMENT)] = None,
    short: ShortForm = ShortForm(),  # noqa: B008
    execution: Execution = Execution(),  # noqa: B008
) -> int:
    """Crash a configuration under load, and look for every commit that was acknowledged.

    Exit code 0: every crash was survived; 4: acknowledged commits were lost, or the data are wrong.

    * `loadstone crash oltp --failure kill --crashes 20`
    * `loadstone crash oltp --failure power-loss --set synchronous_commit=off --allow-unsafe`

    Args:
        what: A workload or an experiment file.
        failure: `kill` ends all processes of the server at once; `power-loss` also throws away what
            was not flushed to the disk. Default: `kill`, or what the file says.
        short: Options of the experiment.
        execution: Options of the run.
    """
    draft = begin(what, "crash", short)
    put_crash(draft, failure)
    return execute(draft.finish(), execution)
