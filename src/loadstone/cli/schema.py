"""`loadstone schema`."""

from __future__ import annotations

import json
from pathlib import Path

from loadstone.cli.console import say_document
from loadstone.errors import WrongInputError
from loadstone.experiments.schema import experiment_schema
from loadstone.results.files import whole_file


def command(*, output: Path | None = None) -> None:
    """Print the JSON schema of the experiment file, for editors that check while one types.

    Args:
        output: A file to write instead of standard output.
    """
    text = json.dumps(experiment_schema(), indent=2, ensure_ascii=False)
    if output is None:
        say_document(text)
        return
    try:
        with whole_file(output) as draft:
            draft.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise WrongInputError(f"{output} cannot be written: {error.strerror}") from error
