"""What can be seen of SQLite from outside: its files grow."""

from __future__ import annotations

from pathlib import Path

from loadstone.probes.base import Probe, Sample
from loadstone.results.record import Notice

_MUCH = 10
"""A WAL so many times longer than what starts a checkpoint was not checkpointed in time."""


class FilesProbe(Probe):
    """Sizes of database, WAL and rollback journal, and whether the database was written.

    There is no server to ask, and a connection of ours would take part in the locking. Only names
    are looked at; the files are not opened.
    """

    name = "sqlite"
    interval_s = 1.0

    def __init__(self, database: Path, checkpoint_bytes: int | None) -> None:
        """Begins.

        Args:
            database: The file.
            checkpoint_bytes: Length of the WAL at which a commit makes a checkpoint, if any does.
        """
        self._files = {
            "database_bytes": database,
            "wal_bytes": database.with_name(database.name + "-wal"),
            "journal_bytes": database.with_name(database.name + "-journal"),
        }
        self._checkpoint_bytes = checkpoint_bytes
        self._longest_wal_bytes = 0.0
        self._written_ns = 0

    def start(self) -> None:
        """Nothing to open; from now on it is seen whether the database is written."""
        self._written_ns = self._modified_ns()

    def sample(self, t_s: float) -> list[Sample]:
        """The size of each file that is there."""
        samples = [Sample(t_s, self.name, "database_written_count", float(self._was_written()))]
        for metric, path in self._files.items():
            try:
                size = float(path.stat().st_size)
            except FileNotFoundError:
                continue
            samples.append(Sample(t_s, self.name, metric, size))
            if metric == "wal_bytes":
                self._longest_wal_bytes = max(self._longest_wal_bytes, size)
        return samples

    def _was_written(self) -> bool:
        """Whether the database itself was written since the last sample."""
        before, self._written_ns = self._written_ns, self._modified_ns()
        return self._written_ns != before

    def _modified_ns(self) -> int:
        try:
            return self._files["database_bytes"].stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def stop(self) -> None:
        """Nothing to close."""

    def notices(self) -> list[Notice]:
        """Says that the WAL grew because checkpoints did not come to their end."""
        if not self._checkpoint_bytes or self._longest_wal_bytes < _MUCH * self._checkpoint_bytes:
            return []
        return [
            Notice(
                code="wal-grew",
                severity="info",
                message=f"the WAL grew to {self._longest_wal_bytes / 1e6:.0f} MB, though a commit "
                f"begins a checkpoint from {self._checkpoint_bytes / 1e6:.0f} MB on",
                advice="readers that overlap all the time keep checkpoints from their end, so "
                "every read searches a longer WAL: fewer users, or shorter transactions",
            )
        ]
