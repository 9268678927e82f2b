"""Reads the log of a JVM's garbage collector and safepoints (`-Xlog:gc*,safepoint`), line by line.

A pause stands still for all threads. A cycle of a concurrent collector does not, however long it
is; an allocation that must wait for one (ZGC's `Allocation Stall`) stands still for its thread.
Source of the form: JEP 158 and JEP 271, and the logs of JDK 17 and 25.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

DECORATIONS = "uptime,timenanos,level,tags"
"""Of each line. `timenanos` is the machine's monotonic clock, by which trials go, too."""

_LINE = re.compile(
    r"\[(?P<uptime>\d+[.,]\d+)s\](?:\[(?P<nanos>\d+)ns\])?\[(?P<level>\w+) *\]"
    r"\[(?P<tags>\w[\w,]*) *\] ?(?P<text>.*)"
)
_PAUSE = re.compile(
    r"GC\(\d+\) (?:[A-Za-z]: )?(?P<name>Pause .+?)"
    r"(?: (?P<before>\d+)(?P<unit>[KMG])->(?P<after>\d+)[KMG]\((?P<heap>\d+)[KMG]\))?"
    r" (?P<ms>\d+[.,]\d+)ms"
)
_STALL = re.compile(
    r"(?:GC\(\d+\) )?(?:[A-Za-z]: )?(?P<kind>(?:Allocation|Relocation) Stall) \(.*\) "
    r"(?P<ms>\d+[.,]\d+)ms"
)
_CYCLE = re.compile(
    r"GC\(\d+\) (?P<name>Concurrent [\w ]+?|(?:Garbage|Minor|Major) Collection)"
    r"(?: \((?:[^()]|\([^()]*\))*\))?"
    r"(?P<sizes> \d+[KMG](?:\(\d+%\))?->\d+[KMG]\(\d+[%KMG]\))?"
    r"(?: (?P<took>\d+[.,]\d+)(?P<unit>ms|s)| Aborted)?"
)
_SAFEPOINT = re.compile(
    r'Safepoint "(?P<name>[^"]+)", Time since last: \d+ ns, Reaching safepoint: (?P<reach>\d+) ns,'
    r".* Total: (?P<total>\d+) ns(?:,.*)?"
)
_BRACKETS = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)")
_FAILURE = re.compile(r"Evacuation Failure(?:: (?P<why>.*))?")
_FAILED_BEFORE_22 = re.compile(r"GC\(\d+\) (To-space exhausted|Evacuation Failure.*)")
_USING = re.compile(r"Using (?P<collector>.*)")
_SAID = re.compile(
    r"(?:Trigger: |Failed to allocate |Cancelling GC: |Free: |Min heap equals to max heap|"
    r"Heuristics ergonomically sets |GC\(\d+\) Cancel marking:).*"
)
"""What Shenandoah says of its own decisions."""
_DETAILS = re.compile(
    r"age|alloc|breakpoint|classhisto|compaction|coops|cpu|cset|director|ergo|exit|"
    r"free|freelist|heap|humongous|ihop|init|load|marking|metaspace|mmu|nmethod|numa|"
    r"oops|page|phases|plab|promotion|ref|refine|region|reloc|remset|start|"
    r"stats|stringdedup|sweep|task|thread|tlab|tracking|verify|workgang"
)
"""Tags beside `gc` whose lines tell more of what another line says."""
_MEBIBYTES = {"K": 1 / 1024, "M": 1.0, "G": 1024.0}
_TOLD_LEVELS = ("info", "debug", "trace")
_EXAMPLES = 3
_LONGEST = 120


@dataclass(frozen=True)
class Pause:
    """All threads stood still."""

    to_s: float
    """Its end, on the clock of the log."""
    ms: float
    kind: str
    """`Young (Normal)`, `Full`, `Remark`."""
    cause: str
    """`G1 Evacuation Pause`; empty of one that belongs to a cycle."""
    failure: str = ""
    """Why live objects could not be moved: `Pinned`; `not said` before JDK 22."""
    after_mb: float | None = None
    """Mebibytes in use after it; None of one that frees nothing."""
    heap_mb: float | None = None
    """Size of the heap after it."""


@dataclass(frozen=True)
class Stall:
    """A thread waited for memory."""

    to_s: float
    ms: float
    kind: str


@dataclass(frozen=True)
class Cycle:
    """A concurrent collection has ended: the threads went on meanwhile."""

    to_s: float
    kind: str
    ms: float


@dataclass(frozen=True)
class Safepoint:
    """All threads were brought to a halt, by whoever asked for it."""

    to_s: float
    name: str
    reach_ms: float
    """Until the last thread had halted."""
    total_ms: float


Event = Pause | Stall | Cycle | Safepoint


