"""What can be seen of SQLite from outside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from loadstone.results.record import Notice
from loadstone.results.sample import Sample
from loadstone.targets.local.files_probe import FilesProbe

_MUCH = 10
"""A WAL so many times longer than what starts a checkpoint was not checkpointed in time."""


class SQLiteProbe(FilesProbe):
    """Sizes of database, WAL and rollback journal."""

    name = "sqlite"
    beside: ClassVar[Mapping[str, str]] = {"wal_bytes": "-wal", "journal_bytes": "-journal"}

    def __init__(self, database: Path, checkpoint_bytes: int | None) -> None:
        """Begins.

        Args:
            database: The file.
            checkpoint_bytes: Length of the WAL at which a commit makes a checkpoint, if any does.
        """
        super().__init__(database)
        self._checkpoint_bytes = checkpoint_bytes
        self._longest_wal_bytes = 0.0

    def sample(self, t_s: float) -> list[Sample]:
        """The size of each file that is there."""
        samples = super().sample(t_s)
        wal = [each.value for each in samples if each.metric == "wal_bytes"]
        self._longest_wal_bytes = max([self._longest_wal_bytes, *wal])
        return samples

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
