"""Secrets that an experiment only refers to: `env:NAME`, `file:PATH`."""

from __future__ import annotations

import os
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.text import NotTextError, decode


def referred(reference: str, what: str) -> str:
    """What `env:NAME` or `file:PATH` refers to.

    A reference that leads nowhere is not quoted: it may be the secret itself.

    Args:
        reference: Of one of the two forms.
        what: Should be there, for messages: `the password`.

    Raises:
        WrongInputError: If there is nothing.
    """
    kind, _, place = reference.partition(":")
    if kind == "env":
        found = os.environ.get(place)
        if found is None:
            raise WrongInputError(
                f"the environment variable that should hold {what} is not set",
                advice="set it, and name it: env:NAME",
            )
        return found
    try:
        return decode(Path(place).expanduser().read_bytes()).rstrip("\n")
    except (OSError, RuntimeError, NotTextError) as error:  # RuntimeError: no home
        reason = error.strerror if isinstance(error, OSError) else error
        raise WrongInputError(
            f"the file that should hold {what} cannot be read: {reason}",
            advice="name one that this user may read, of text: file:PATH",
        ) from None
