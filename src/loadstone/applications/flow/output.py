"""What Flow wrote: the summary (.SMSPEC, .UNSMRY), the last restart (.UNRST), the report (.PRT).

The binary files are read with resfo; their form is that of ECLIPSE's output. A vector is read at
report steps only: between them, serial and parallel runs take steps of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

WELL_VECTORS = "W"
"""First letter of vectors of which each well has one."""
_DAYS = "TIME"
_STARTED = re.compile(r"Simulation started on (\d{2}-\d{2}-\d{4}) at (\d{2}:\d{2}:\d{2}) hrs")
_PROCESSES = re.compile(r"Number of MPI processes:\s+(\d+)")
_STEP = re.compile(r"Report step\s+(\d+)/(\d+) at day")
_END = re.compile(r"=+\s+End of simulation\s+=+")


class OutputError(ValueError):
    """Output that is missing or cannot be read; the message names the file."""


@dataclass(frozen=True)
class Summary:
    """Vectors of a run at its report steps."""

    days: tuple[float, ...]
    """Of each report step, since the start of the deck."""
    vectors: Mapping[str, tuple[float, ...]]
    """`FOPT`, `WBHP:P1`: a value for each report step."""

    @property
    def report_steps(self) -> int:
        """How many the run made."""
        return len(self.days)


@dataclass(frozen=True)
class Report:
    """What the `.PRT` file says of a run."""

    started: datetime | None
    """On the clock of the node, in UTC (Flow runs with TZ=UTC)."""
    processes: tuple[int, ...]
    """MPI processes, as Flow counted them; one for each Flow that ended in this file."""
    step: int
    """Report steps that were done when the latest one began."""
    steps: int
    """Report steps of the deck, as Flow read it; 0 if it says none."""
    ended: bool


def read_summary(folder: Path, case: str, wanted: tuple[str, ...]) -> Summary:
    """The vectors of those names that the summary has, of the field and of each well.

    Raises:
        OutputError: If a file is missing or cannot be read.
    """
    head = dict(_entries(folder / f"{case}.SMSPEC", ("KEYWORDS", "WGNAMES", "NAMES")))
    names = [_text(each) for each in _needed(head, "KEYWORDS", case)]
    of_wells = "NAMES" if "NAMES" in head else "WGNAMES"
    wells = [_text(each) for each in _needed(head, of_wells, case)]
    columns: dict[str, int] = {}
    for index, (name, well) in enumerate(zip(names, wells, strict=True)):
        if name in wanted:
            columns[f"{name}:{well}" if name.startswith(WELL_VECTORS) else name] = index
    if _DAYS not in names:
        raise OutputError(f"{case}.SMSPEC has no {_DAYS}")
    rows = _report_rows(folder / f"{case}.UNSMRY", len(names))
    time = names.index(_DAYS)
    return Summary(
        days=tuple(float(row[time]) for row in rows),
        vectors={name: tuple(float(row[index]) for row in rows) for name, index in columns.items()},
    )


def _report_rows(path: Path, width: int) -> list[Any]:
    """The last row of each report step: rows follow the mark SEQHDR at which a step begins."""
    rows: list[Any] = []
    latest: Any = None
    for name, values in _entries(path, ("SEQHDR", "PARAMS")):
        if name == "SEQHDR":
            rows += [] if latest is None else [latest]
            latest = None
        else:
            if len(values) != width:
                raise OutputError(f"{path.name}: a row of {len(values)} values, not {width}")
            latest = values
    return rows if latest is None else [*rows, latest]


def last_restart(folder: Path, case: str) -> int | None:
    """The report step of the last state in the unified restart file; None if there is no file.

    Raises:
        OutputError: If it cannot be read.
    """
    path = folder / f"{case}.UNRST"
    if not path.exists():
        return None
    steps = [int(values[0]) for name, values in _entries(path, ("SEQNUM",))]
    return steps[-1] if steps else 0


def read_report(folder: Path, case: str) -> Report:
    """What the `.PRT` file tells.

    Raises:
        OutputError: If there is none.
    """
    path = folder / f"{case}.PRT"
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise OutputError(f"{path.name}: {error.strerror}") from error
    started = _STARTED.search(text)
    steps = _STEP.findall(text)
    return Report(
        started=started and _moment(*started.groups()),
        processes=tuple(int(each) for each in _PROCESSES.findall(text)),
        step=int(steps[-1][0]) if steps else 0,
        steps=int(steps[-1][1]) if steps else 0,
        ended=_END.search(text) is not None,
    )


def _moment(date: str, time: str) -> datetime:
    return datetime.strptime(f"{date} {time}", "%d-%m-%Y %H:%M:%S").replace(tzinfo=UTC)


def _entries(path: Path, wanted: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """The arrays of those names, in the order of the file; the others are passed over.

    Raises:
        OutputError: If the file is missing, cut off, or no such file.
    """
    import resfo

    if not path.exists():
        raise OutputError(f"{path.name} is missing")
    try:
        with path.open("rb") as file:
            for entry in resfo.lazy_read(file, resfo.Format.UNFORMATTED):
                name = entry.read_keyword().strip()
                if name in wanted:
                    yield name, entry.read_array()
            read_to = file.tell()
    except (resfo.ResfoParsingError, OSError, ValueError) as error:
        raise OutputError(f"{path.name} cannot be read: {error}") from error
    # Arrays are passed over without a look: the last one may lack its end.
    if read_to > path.stat().st_size:
        raise OutputError(f"{path.name} is cut off")


def _needed(found: Mapping[str, Any], name: str, case: str) -> Any:
    if name not in found:
        raise OutputError(f"{case}.SMSPEC has no {name}")
    return found[name]


def _text(value: Any) -> str:
    return (value.decode("latin-1") if isinstance(value, bytes) else str(value)).strip()
