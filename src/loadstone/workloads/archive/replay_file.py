"""Files of events in the form that the load generators replay: read once, kept in the cache.

Little-endian: `MAGIC`, the number of rows and of elements (u64 each), the rows (`ROW`), and the
texts of all rows one after the other, in UTF-8.
"""

from __future__ import annotations

import hashlib
import shutil
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

import numpy as np

from loadstone.cache import cache_folder, locked, made_once, refuse_altered
from loadstone.errors import WrongInputError
from loadstone.limits import MOST_ELEMENTS
from loadstone.workloads.archive.events_csv import read_events

MAGIC = b"LSEVENT1"
HEADER = struct.Struct("<8sQQ")
_ROW = struct.Struct("<qqdQIi")
ROW = np.dtype(
    [
        ("due_us", "<i8"),
        ("ts_us", "<i8"),
        ("value", "<f8"),
        ("text_end", "<u8"),
        ("element", "<u4"),
        ("status", "<i4"),
    ]
)
"""Times are microseconds after the first row's; a row is due no earlier than those before it.

A value that is missing is NaN. The text of a row goes from the `text_end` of the row before it to
its own; an empty one is none. Elements are numbered from 0 as they come.
"""
_NAME = "events.bin"


@dataclass(frozen=True)
class ReplayFile:
    """A file that generators can replay."""

    path: Path
    sha256: str
    """Of the file that it was made of."""
    elements: int


def provide(csv: Path) -> ReplayFile:
    """The file of events in the form for generators; made if it is not there.

    Raises:
        WrongInputError: If it cannot be read, with the line that is wrong; if there is no space; or
            if what was made of it was altered.
    """
    try:
        known = csv.stat()
        state = (known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns)
        found = _provided(csv, state)
        refuse_altered(found.path.parent, _of(found.sha256))
    except OSError as error:
        where = error.filename or csv
        raise WrongInputError(
            f"{where} cannot be read or written: {error.strerror}",
            advice=f"what is replayed of {csv} is kept below {cache_folder()} (LOADSTONE_CACHE)",
        ) from error
    return found


@lru_cache(64)
def _provided(csv: Path, _state: tuple[int, ...]) -> ReplayFile:
    with csv.open("rb") as file:
        key = hashlib.file_digest(file, "sha256").hexdigest()
    base = cache_folder() / "archive"
    base.mkdir(parents=True, exist_ok=True)
    with locked(base / "lock"):
        folder, _ = made_once(base / f"{MAGIC.decode()}-{key}", partial(_made, csv), _of(key))
    path = folder / _NAME
    with path.open("rb") as file:
        _, _, elements = HEADER.unpack(file.read(HEADER.size))
    return ReplayFile(path, key, elements)


def _made(csv: Path, folder: Path) -> Mapping[str, object]:
    with (folder / _NAME).open("wb") as file:
        rows = write_replay(csv, file, folder)
    return {"from": str(csv), "rows": rows}


def _of(sha256: str) -> dict[str, object]:
    return {"file": sha256}


def write_replay(csv: Path, file: BinaryIO, scratch: Path | None = None) -> int:
    """Writes the events of a CSV as generators replay them; returns their number.

    Args:
        csv: The file that somebody gave.
        file: Empty, and seekable.
        scratch: Folder that has space for all its texts meanwhile; default: that of the system.

    Raises:
        WrongInputError: As `read_events`; or if there are no events, or too many elements.
    """
    numbers: dict[str, int] = {}
    rows = due_us = first_us = text_end = 0
    file.write(bytes(HEADER.size))
    with TemporaryFile(dir=scratch) as texts:
        for event in read_events(csv):
            if not rows:
                first_us = event.at_us
            element = numbers.setdefault(event.element, len(numbers))
            if element >= MOST_ELEMENTS:
                raise WrongInputError(
                    f"{csv} has more than {MOST_ELEMENTS:,} elements, the most of a station"
                )
            ts_us = event.at_us - first_us
            due_us = max(due_us, ts_us)
            if event.text:
                text_end += texts.write(event.text.encode())
            value = float("nan") if event.value is None else event.value
            file.write(_ROW.pack(due_us, ts_us, value, text_end, element, event.status))
            rows += 1
        if not rows:
            raise WrongInputError(f"{csv} has no rows below its header")
        texts.seek(0)
        shutil.copyfileobj(texts, file)
    file.seek(0)
    file.write(HEADER.pack(MAGIC, rows, len(numbers)))
    return rows
