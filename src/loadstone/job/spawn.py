"""A launcher for ranks that know nothing of each other, on this node.

Usage: python -m loadstone.job.spawn RANKS COMMAND...
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType

from loadstone.job.rank import RANK, RANKS


def spawn(ranks: int, command: Sequence[str]) -> int:
    """Starts all ranks and waits for them; one that fails ends the others.

    Returns:
        0, or what the first that failed returned; 128 and its signal if a signal ended it.
    """
    running: dict[int, subprocess.Popen[bytes]] = {}

    def forward(number: int, _frame: FrameType | None = None) -> None:
        for process in list(running.values()):
            with suppress(ProcessLookupError):
                process.send_signal(number)

    signal.signal(signal.SIGTERM, forward)
    signal.signal(signal.SIGINT, forward)
    for rank in range(ranks):
        told = {RANK: str(rank), RANKS: str(ranks)}
        process = subprocess.Popen(command, env={**os.environ, **told})
        running[process.pid] = process
    code = 0
    while running:
        pid, status = os.wait()
        ended = running.pop(pid, None)
        if ended is None:
            continue
        ended.returncode = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else status >> 8
        if ended.returncode and not code:
            code = ended.returncode if ended.returncode > 0 else 128 - ended.returncode
            forward(signal.SIGTERM)
    return code


if __name__ == "__main__":
    sys.exit(spawn(int(sys.argv[1]), sys.argv[2:]))
