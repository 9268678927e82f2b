"""What SQLite did in the background, as its files show it."""

from __future__ import annotations

from loadstone.probes.marks import Mark, SampleTable, marks
from loadstone.targets.happenings import CHECKPOINT


def happenings(samples: SampleTable) -> list[Mark]:
    """Checkpoints: with a WAL the database itself is written by nothing else.

    Args:
        samples: Of the probe of the files.
    """
    if not len(samples["wal_bytes"]):
        return []
    return marks(CHECKPOINT, samples["database_written_count"].above(0.0))
