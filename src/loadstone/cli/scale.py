"""`loadstone scale`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from loadstone.cli.changes import put_scale
from loadstone.cli.draft import begin
from loadstone.cli.execute import execute
from loadstone.cli.options import EXPERIMENT, Execution, ShortForm, Words


def command(
    what: str,
    /,
    *,
    over: Annotated[str | None, Parameter(group=EXPERIMENT)] = None,
    levels: Annotated[
        tuple[str, ...], Parameter(group=EXPERIMENT, metavar="A,B[,...]"), Words
    ] = (),
    users_each: Annotated[float | None, Parameter(group=EXPERIMENT)] = None,
    short: ShortForm = ShortForm(),  # noqa: B008
    execution: Execution = Execution(),  # noqa: B008
) -> int:
    """Measure the same work at 1 to N of something, and fit the law of its scalability.

    * `loadstone scale oltp --over users --levels 1,2,4,8,16,32 --repeats 3`
    * `loadstone scale oltp --over processors --levels 1-2 --users 16`
    * `loadstone scale bi --target superset --over target.nodes --levels 1,2,4 --users-each 40`
    * `loadstone scale examples/scale-oltp-users.yaml`

    Args:
        what: A workload or an experiment file.
        over: `users`, `clients`, `processors` of the server, or a factor whose levels are numbers.
        levels: Each N, or a range as `1-8`.
        users_each: Closed users for each one of N: load grows with the system.
        short: Options of the experiment.
        execution: Options of the run.
    """
    draft = begin(what, "scale", short)
    put_scale(draft, over, levels, users_each)
    return execute(draft.finish(), execution)
