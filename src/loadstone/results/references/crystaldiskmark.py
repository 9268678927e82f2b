"""The text that CrystalDiskMark saves and copies, of versions 3 to 9.

Labels are English in every language of the program, and the point is decimal. Up to version 6 a
sequential test names no block: it is 1 MiB without a depth, 128 KiB with one. KB means 1024 bytes
in the names of blocks, in version 3 too: its IO/s are MB/s / 4096.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from loadstone.errors import WrongInputError
from loadstone.results.references.foreign import SCORE, Foreign, ForeignFigure, LeftOut

PROGRAM = "CrystalDiskMark"
OLDEST, NEWEST = 3, 9
_NUMBER = r"\s*(\d+(?:\.\d+)?)"
_FIGURES = rf":{_NUMBER} MB/s(?:\s*\[{_NUMBER} IOPS\])?(?:\s*<{_NUMBER} us>)?$"
_OLD = re.compile(
    r"(?P<kind>Sequential|Random) (?P<what>Read|Write)(?: (?P<block>\d+) ?(?P<unit>KB|KiB|MB|MiB))?"
    r"(?: \((?:QD?=\s*(?P<depth>\d+))?,?\s*(?:T=\s*(?P<threads>\d+))?\))?\s*" + _FIGURES
)
_NEW = re.compile(
    r"(?P<kind>Sequential|Random|SEQ|RND)\s+(?P<block>\d+) ?(?P<unit>KiB|MiB) "
    r"\(Q=\s*(?P<depth>\d+),\s*T=\s*(?P<threads>\d+)\)\s*" + _FIGURES
)
_SECTION = re.compile(r"\[(Read|Write|Mix)\](?: Read (\d+)%/Write \d+%)?$")
_HEAD = re.compile(rf"{PROGRAM} (?P<version>(?P<major>\d+)[\w.]*).*hiyohiyo")
_FACT = re.compile(r"(Profile|Test|Mode|Time|Date|OS|Comment)\s*:\s*(.*)$")
_ORNAMENT = re.compile(r"-{5,}$|Crystal Dew World|\* (MB/s|KB) = |```")
_QUOTED = re.compile(r"^[\s>|]+")
_BYTES = {"KB": 1 << 10, "KiB": 1 << 10, "MB": 1 << 20, "MiB": 1 << 20}
_ACCESS = {
    ("S", "Read"): "read",
    ("S", "Write"): "write",
    ("S", "Mix"): "rw",
    ("R", "Read"): "randread",
    ("R", "Write"): "randwrite",
    ("R", "Mix"): "randrw",
}


def read_crystaldiskmark(text: str) -> Foreign:
    """Reads one result, a whole text or a part of it that was pasted.

    Args:
        text: Lines of it may be quoted, as in a mail.

    Raises:
        WrongInputError: If it has two results, or is of a version before 3.
    """
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), start=1):
        reader.take(number, _QUOTED.sub("", line).rstrip())
    return reader.result()


@dataclass
class _Reader:
    """What was read so far."""

    heads: list[tuple[int, str, int]] = field(default_factory=list)
    section: str = ""
    read_percent: int | None = None
    facts: dict[str, str] = field(default_factory=dict)
    figures: list[ForeignFigure] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def take(self, number: int, line: str) -> None:
        if head := _HEAD.match(line):
            self.heads.append((number, head["version"], int(head["major"])))
        elif not line or _ORNAMENT.match(line) or "Comment" in self.facts:
            return
        elif section := _SECTION.match(line):
            self.section = section[1]
            self.read_percent = int(section[2]) if section[2] else None
        elif found := _OLD.match(line):
            self._figure(number, line, found, found["what"])
        elif found := _NEW.match(line):
            self._figure(number, line, found, self.section)
        elif fact := _FACT.match(line):
            self.facts[fact[1]] = fact[2].strip()
        else:
            reason = "a test of no known form" if "MB/s" in line else "no test, and no known fact"
            self._leave(number, line, reason)

    def _figure(self, number: int, line: str, found: re.Match[str], what: str) -> None:
        if not what:
            self._leave(number, line, "no [Read] or [Write] stands above it")
            return
        rate, ios, latency = (None if each is None else float(each) for each in found.groups()[-3:])
        if not rate:
            self._leave(number, line, "it was not run: 0.000 is what stands for that")
            return
        kind = found["kind"][0]
        facts: dict[str, float | str] = {
            "access": _ACCESS[kind, what],
            "block_bytes": _block_bytes(found),
            "depth": int(found["depth"] or 1),
            "threads": int(found["threads"] or 1),
        }
        if what == "Mix" and self.read_percent is not None:
            facts["read_percent"] = self.read_percent
        self.figures.append(
            ForeignFigure(_label(facts, what), rate, facts, ios or None, latency or None)
        )

    def _leave(self, number: int, line: str, reason: str) -> None:
        self.left_out.append(LeftOut(f"line {number}", line, reason))

    def result(self) -> Foreign:
        if len(self.heads) > 1:
            lines = " and ".join(str(number) for number, *_ in self.heads[:2])
            raise WrongInputError(
                f"the text has {len(self.heads)} results of {PROGRAM}, from lines {lines} on",
                advice="import them one by one",
            )
        version = self.heads[0][1] if self.heads else ""
        if self.heads and self.heads[0][2] < OLDEST:
            raise WrongInputError(
                f"the text is of {PROGRAM} {version}; versions {OLDEST} to {NEWEST} are read"
            )
        facts = self.facts
        return Foreign(
            program=f"{PROGRAM} {version}" if version else f"{PROGRAM}, version not told",
            date=facts.get("Date", ""),
            system=facts.get("OS", ""),
            load=", ".join(
                facts[name] for name in ("Profile", "Test", "Mode", "Time") if facts.get(name)
            ),
            figures=self.figures,
            left_out=self.left_out,
            remarks=list(self._remarks()),
            metric=SCORE,
        )

    def _remarks(self) -> Iterator[str]:
        yield "MB/s are the best of the passes, 10^6 bytes a second."
        if any(figure.latency_us for figure in self.figures):
            yield "The time of a test may be of another pass than its MB/s: the least of any."
        if "<0Fill>" in f"{self.facts.get('Test', '')}{self.facts.get('Mode', '')}":
            yield "The data were zeros (<0Fill>): what compresses them did not write them."
        if self.heads and self.heads[0][2] > NEWEST:
            yield f"It is of a version after {NEWEST}: what it means by its labels is not known."


def _block_bytes(found: re.Match[str]) -> int:
    if found["block"]:
        return int(found["block"]) * _BYTES[found["unit"]]
    return 128 << 10 if found["depth"] else 1 << 20


def _label(facts: dict[str, float | str], what: str) -> str:
    """As version 8 writes it on its buttons: `RND4K Q32T16 read`."""
    block = int(facts["block_bytes"])
    size = f"{block >> 20}M" if block >= 1 << 20 else f"{block >> 10}K"
    order = "RND" if str(facts["access"]).startswith("rand") else "SEQ"
    return f"{order}{size} Q{facts['depth']}T{facts['threads']} {what.lower()}"
