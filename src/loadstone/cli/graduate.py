"""`loadstone graduate`."""

from __future__ import annotations

from loadstone.cli.changes import put_graduated
from loadstone.cli.draft import begin
from loadstone.cli.execute import execute
from loadstone.cli.options import Execution, GraduatedForm, ShortForm


def command(
    what: str,
    /,
    *,
    graduated: GraduatedForm = GraduatedForm(),  # noqa: B008
    short: ShortForm = ShortForm(),  # noqa: B008
    execution: Execution = Execution(),  # noqa: B008
) -> int:
    """Load a system at 100 %, 90 % ... 10 % of what it can do, and at active idle.

    The rate at 100 % is measured first, at full speed, until two intervals agree; or `--rate` gives
    it. Of users with think time the levels are fractions of `--users`. With a meter each level has
    its watts, and the figure of all is the sum of their throughputs over the sum of their watts.

    * `loadstone graduate ssj --meter powercap`
    * `loadstone graduate oltp --form full --repeats 3`
    * `loadstone graduate bi --users 40 --levels 100,50,0`

    Args:
        what: A workload or an experiment file.
        graduated: Options of the levels.
        short: Options of the experiment.
        execution: Options of the run.
    """
    draft = begin(what, "graduate", short)
    put_graduated(draft, graduated)
    return execute(draft.finish(), execution)
