"""What the log of a node tells while load runs: workers that died, connections that lacked."""

from __future__ import annotations

import re
from pathlib import Path

from loadstone.probes.base import Probe
from loadstone.results.record import Notice
from loadstone.results.sample import Sample

_SILENT = re.compile(rb"WORKER TIMEOUT \(pid:(\d+)\)")
_SIGNALLED = re.compile(rb"Worker \(pid:(\d+)\) was sent (SIG[A-Z]+)")
_POOL = re.compile(rb"^sqlalchemy\.exc\.TimeoutError: QueuePool limit", re.MULTILINE)
_OWN_SIGNALS = frozenset({b"SIGTERM", b"SIGINT", b"SIGQUIT", b"SIGABRT"})
"""By which gunicorn itself ends workers."""


class NodeLogProbe(Probe):
    """Reads what the log has grown by, once a second.

    A series has a sample only for a second in which a worker died.
    """

    name = "gunicorn"

    def __init__(self, log: Path) -> None:
        """Reads nothing yet.

        Args:
            log: Of gunicorn, which appends to it.
        """
        self._log = log
        self._offset = 0
        self._cut = b""
        self._silent: set[bytes] = set()
        self._killed: set[bytes] = set()
        self._without_connection = 0

    def start(self) -> None:
        """What was written before is passed over."""
        self._offset = self._log.stat().st_size if self._log.exists() else 0

    def sample(self, t_s: float) -> list[Sample]:
        """The workers that died since the last sample."""
        before = self._deaths()
        self._read()
        died = self._deaths() - before
        return [Sample(t_s, self.name, "worker_deaths_count", float(died))] if died else []

    def stop(self) -> None:
        """Reads what came last; nothing is left open."""
        self._read()

    def notices(self) -> list[Notice]:
        """How many workers died, by what, and how often a connection was lacking."""
        found = []
        if self._silent:
            found.append(
                Notice(
                    code="workers-timed-out",
                    severity="warning",
                    message=f"gunicorn killed {_workers(self._silent)} that did not report for "
                    "worker_timeout_s (WORKER TIMEOUT in its log): what one was answering is lost "
                    "(status 500 or 502), and the others wait until its successor has loaded",
                    advice="find what took so long (queries, locks), or raise worker_timeout_s",
                )
            )
        if killed := self._killed - self._silent:
            found.append(
                Notice(
                    code="workers-killed",
                    severity="warning",
                    message=f"{_workers(killed)} of gunicorn ended by a signal of somebody else's",
                    advice="see whether the machine was short of memory (dmesg)",
                )
            )
        if self._without_connection:
            found.append(
                Notice(
                    code="pool-exhausted",
                    severity="warning",
                    message="no connection to the catalogue was free within pool_timeout_s "
                    f"{self._without_connection:,} times (QueuePool limit in its log): scripts are "
                    "told so (pool_exhausted), pages get a plain status 500",
                    advice="raise pool_size, or have fewer threads",
                )
            )
        return found

    # -- inside --------------------------------------------------------------------------------
    def _deaths(self) -> int:
        return len(self._silent | self._killed)

    def _read(self) -> None:
        """Whole lines; the beginning of one that is being written is kept for the next time."""
        try:
            with self._log.open("rb") as file:
                file.seek(self._offset)
                told = file.read()
        except FileNotFoundError:
            return
        self._offset += len(told)
        lines, newline, self._cut = (self._cut + told).rpartition(b"\n")
        text = lines + newline
        self._without_connection += len(_POOL.findall(text))
        self._silent |= set(_SILENT.findall(text))
        self._killed |= {
            pid for pid, signal in _SIGNALLED.findall(text) if signal not in _OWN_SIGNALS
        }


def _workers(pids: set[bytes]) -> str:
    return "1 worker" if len(pids) == 1 else f"{len(pids)} workers"
