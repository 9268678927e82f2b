"""Events of a file, replayed from now on, again and again."""

from __future__ import annotations

import struct
from bisect import bisect_right

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from loadstone.results.columns import of_numpy
from loadstone.runner.archive.parameters import PATH
from loadstone.runner.plan import RefusalError
from loadstone.workloads.archive.events import EventColumns, Words
from loadstone.workloads.archive.replay_file import HEADER, MAGIC, ROW

_SECOND_US = 1_000_000
_NONE = pa.scalar(None, type=pa.string())


class Replay:
    """The rows of a file; it serves all stations, each with elements of its own.

    The file is mapped into memory, not read. A round is followed by the next after the mean gap of
    its rows.
    """

    def __init__(self, data: pa.Buffer, rows: int) -> None:
        """The file's bytes, and how many rows they begin with.

        Raises:
            ValueError: If there are fewer.
        """
        begin = HEADER.size + rows * ROW.itemsize
        self._rows = np.frombuffer(data[HEADER.size : begin], dtype=ROW, count=rows)
        ends = np.concatenate([[0], self._rows["text_end"]]).astype(np.int64)
        buffers = [None, pa.py_buffer(ends), data[begin:]]
        self._text = pa.Array.from_buffers(pa.large_string(), rows, buffers)
        last_us, gaps = int(self._rows["due_us"][-1]), rows - 1
        self._round_us = last_us + (max(1, last_us // gaps) if gaps else _SECOND_US)

    @property
    def per_s(self) -> float:
        """Events a second, on average."""
        return len(self._rows) / self._round_us * _SECOND_US

    def due_by(self, elapsed_ns: int) -> int:
        """Events that are due so long after the station's begin."""
        rounds, rest_us = divmod(elapsed_ns // 1000, self._round_us)
        return rounds * len(self._rows) + bisect_right(self._rows["due_us"], rest_us)

    def say(self, numbers: Words, seqs: Words) -> EventColumns:
        """What events say that became due as `numbers`, from 0."""
        rounds, at = np.divmod(numbers.astype(np.int64), len(self._rows))
        rows = self._rows[at]
        text = self._text.take(of_numpy(at)).cast(pa.string())
        return EventColumns(
            element=rows["element"].astype(np.int64),
            after_us=rounds * self._round_us + rows["ts_us"],
            value=rows["value"],
            lacks_value=np.isnan(rows["value"]),
            text=pc.if_else(pc.equal(pc.binary_length(text), 0), _NONE, text),
            status=rows["status"],
        )


def read_replay(path: str, elements: int) -> Replay:
    """Maps a file as `workloads.archive.replay_file` writes it.

    Args:
        path: The file.
        elements: Data points of each station.

    Raises:
        RefusalError: If it is none, or has more elements.
    """
    try:
        return _mapped(path, elements)
    except (OSError, ValueError, struct.error) as error:
        raise RefusalError(f"{PATH}.events", f"cannot replay {path}: {error}") from error


def _mapped(path: str, elements: int) -> Replay:
    with pa.memory_map(path) as file:
        data = file.read_buffer()
    magic, rows, found = HEADER.unpack(data[: HEADER.size])
    if magic != MAGIC or not rows:
        raise ValueError("it is no file of events")
    if found > elements:
        raise ValueError(f"it has {found} elements; give elements: {found} or more")
    return Replay(data, rows)
