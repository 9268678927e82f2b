"""What becomes of a flush: three answers, each with what was counted.

A flush is what fsync asks of a disk: bring your write cache to the medium. Whether a disk does it
cannot be seen from its answer, nor from the time that it takes: a cache with a battery answers at
once and loses nothing. So the answers are about what can be counted: the kernel's own counter of
flushes to a device, and the requests that a server of Loadstone's has received and passed on.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class FlushAnswer(StrEnum):
    """What can be said of flushes."""

    NOT_SENT = "no flush left the kernel"
    DROPPED = "flushes arrived and were dropped"
    UNKNOWN = "flushes cannot be judged from here"


@dataclass(frozen=True)
class ServerFlushes:
    """What a server of Loadstone's did with flushes, counted in the server.

    Attributes:
        syncs: Times that the device was synced, for the count.
        left_kernel: Flushes that the kernel sent to the device meanwhile.
        arrived: Flushes that the server received.
        passed_on: Of them, those that it passed on to what is below.
        writes: Writes that it received.
        written_through: Of them, those that it made durable before it answered (FUA).
    """

    syncs: int
    left_kernel: int
    arrived: int
    passed_on: int
    writes: int
    written_through: int

    def facts(self) -> dict[str, Any]:
        """For the inventory."""
        return asdict(self)


@dataclass(frozen=True)
class FlushFinding:
    """An answer and its evidence."""

    answer: FlushAnswer
    evidence: str

    @property
    def text(self) -> str:
        """Both in a line."""
        return f"{self.answer}: {self.evidence}"


def judge(
    syncs: int,
    left_kernel: int | None,
    server: ServerFlushes | None = None,
    *,
    device: str = "the device",
    by_write: bool = False,
) -> FlushFinding | None:
    """Says what became of flushes.

    Args:
        syncs: That programs asked for.
        left_kernel: Flushes that the kernel sent to the device meanwhile; None: it has no counter.
        server: What was counted at a server of ours, if there is one below.
        device: Its name.
        by_write: The device takes durable writes (FUA) instead of flushes: then a count of zero
            tells nothing.

    Returns:
        None if nothing was synced.
    """
    if syncs <= 0:
        return None
    asked = f"{syncs:,} syncs"
    if left_kernel == 0 and not by_write:
        return FlushFinding(FlushAnswer.NOT_SENT, f"{asked}, 0 flushes sent to {device}")
    sent = (
        f"{asked}, and {device} has no counter of flushes"
        if left_kernel is None
        else f"{asked}, {left_kernel:,} flushes sent to {device}"
    )
    if server is None:
        return FlushFinding(
            FlushAnswer.UNKNOWN,
            f"{sent}; what it does with them is not seen, and a fast answer tells nothing: a cache "
            "that survives a power loss answers fast too",
        )
    counted = (
        f"in a count of {server.syncs} syncs before the load, the server received "
        f"{server.arrived} flushes and passed on {server.passed_on}"
    )
    if server.arrived and not server.passed_on and server.written_through < server.writes:
        return FlushFinding(FlushAnswer.DROPPED, f"{sent}; {counted}")
    through = (
        f", and made {server.written_through} of {server.writes} writes durable before it answered"
        if server.written_through
        else ""
    )
    return FlushFinding(
        FlushAnswer.UNKNOWN,
        f"{sent}; {counted}{through}; what the disk below the server does is not seen",
    )


_FLUSHES = re.compile(r"^flush: (\d+) ops", re.MULTILINE)
_WRITES = re.compile(r"^write: (\d+) ops", re.MULTILINE)
_PASSED = re.compile(r" Flush id=\d+ \.\.\.$", re.MULTILINE)
_THROUGH = re.compile(r" Write id=\d+ .*\bfua=1\b.* \.\.\.$", re.MULTILINE)


def server_flushes(stats: str, log: str, syncs: int, left_kernel: int) -> ServerFlushes:
    """Reads what two filters of nbdkit wrote, the first outside all others and the second inside.

    Args:
        stats: Of nbdkit-stats-filter(1): what arrived.
        log: Of nbdkit-log-filter(1): what was passed on.
        syncs: Times that the device was synced.
        left_kernel: Flushes that the kernel sent to it.
    """
    return ServerFlushes(
        syncs,
        left_kernel,
        arrived=_number(_FLUSHES, stats),
        passed_on=len(_PASSED.findall(log)),
        writes=_number(_WRITES, stats),
        written_through=len(_THROUGH.findall(log)),
    )


def _number(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return int(found[1]) if found else 0
