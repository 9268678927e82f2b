"""Daemons of a scheduler that Loadstone starts: they run in nodes of its own, and end with them."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from loadstone.cluster.node import Node
from loadstone.errors import TargetError

_START_S = 60.0
_POLL_S = 0.05
_CITED_LINES = 3


class NodeDaemons:
    """Named processes in nodes, each with a log of its own."""

    def __init__(self, log_of: Callable[[str], Path]) -> None:
        """Starts nothing yet.

        Args:
            log_of: The file that takes what a daemon of that name says.
        """
        self._log_of = log_of
        self._running: dict[str, tuple[Node, subprocess.Popen[bytes]]] = {}

    def start(
        self,
        node: Node,
        name: str,
        words: Sequence[str | Path],
        environment: Mapping[str, str],
    ) -> None:
        """Starts one and does not wait; of a node that came back, anew.

        Args:
            node: That it runs in.
            name: Unique, for people.
            words: Program and arguments; it stays in the foreground.
            environment: As of `Node.popen`.
        """
        self._running[name] = node, node.popen(words, self._log_of(name), environment)

    def wait(self, name: str, ready: Callable[[], bool]) -> None:
        """Waits for something that a daemon brings about.

        Args:
            name: The daemon.
            ready: Whether it has come about.

        Raises:
            TargetError: If one of them ends meanwhile, or it takes too long; it cites the log.
        """
        deadline = time.monotonic() + _START_S
        while not ready():
            self.check_alive()
            if time.monotonic() > deadline:
                raise self._failed(name, f"is not ready after {_START_S:g} s")
            time.sleep(_POLL_S)

    def check_alive(self) -> None:
        """Raises a TargetError, with what its log says, if one has ended whose node runs."""
        for name, (node, process) in self._running.items():
            if process.poll() is not None and node.runs:
                raise self._failed(name, "has ended")

    def wait_ended(self) -> None:
        """Collects them, once their nodes have been closed."""
        for _, process in self._running.values():
            process.wait()
        self._running.clear()

    def _failed(self, name: str, how: str) -> TargetError:
        log = self._log_of(name)
        text = log.read_text(errors="replace") if log.exists() else ""
        lines = [line for line in text.splitlines() if line.strip()]
        said = " | ".join(lines[-_CITED_LINES:]) or "nothing"
        return TargetError(f"{name} {how}; it says: {said}", advice=f"see {log}")
