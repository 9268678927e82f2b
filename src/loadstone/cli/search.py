"""`loadstone search`."""

from __future__ import annotations

from loadstone.cli.changes import put_search
from loadstone.cli.draft import begin
from loadstone.cli.execute import execute
from loadstone.cli.options import Execution, SearchForm, ShortForm


def command(
    what: str,
    /,
    *,
    search: SearchForm = SearchForm(),  # noqa: B008
    short: ShortForm = ShortForm(),  # noqa: B008
    execution: Execution = Execution(),  # noqa: B008
) -> int:
    """Search for the highest rate, or the most users, that a system can sustain.

    A level holds if the load generator was healthy, 99 % of what was offered was achieved, the
    objective is met in every window, and neither backlog nor response time rises.

    * `loadstone search oltp --think-time 1s --objective "p95 < 500 ms" --soak 10min`
    * `loadstone search noop --over rate --from 100 --sessions 20 --objective "p99 < 200 ms"`
    * `loadstone search examples/search-oltp-users.yaml`

    Args:
        what: A workload or an experiment file.
        search: Options of the search.
        short: Options of the experiment.
        execution: Options of the run.
    """
    draft = begin(what, "search", short)
    put_search(draft, search)
    return execute(draft.finish(), execution)
