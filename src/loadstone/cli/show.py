"""`loadstone show`."""

from __future__ import annotations

from loadstone.cli.find import find_result
from loadstone.cli.options import Output


def command(result: str, /, *, output: Output = Output()) -> None:  # noqa: B008
    """Show a result on the terminal: an experiment, or one trial of it.

    * `loadstone show oltp-ladder`
    * `loadstone show oltp-ladder/b01-2-wal --json`

    Args:
        result: An experiment or experiment/trial, as `loadstone list` names it, or its folder.
        output: Where results lie and how to answer.
    """
    found = find_result(output, result)
    from loadstone.cli.answer import answer, answer_trial

    if found.trial is not None:
        answer_trial(found.trial, as_json=output.json)
    else:
        answer(found.experiment, as_json=output.json)
