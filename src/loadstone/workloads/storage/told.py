"""What a trial tells of the way of its bytes, of its flushes and of its journal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from loadstone.placements.flushes import FlushAnswer, FlushFinding
from loadstone.placements.flushes import judge as judge_flushes
from loadstone.protocol.frames import Event
from loadstone.results.record import MetricValue, Notice
from loadstone.units import format_size
from loadstone.workloads.measured import Measured
from loadstone.workloads.storage.below import Below, between
from loadstone.workloads.storage.direct import Way, WayFinding
from loadstone.workloads.storage.direct import judge as judge_way
from loadstone.workloads.storage.tests import Job, StorageTest

_MB = 1e6
_ADVICE = {
    FlushAnswer.NOT_SENT: "what was synced is durable only if nothing below has a write cache, or "
    "its cache survives a power loss; its data sheet says that",
    FlushAnswer.DROPPED: "what was synced is not durable here: it is no figure of a disk that "
    "flushes",
    FlushAnswer.UNKNOWN: "its data sheet says whether the cache survives a power loss",
}
ELSEWHERE = Below("elsewhere")
"""Below the files of a server of somebody else's."""


@dataclass(frozen=True)
class Seen:
    """What happened below the files during a test.

    Attributes:
        test: Its name.
        moved_bytes: By the load.
        written_bytes: Of them.
        syncs: That followed its writes; None where it is not known.
        by_write: Each write was asked to be durable by itself (O_DSYNC).
        emptied: Its files were taken out of memory before each pass.
        below: What the devices and the page cache show.
        in_flight_bytes: Of the requests that it asked to have in flight.
    """

    test: str
    moved_bytes: int
    written_bytes: int
    syncs: int | None
    by_write: bool
    emptied: bool
    below: Below
    in_flight_bytes: int = 0

    @property
    def way(self) -> WayFinding | None:
        """How the bytes went; None where nothing of that is seen."""
        if self.below == ELSEWHERE:
            return None
        moved_bytes, written_bytes = self.moved_bytes, self.written_bytes
        return judge_way(
            moved_bytes,
            written_bytes,
            self.below,
            emptied=self.emptied,
            in_flight_bytes=self.in_flight_bytes,
        )

    @property
    def flushes(self) -> FlushFinding | None:
        """What became of the flushes."""
        nearest, served = self.below.nearest, self.below.served
        return judge_flushes(
            self.syncs or 0,
            None if nearest is None else nearest.flushes,
            self.below.server,
            device="the storage" if nearest is None else nearest.name,
            by_write=(self.by_write or served) and nearest is not None and nearest.fua,
            shared=nearest is not None and nearest.shared,
        )


def seen(test: StorageTest, measured: Measured, sync: str, files: Collection[str] = ()) -> Seen:
    """What was seen of a test.

    Of storage of somebody else's at an address nothing is: its flushes cannot be judged.

    Args:
        test: Whose phase it is.
        measured: Of the phase, with the readings at its begin and end.
        sync: Of the experiment; a job may have its own.
        files: Names of those that it works on.
    """
    below = between(measured.begin.counters, measured.end.counters, files) or ELSEWHERE
    written_bytes = measured.counters.get("written_bytes", 0)
    words = {job.sync or sync for job in _writing(test)}
    return Seen(
        test.name,
        measured.counters.get("bytes", 0),
        written_bytes,
        _syncs(test, sync, written_bytes, measured.events),
        words == {"dsync"},
        all(job.options.get("invalidate", "1") != "0" for job in test.jobs),
        below,
        sum(job.block_bytes * job.depth * job.threads for job in test.jobs),
    )


def metrics(found: Seen) -> list[MetricValue]:
    """Figures of a test: what the device saw of its bytes, what is cached, flushes of each sync."""
    values, nearest = [], found.below.nearest
    if nearest is not None and found.moved_bytes:
        share = 100 * (nearest.read_bytes + nearest.write_bytes) / found.moved_bytes
        values.append(
            _figure("below_percent", "of its bytes, seen by the device below", share, "%")
        )
    if found.below.cached is not None:
        held = found.below.cached.resident_bytes / _MB
        values.append(_figure("cached_mb", "of its files, in memory afterwards", held, "MB"))
    if nearest is not None and found.syncs:
        each = nearest.flushes / found.syncs
        values.append(_figure("flushes_per_sync", "flushes of each sync", each, "flushes/sync"))
    if found.below.journal is not None:
        written = found.below.journal.write_bytes / _MB
        values.append(_figure("journal_mb", "written to the journal", written, "MB"))
    return values


