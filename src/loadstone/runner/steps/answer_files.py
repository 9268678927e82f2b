"""Answers and plans, as files of the trial."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from loadstone.protocol.steps import as_text


def keep_answer(folder: Path, name: str, rows: Sequence[Sequence[object]]) -> None:
    """Keeps rows as `NAME.parquet`, each value as text, in columns `c1`, `c2` and so on.

    Args:
        folder: Is made if it is not there.
        name: Without suffix.
        rows: As the engine's client returned them, at least one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    width = len(rows[0]) if rows else 0
    columns = {
        f"c{number + 1}": pa.array([as_text(row[number]) for row in rows], pa.string())
        for number in range(width)
    }
    pq.write_table(pa.table(columns), folder / f"{name}.parquet", compression="zstd")


def keep_text(folder: Path, name: str, text: str) -> None:
    """Keeps a text as `NAME.txt`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.txt").write_text(text, encoding="utf-8")
