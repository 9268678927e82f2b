"""`loadstone sweep`."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from loadstone.cli.changes import put_sweep
from loadstone.cli.draft import begin
from loadstone.cli.execute import execute
from loadstone.cli.options import EXPERIMENT, Execution, ShortForm, Words


def command(
    what: str,
    /,
    *,
    vary: Annotated[
        tuple[str, ...], Parameter(group=EXPERIMENT, metavar="FACTOR=A,B[,...]"), Words
    ] = (),
    matrix: Annotated[Literal["full", "one-at-a-time"] | None, Parameter(group=EXPERIMENT)] = None,
    short: ShortForm = ShortForm(),  # noqa: B008
    execution: Execution = Execution(),  # noqa: B008
) -> int:
    """Run a matrix of factors and levels, each cell compared with the first.

    * `loadstone sweep oltp --vary users=1,2,4,8 --vary style=statements,procedures`
    * `loadstone sweep examples/oltp-sweep-users.yaml`

    Args:
        what: A workload or an experiment file.
        vary: A factor and its levels, the first is the base; may be repeated.
        matrix: All combinations, or one factor at a time around the first levels.
        short: Options of the experiment.
        execution: Options of the run.
    """
    draft = begin(what, "sweep", short)
    put_sweep(draft, vary, matrix)
    return execute(draft.finish(), execution)
