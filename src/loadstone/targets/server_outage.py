"""How a server of Loadstone's is put out of service for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Literal

from loadstone.targets.base import Target
from loadstone.targets.owned_server import OwnedServer


def server_outage(
    target: Target, server: OwnedServer, kind: Literal["pause", "stop", "kill"]
) -> AbstractContextManager[None]:
    """Pauses, stops or kills a server for as long as the block lasts.

    Args:
        target: That stops, kills and starts it, with all that this takes besides.
        server: Its server.
        kind: What is done to it.
    """
    if kind == "pause":
        return server.paused()
    take_down = target.stop if kind == "stop" else partial(target.crash, "kill")
    return _down(take_down, target.start)


@contextlib.contextmanager
def _down(take_down: Callable[[], None], bring_back: Callable[[], None]) -> Iterator[None]:
    take_down()
    try:
        yield
    finally:
        bring_back()
