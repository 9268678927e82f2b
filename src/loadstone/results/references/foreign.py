"""Figures of a storage test that another program made, and the reference that they become."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadstone.errors import WrongInputError
from loadstone.results.references.model import (
    Cell,
    Reference,
    ReferenceColumn,
    ReferenceRow,
    ReferenceTable,
)

_NO_BREAK = "\xa0"
MEAN, SCORE = "mb_per_s", "score"
"""How a figure was made: of all that was moved, or the best of several passes."""
_RATES = {MEAN: "throughput", SCORE: "throughput, best pass"}
_COLUMNS = [
    ReferenceColumn(name="ios_per_s", label="requests", unit="IO/s", higher_is_better=True),
    ReferenceColumn(name="latency_us", label="mean time", unit="us", higher_is_better=False),
    ReferenceColumn(name="access", label="access"),
    ReferenceColumn(name="block_bytes", label="block", unit="bytes"),
    ReferenceColumn(name="depth", label="depth"),
    ReferenceColumn(name="threads", label="threads"),
    ReferenceColumn(name="read_percent", label="reads", unit="%"),
    ReferenceColumn(name="apart", label="not compared, as"),
]


def decoded(raw: bytes) -> str:
    """The text of a file that a program or an editor wrote, or a shell of Windows redirected.

    Args:
        raw: In UTF-16, with or without a byte order mark, or UTF-8; a paste of a page may have
            spaces that do not break.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = raw.decode("utf-16", errors="replace")
    elif raw[1:200:2].count(0) > len(raw[1:200:2]) // 2:
        text = raw.decode("utf-16-le", errors="replace")
    else:
        text = raw.decode("utf-8-sig", errors="replace")
    return text.replace(_NO_BREAK, " ")


@dataclass(frozen=True)
class ForeignFigure:
    """A test of another program.

    Attributes:
        label: As the program calls it.
        mb_per_s: Bytes moved, in 10^6 a second.
        facts: What a test of ours must share with it: `access` in fio's words, `block_bytes`,
            `depth`, `threads`, and `read_percent` of a mix. What is not told is left out.
        ios_per_s: Requests, if it is told.
        latency_us: Mean time of one, if it is told.
        apart: Why it stands beside no test, whatever its facts; empty: it may.
    """

    label: str
    mb_per_s: float
    facts: Mapping[str, float | str]
    ios_per_s: float | None = None
    latency_us: float | None = None
    apart: str = ""

    def row(self, number: int, metric: str) -> ReferenceRow:
        """As a line of a reference, whose rates are in the column of that name."""
        values: dict[str, Cell] = {
            metric: self.mb_per_s,
            "ios_per_s": self.ios_per_s,
            "latency_us": self.latency_us,
            "apart": self.apart or None,
            **self.facts,
        }
        told = {name: value for name, value in values.items() if value is not None}
        return ReferenceRow(name=f"test-{number}", label=self.label, values=told)


@dataclass(frozen=True)
class LeftOut:
    """A part of a file that is no figure here.

    Attributes:
        where: `line 12`, `job randread, write`.
        text: What stands there.
        reason: Why it was left out.
    """

    where: str
    text: str
    reason: str


@dataclass(frozen=True)
class Foreign:
    """What was read of a file.

    Attributes:
        program: With its version, as the file says it.
        date: As the file says it; empty if it does not.
        system: What the file tells of the machine; empty if nothing.
        load: What it tells of how the tests were made.
        figures: In the order of the file.
        left_out: All that was not understood, or is no figure.
        remarks: What a reader must know of the figures.
        metric: `MEAN` or `SCORE`.
    """

    program: str
    date: str
    system: str
    load: str
    figures: Sequence[ForeignFigure]
    left_out: Sequence[LeftOut]
    remarks: Sequence[str]
    metric: str = MEAN

    def reference(self, name: str, file: str, system: str | None = None) -> Reference:
        """As a reference, which a report of `storage` sets beside its tests.

        Args:
            name: Of the reference.
            file: That it was read of.
            system: What was measured, if its owner says it.

        Raises:
            WrongInputError: If no figure was understood.
        """
        if not self.figures:
            first = self.left_out[0] if self.left_out else None
            why = f": {first.where}, {first.text!r}: {first.reason}" if first else ""
            raise WrongInputError(
                f"{file} has no figure of a test that can be read{why}",
                advice="give the text that the program saves or copies, whole",
            )
        rate = ReferenceColumn(
            name=self.metric, label=_RATES[self.metric], unit="MB/s", higher_is_better=True
        )
        return Reference(
            name=name,
            title=f"{self.program}, {file}",
            kind="table",
            workloads=["storage"],
            source=f"{self.program}, read of {file}",
            date=self.date or "not told",
            hardware=system or self.system or "not told",
            load=self.load,
            metric=self.metric,
            tables=[
                ReferenceTable(
                    name="tests",
                    title="Tests",
                    columns=[rate, *_COLUMNS],
                    rows=[
                        figure.row(at, self.metric)
                        for at, figure in enumerate(self.figures, start=1)
                    ],
                )
            ],
            remarks=[
                *self.remarks,
                "One number of each test: nothing is known of its spread, and no verdict is given.",
                *(f"Left out, {each.where}: {each.reason}." for each in self.left_out),
            ],
        )
