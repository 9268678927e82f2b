"""`loadstone compare`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from loadstone.cli.changes import put_compare, put_looks
from loadstone.cli.draft import begin
from loadstone.cli.execute import execute
from loadstone.cli.options import (
    EXPERIMENT,
    Execution,
    Looks,
    ShortForm,
    Words,
    given,
    refuse_idle,
)


def command(
    what: str,
    other: str | None = None,
    /,
    *,
    factor: Annotated[str | None, Parameter(group=EXPERIMENT)] = None,
    levels: Annotated[
        tuple[str, ...], Parameter(group=EXPERIMENT, metavar="A,B[,...]"), Words
    ] = (),
    looks: Looks = None,
    short: ShortForm = ShortForm(),  # noqa: B008
    execution: Execution = Execution(),  # noqa: B008
) -> int:
    """Compare levels of one factor, interleaved; or two results that are there.

    * `loadstone compare oltp --factor shared_buffers --levels 128MB,1GB --repeats 5`
    * `loadstone compare noop --rate 400 --factor service_time_us --levels 100,110 --looks 4,6,8,12`
    * `loadstone compare examples/oltp-compare-shared-buffers.yaml`
    * `loadstone compare monday tuesday` (results, as `loadstone list` names them)

    Args:
        what: A workload, an experiment file, or a result.
        other: A second result, to compare the first with.
        factor: What is varied, as `shared_buffers`, `workload.style` or `profile.users`.
        levels: Its levels, the baseline first; a level given twice makes an A/A comparison.
        looks: Blocks after which it may stop; the last is the most repeats.
        short: Options of the experiment.
        execution: Options of the run.
    """
    if other is not None:
        from loadstone.cli.pairing import compare_results

        named = [] if factor is None else ["--factor"]
        named += ["--levels"] if levels else []
        named += [] if looks is None else ["--looks"]
        named += given(short) + given(execution)
        refuse_idle(
            [each for each in named if each not in ("--results", "--json", "--metric", "--margin")],
            "two results are compared as they are, and nothing is run",
        )
        return compare_results(what, other, execution, short.metric, short.margin)
    draft = begin(what, "compare", short)
    put_compare(draft, factor, levels)
    put_looks(draft, looks)
    return execute(draft.finish(), execution)
