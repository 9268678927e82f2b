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
        left_kernel: Flushes that the kernel sent to the device meanwhile; None: the load speaks to
            the server itself.
        arrived: Flushes that the server received.
        passed_on: Of them, those that it passed on to what is below.
        writes: Writes that it received.
        written_through: Of them, those that it made durable before it answered (FUA).
        claims_no_cache: The server says that it has no write cache, so that none need flush it.
    """

    syncs: int
    left_kernel: int | None
    arrived: int
    passed_on: int
    writes: int
    written_through: int
    claims_no_cache: bool = False

    @property
    def drops(self) -> bool:
        """Flushes arrived, and it neither passed them on nor had written through already."""
        return self.arrived > 0 == self.passed_on and self.written_through < self.writes

    @property
    def text(self) -> str:
        """The count."""
        told = f"in a count of {self.syncs} syncs before the load, the server received "
        told += f"{self.arrived} flushes and passed on {self.passed_on}"
        if self.written_through:
            told += f", and made {self.written_through} of {self.writes} writes durable before it "
            told += "answered"
        claim = "; it says that it has no write cache" if self.claims_no_cache else ""
        return told + claim

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
    shared: bool = False,
) -> FlushFinding | None:
    """Says what became of flushes.

    Args:
        syncs: That programs asked for.
        left_kernel: Flushes that the kernel sent to the device meanwhile; None: it has no counter.
            Of a load that speaks to the server itself: to the disk below the server.
        server: What was counted at a server of ours, if there is one below.
        device: Its name.
        by_write: The device takes durable writes (FUA) instead of flushes: then a count of zero
            tells nothing.
        shared: The device serves others, too.

    Returns:
        None if nothing was synced.
    """
    if syncs <= 0:
        return None
    asked = f"{syncs:,} syncs"
    if server is not None and server.left_kernel is None:
        return _of_served(asked, left_kernel, server, device, by_write=by_write, shared=shared)
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
    if server.drops:
        return FlushFinding(FlushAnswer.DROPPED, f"{sent}; {server.text}")
    return FlushFinding(
        FlushAnswer.UNKNOWN,
        f"{sent}; {server.text}; what the disk below the server does is not seen",
    )


def _of_served(
    asked: str,
    reached: int | None,
    server: ServerFlushes,
    disk: str,
    *,
    by_write: bool,
    shared: bool,
) -> FlushFinding:
    """Of syncs that went to a server without the kernel.

    Args:
        asked: How many.
        reached: Flushes that the disk below the server got meanwhile, if it counts them.
        server: What was counted in it.
        disk: Name of that disk.
        by_write: It takes durable writes instead of flushes.
        shared: Others flush it too.
    """
    told = f"{asked}; {server.text}"
    if reached is not None:
        told += f"; under load {reached:,} flushes reached {disk} below it"
        told += ", those of others included" if shared else ""
    if server.drops:
        return FlushFinding(FlushAnswer.DROPPED, told)
    if reached == 0 and not by_write:
        return FlushFinding(FlushAnswer.NOT_SENT, f"{told}: none left the kernel of the server")
    return FlushFinding(FlushAnswer.UNKNOWN, f"{told}; what that does with them is not seen")


_FLUSHES = re.compile(r"^flush: (\d+) ops", re.MULTILINE)
_WRITES = re.compile(r"^write: (\d+) ops", re.MULTILINE)
_PASSED = re.compile(r" Flush id=\d+ \.\.\.$", re.MULTILINE)
_THROUGH = re.compile(r" Write id=\d+ .*\bfua=1\b.* \.\.\.$", re.MULTILINE)


def server_flushes(stats: str, log: str, syncs: int, left_kernel: int | None) -> ServerFlushes:
    """Reads what two filters of nbdkit wrote, the first outside all others and the second inside.

    Args:
        stats: Of nbdkit-stats-filter(1): what arrived.
        log: Of nbdkit-log-filter(1): what was passed on.
        syncs: Times that the device was synced.
        left_kernel: As of `ServerFlushes`.
    """
    return ServerFlushes(
        syncs,
        left_kernel,
        arrived=_number(_FLUSHES, stats),
        passed_on=len(_PASSED.findall(log)),
        writes=_number(_WRITES, stats),
        written_through=len(_THROUGH.findall(log)),
    )


_TGT_FLUSHES = re.compile(r" target_cmd_queue\(\d+\) \S+ (?:35|91) ")
_TGT_WRITES = re.compile(r" target_cmd_queue\(\d+\) \S+ (?:a|2a|aa|8a) ")
_TGT_PASSED = re.compile(r" bs_rdwr_request\(\d+\) io done \S+ (?:35|91) ")
"""By the codes of SCSI's commands: SYNCHRONIZE CACHE and WRITE."""


def tgt_flushes(
    log: str, syncs: int, left_kernel: int | None, *, claims_no_cache: bool
) -> ServerFlushes:
    """Reads what tgt said of each command while it was told to (tgt 1.0.85).

    Its store `rdwr` says of a flush that it is done, which it does by fdatasync; its store `aio`
    says that it skipped it.

    Args:
        log: With the words of tgt's debugging.
        syncs: That were made meanwhile.
        left_kernel: As of `ServerFlushes`.
        claims_no_cache: As of `ServerFlushes`.
    """
    return ServerFlushes(
        syncs,
        left_kernel,
        arrived=len(_TGT_FLUSHES.findall(log)),
        passed_on=len(_TGT_PASSED.findall(log)),
        writes=len(_TGT_WRITES.findall(log)),
        written_through=0,
        claims_no_cache=claims_no_cache,
    )


def _number(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return int(found[1]) if found else 0
