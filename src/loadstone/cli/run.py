"""`loadstone run`."""

from __future__ import annotations

from pathlib import Path

from loadstone.cli.draft import begin
from loadstone.cli.execute import execute
from loadstone.cli.options import Execution, ShortForm


def command(
    what: str,
    /,
    *,
    short: ShortForm = ShortForm(),  # noqa: B008
    execution: Execution = Execution(),  # noqa: B008
) -> int:
    """Run one configuration, an experiment file of any design, or one trial again.

    * `loadstone run oltp --users 8 --measure 60s --set shared_buffers=1GB`
    * `loadstone run examples/oltp-run.yaml`
    * `loadstone run results/oltp-run/b01-1-baseline/plan.json`

    Args:
        what: A workload, an experiment file, or the plan.json of a trial.
        short: Options of the experiment.
        execution: Options of the run.
    """
    if what.endswith(".json"):
        from loadstone.cli.again import again

        return execute(again(Path(what), short), execution)
    return execute(begin(what, "run", short).finish(), execution)
