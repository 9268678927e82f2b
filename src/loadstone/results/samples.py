"""Samples of the probes: lines while the trial runs, a Parquet table when it is over."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from loadstone.results.columns import floats, texts
from loadstone.results.files import full_disk_said, whole_file
from loadstone.results.lines import LineWriter, read_lines
from loadstone.results.sample import Sample

SAMPLES_LINES = "samples.jsonl.zst"
SAMPLES_TABLE = "samples.parquet"
SCHEMA = pa.schema(
    [
        ("t_s", pa.float64()),
        ("probe", pa.string()),
        ("metric", pa.string()),
        ("value", pa.float64()),
    ]
)


class SamplesWriter(LineWriter):
    """Writes samples as they come, one line for each time a probe was read."""

    def put(self, samples: Iterable[Sample]) -> None:
        """Writes samples of one reading.

        Raises:
            DiskFullError: If there is no space left.
        """
        grouped: dict[tuple[float, str], dict[str, float]] = {}
        for sample in samples:
            grouped.setdefault((sample.t_s, sample.probe), {})[sample.metric] = sample.value
        lines = [
            {"t_s": t_s, "probe": probe, "metrics": metrics}
            for (t_s, probe), metrics in grouped.items()
        ]
        if lines:
            self.write(*lines)


def finish_samples(trial: Path) -> Path | None:
    """Turns the lines of a trial into its table, and removes the lines when that is done.

    A killed run left lines that may be cut off at the end: what is whole is kept.

    Args:
        trial: Folder of the trial.

    Returns:
        The table, or None if there are no samples.

    Raises:
        DiskFullError: If there is no space; the lines are kept.
    """
    lines, table = trial / SAMPLES_LINES, trial / SAMPLES_TABLE
    if not lines.exists():
        return table if table.exists() else None
    with full_disk_said(table), whole_file(table) as draft:
        pq.write_table(_table(lines), draft, compression="zstd", write_page_checksum=True)
    lines.unlink()
    return table


def read_samples(trial: Path) -> list[Sample]:
    """All samples of a trial, also of one that runs or was killed, in order of time."""
    if (trial / SAMPLES_LINES).exists():
        rows = _table(trial / SAMPLES_LINES).to_pylist()
    elif (trial / SAMPLES_TABLE).exists():
        rows = pq.ParquetFile(trial / SAMPLES_TABLE).read().to_pylist()
    else:
        rows = []
    return [Sample(**row) for row in rows]


def _table(lines: Path) -> pa.Table:
    rows = [
        (float(line["t_s"]), str(line["probe"]), str(metric), float(value))
        for line in read_lines(lines)
        for metric, value in line["metrics"].items()
    ]
    t_s, probe, metric, value = zip(*rows, strict=True) if rows else ((), (), (), ())
    columns = [floats(t_s), texts(probe), texts(metric), floats(value)]
    return pa.table(columns, schema=SCHEMA).sort_by("t_s")