def notices(tests: Sequence[Seen], *, direct: bool) -> list[Notice]:
    """What a reader is told, one line for each finding.

    Args:
        tests: Of a trial.
        direct: Whether I/O past the page cache was asked for.
    """
    return [
        *_of_ways(tests, direct=direct),
        *_of_flushes(tests),
        *_of_journal(tests),
        *_of_memory(tests),
    ]


def _of_ways(tests: Sequence[Seen], *, direct: bool) -> list[Notice]:
    found = {each.test: way for each in tests if (way := each.way) is not None}
    asked = "direct I/O was asked for" if direct else "direct I/O was not asked for"
    return [
        Notice(
            code=f"bytes-{way.name.lower()}",
            severity="warning" if direct and way is not Way.PAST else "info",
            message=f"{asked}; {way} in {_names(names, len(found))}. {names[0]}: "
            f"{found[names[0]].evidence}",
            advice="compare only with figures that went the same way",
        )
        for way, names in _grouped({test: each.way for test, each in found.items()})
    ]


def _of_flushes(tests: Sequence[Seen]) -> list[Notice]:
    found = {each.test: answer for each in tests if (answer := each.flushes) is not None}
    told: list[Notice] = []
    for answer, names in _grouped({test: each.answer for test, each in found.items()}):
        where = _names(names, len(found), "all tests that sync")
        cheap = answer is FlushAnswer.UNKNOWN
        severity: Literal["info", "warning"] = "info" if cheap else "warning"
        told.append(
            Notice(
                code=f"flushes-{answer.name.lower().replace('_', '-')}",
                severity=severity,
                message=f"{answer} in {where}. {names[0]}: {found[names[0]].evidence}",
                advice=_ADVICE[answer],
            )
        )
    return told


def _of_journal(tests: Sequence[Seen]) -> list[Notice]:
    """The bytes that reached an external journal, and the tests of which none can."""
    with_journal = [(each, each.below.journal) for each in tests if each.below.journal]
    if not with_journal:
        return []
    reached = [
        f"{each.test} {format_size(moved.write_bytes)} of {format_size(each.written_bytes)}"
        for each, moved in with_journal
        if moved.write_bytes and each.written_bytes
    ]
    none = [each.test for each, _ in with_journal if not each.written_bytes]
    name = with_journal[0][1].name
    text = f"written to the journal on {name}: {', '.join(reached) or 'nothing'}"
    if none:
        text += f"; {', '.join(none)} write nothing, so none of their bytes can reach it"
    return [Notice(code="journal", severity="info", message=text)]


def _of_memory(tests: Sequence[Seen]) -> list[Notice]:
    """That a control group bounded memory and page cache, and how often it had to."""
    bound = [each.below.memory for each in tests if each.below.memory is not None]
    if not bound:
        return []
    met = sum(each.reached for each in bound)
    text = f"the load had {format_size(bound[0].limit_bytes)} of memory, its page cache included; "
    text += f"the limit was met {met:,} times" if met else "it never came to the limit"
    return [Notice(code="bounded-memory", severity="info", message=text)]


def _syncs(test: StorageTest, sync: str, written_bytes: int, events: Sequence[Event]) -> int | None:
    """Syncs that a test made: as fio counted them, else one for each write with O_DSYNC."""
    counted = sum(
        int(each.data.get("syncs", 0))
        for each in events
        if each.name == "pass" and each.data.get("test") == test.operation
    )
    writing = [job for job in _writing(test) if (job.sync or sync) == "dsync"]
    if counted or not writing:
        return counted
    blocks = {job.block_bytes for job in _writing(test)}
    return written_bytes // blocks.pop() if len(blocks) == 1 else None


def _writing(test: StorageTest) -> list[Job]:
    return [job for job in test.jobs if job.access not in ("read", "randread")]


def _grouped(found: Mapping[str, Any]) -> Iterable[tuple[Any, list[str]]]:
    groups: dict[Any, list[str]] = {}
    for test, word in found.items():
        groups.setdefault(word, []).append(test)
    return groups.items()


def _names(names: Sequence[str], of: int, everyone: str = "all tests") -> str:
    return everyone if len(names) == of and of > 1 else ", ".join(names)


def _figure(name: str, label: str, value: float, unit: str) -> MetricValue:
    return MetricValue(name=name, value=value, unit=unit, label=label)
