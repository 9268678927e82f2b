"""What can be seen of an engine without a server from outside: its files grow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from loadstone.probes.base import Probe
from loadstone.results.sample import Sample


class FilesProbe(Probe):
    """Sizes of the database and of the files beside it, and whether the database was written.

    There is no server to ask, and a connection of ours would take part in the locking. Only names
    are looked at; the files are not opened.
    """

    interval_s = 1.0
    beside: ClassVar[Mapping[str, str]]
    """Metric: what the name of a file beside the database has at its end."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._written_ns = 0

    def start(self) -> None:
        """Nothing to open; from now on it is seen whether the database is written."""
        self._written_ns = self._modified_ns()

    def sample(self, t_s: float) -> list[Sample]:
        """The size of each file that is there."""
        samples = [Sample(t_s, self.name, "database_written_count", float(self._was_written()))]
        for metric, end in {"database_bytes": "", **self.beside}.items():
            path = self._database.with_name(self._database.name + end)
            try:
                size = float(path.stat().st_size)
            except FileNotFoundError:
                continue
            samples.append(Sample(t_s, self.name, metric, size))
        return samples

    def stop(self) -> None:
        """Nothing to close."""

    def _was_written(self) -> bool:
        """Whether the database itself was written since the last sample."""
        before, self._written_ns = self._written_ns, self._modified_ns()
        return self._written_ns != before

    def _modified_ns(self) -> int:
        try:
            return self._database.stat().st_mtime_ns
        except FileNotFoundError:
            return 0
