"""`loadstone ladder`."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from loadstone.cli.changes import put_ladder, put_looks
from loadstone.cli.draft import begin
from loadstone.cli.execute import execute
from loadstone.cli.options import EXPERIMENT, Execution, Flag, Looks, ShortForm, Words


def command(
    what: str,
    /,
    *,
    rung: Annotated[
        tuple[str, ...], Parameter(group=EXPERIMENT, metavar="[NAME:]FACTOR=LEVEL"), Words
    ] = (),
    several: Annotated[bool, Parameter(group=EXPERIMENT), Flag] = False,
    keep: Annotated[Literal["all", "better"] | None, Parameter(group=EXPERIMENT)] = None,
    reference: Annotated[str | None, Parameter(group=EXPERIMENT)] = None,
    looks: Looks = None,
    short: ShortForm = ShortForm(),  # noqa: B008
    execution: Execution = Execution(),  # noqa: B008
) -> int:
    """Climb a ladder of changes: each rung on top of those before it, judged against them.

    * `loadstone ladder oltp --rung shared_buffers=1GB --rung wal:max_wal_size=4GB --repeats 5`
    * `loadstone ladder examples/oltp-ladder.yaml --allow-unsafe`

    Args:
        what: A workload or an experiment file.
        rung: One step, as `shared_buffers=1GB` or `wal:max_wal_size=4GB`; may be repeated.
        several: A rung may change several things, as `a=1,b=2`; the report says so.
        keep: All rungs stay, or only those that are better by verdict, decided rung by rung.
        reference: A published ladder to compare the shape with: `loadstone list references`.
        looks: Blocks after which a verdict may be given; the last is the most repeats.
        short: Options of the experiment.
        execution: Options of the run.
    """
    draft = begin(what, "ladder", short)
    put_ladder(draft, rung, several=several, keep=keep, reference=reference)
    put_looks(draft, looks)
    return execute(draft.finish(), execution)
