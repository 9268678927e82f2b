"""What DuckDB did in the background, as its files show it."""

from __future__ import annotations

import numpy as np

from loadstone.probes.marks import Mark, SampleTable, marks
from loadstone.targets.happenings import CHECKPOINT


def happenings(samples: SampleTable) -> list[Mark]:
    """Checkpoints: they are what makes the WAL shorter.

    The database itself tells less: large appends are written to it before their commit.

    Args:
        samples: Of the probe of the files.
    """
    wal = samples["wal_bytes"]
    if not len(wal):
        return []
    fell = np.concatenate(([False], np.diff(wal.values) < 0))
    return marks(CHECKPOINT, wal.spans(fell))
