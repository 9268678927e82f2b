"""The master of a Spark cluster, as people write it: `spark://host:port`."""

from __future__ import annotations

import re
import socket

from loadstone.errors import TargetError, WrongInputError

LOCAL = "local[*]"
"""Driver and executor in one JVM."""
_FORM = re.compile(r"spark://(?P<host>\[[0-9a-fA-F:]+\]|[^\s:/,@\[\]]+):(?P<port>\d{1,5})")
_PATIENCE_S = 10.0


def is_master(server: str) -> bool:
    """Whether the word is a master rather than `embedded`."""
    return server.startswith("spark://")


def check(server: str) -> None:
    """Looks at the form of a master.

    Raises:
        WrongInputError: If it cannot be read.
    """
    found = _FORM.fullmatch(server)
    if found is None or int(found["port"]) > 65535:
        raise WrongInputError(
            "the address of the master cannot be read", advice="write spark://host:port"
        )


def own_address(master: str) -> str:
    """The address of this machine at which the workers of a cluster can reach it.

    Raises:
        TargetError: If nothing answers there.
    """
    found = _FORM.fullmatch(master)
    assert found is not None  # noqa: S101 - checked before anything runs
    place = found["host"].strip("[]"), int(found["port"])
    try:
        with socket.create_connection(place, timeout=_PATIENCE_S) as connection:
            return str(connection.getsockname()[0])
    except OSError as error:
        why = error.strerror or str(error)
        raise TargetError(
            f"the Spark master {master} does not answer: {why}",
            advice="start it, or look for its address on its web page",
        ) from error
