"""`loadstone reindex`."""

from __future__ import annotations

import json

from loadstone.cli.console import say, say_document
from loadstone.cli.options import Output
from loadstone.errors import WrongInputError


def command(*, output: Output = Output()) -> None:  # noqa: B008
    """Rebuild the index of results from their folders, which are the truth.

    Args:
        output: Where results lie and how to answer.
    """
    from loadstone.load.interrupted import finish_interrupted
    from loadstone.results.store import Store

    if not output.results.is_dir():
        raise WrongInputError(f"there is no folder {output.results}")
    with Store(output.results) as store:
        left_out = store.reindex(finish_interrupted)
        count = len(store.experiments())
    if output.json:
        say_document(
            json.dumps({"version": 1, "experiments": count, "left_out": left_out}, indent=2)
        )
        return
    for line in left_out:
        say(f"left out: {line}")
    say(f"{count} experiment{'s' if count != 1 else ''} in the index of {output.results}")