class GcLog:
    """What a log has told so far. Its clock is the monotonic one, or the JVM's own uptime."""

    def __init__(self) -> None:
        self.unknown = 0
        """Lines that no rule knows."""
        self.examples: list[str] = []
        """The first of them."""
        self.warnings: list[str] = []
        """The first that the JVM wrote."""
        self.collector = ""
        """As the JVM calls it: `G1`."""
        self._cut = b""
        self._failed = False

    def feed(self, told: bytes) -> Iterator[Event]:
        """Reads what the log has grown by; a line that is not whole yet is kept.

        Args:
            told: Bytes that follow those of the call before.
        """
        *lines, self._cut = (self._cut + told).split(b"\n")
        for line in lines:
            text = line.decode("utf-8", "replace").rstrip()
            if text and (event := self._event(text)) is not None:
                yield event

    def _event(self, line: str) -> Event | None:
        found = _LINE.fullmatch(line)
        if found is None:
            if line.startswith("["):  # else the program in the JVM says it, not the log
                self._not_known(line)
            return None
        if found["level"] not in _TOLD_LEVELS:
            self._warned(found["text"].strip())
            return None
        to_s = float(found["nanos"]) / 1e9 if found["nanos"] else _number(found["uptime"])
        tags, text = frozenset(found["tags"].split(",")), found["text"].strip()
        event, known = self._read(to_s, tags, text)
        if not known:
            self._not_known(line)
        return event

    def _read(self, to_s: float, tags: frozenset[str], text: str) -> tuple[Event | None, bool]:
        """What a line tells, if anything, and whether a rule knows it."""
        if tags == {"safepoint"} and (safepoint := _SAFEPOINT.fullmatch(text)):
            return _safepoint(to_s, safepoint), True
        if "gc" in tags and "start" not in tags and (pause := _PAUSE.fullmatch(text)):
            failed, self._failed = self._failed, False
            return _pause(to_s, pause, failed=failed), True
        if tags == {"gc"}:
            return self._of_collector(to_s, text)
        return None, "gc" in tags and any(map(_DETAILS.fullmatch, tags))

    def _of_collector(self, to_s: float, text: str) -> tuple[Event | None, bool]:
        """A line that a collector says of itself."""
        if stall := _STALL.fullmatch(text):
            return Stall(to_s, _number(stall["ms"]), stall["kind"]), True
        if _FAILED_BEFORE_22.fullmatch(text):
            self._failed = True
            return None, True
        if using := _USING.fullmatch(text):
            self.collector = using["collector"]
        if using or _SAID.fullmatch(text):
            return None, True
        cycle = _CYCLE.fullmatch(text)
        return (None, False) if cycle is None else (_cycle(to_s, cycle), True)

    def _warned(self, text: str) -> None:
        if len(self.warnings) < _EXAMPLES and text not in self.warnings:
            self.warnings.append(text[:_LONGEST])

    def _not_known(self, line: str) -> None:
        self.unknown += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(line[:_LONGEST])


def _pause(to_s: float, found: re.Match[str], *, failed: bool) -> Pause:
    """A pause: the last word in brackets is its cause, those before it say of which kind it is."""
    name = found["name"].removeprefix("Pause ")
    words = [each for each in _BRACKETS.findall(name) if not _FAILURE.fullmatch(each)]
    failures = [said for each in _BRACKETS.findall(name) if (said := _FAILURE.fullmatch(each))]
    plain = name.partition(" (")[0]
    kind = " ".join([plain, *(f"({each})" for each in words[:-1])])
    why = (failures[0]["why"] or "not said") if failures else "not said" if failed else ""
    scale = _MEBIBYTES[found["unit"]] if found["unit"] else 1.0
    return Pause(
        to_s,
        _number(found["ms"]),
        kind,
        words[-1] if words else "",
        failure=why,
        after_mb=float(found["after"]) * scale if found["after"] else None,
        heap_mb=float(found["heap"]) * scale if found["heap"] else None,
    )


def _cycle(to_s: float, found: re.Match[str]) -> Cycle | None:
    """The end of a cycle; nothing of its begin. ZGC of JDK 17 tells sizes, and no time."""
    if found["took"] is None:
        return Cycle(to_s, found["name"], 0.0) if found["sizes"] else None
    ms = _number(found["took"]) * (1000 if found["unit"] == "s" else 1)
    return Cycle(to_s, found["name"], ms)


def _safepoint(to_s: float, found: re.Match[str]) -> Safepoint:
    return Safepoint(to_s, found["name"], int(found["reach"]) / 1e6, int(found["total"]) / 1e6)


def _number(text: str) -> float:
    """A figure with the decimal sign of whatever locale."""
    return float(text.replace(",", "."))
