"""What InnoDB did in the background: checkpoints, flushing, purge, a redo log that ran full."""

from __future__ import annotations

import numpy as np

from loadstone.probes.marks import Figures, Mark, Samples, SampleTable, marks
from loadstone.results.statistics.coincidence import Span
from loadstone.targets.happenings import CHECKPOINT, wait_marks

_NEARLY_FULL = 0.85
"""Of the checkpoint age that InnoDB allows: near it, writers must wait for pages to be flushed."""
_CHECKPOINT_SHARE = 0.02
"""An age that falls by so much of what is allowed between two samples was a checkpoint."""
_FLUSHED_BLOCKS_PER_S = 200.0
_PURGED_SHARE, _PURGED_LEAST = 0.1, 1000.0
"""A history list that shrinks by so much, and by so many, was purged."""


def happenings(samples: SampleTable) -> list[Mark]:
    """Everything that may have held up sessions.

    Args:
        samples: Of the probes of this engine.
    """
    age, limit = samples["checkpoint_age_bytes"], samples["checkpoint_age_limit_bytes"]
    most = float(np.max(limit.values)) if len(limit) else 0.0
    history = samples["history_list_count"]
    return [
        *marks(CHECKPOINT, _falls(age, np.full(len(age), _CHECKPOINT_SHARE * most))),
        *(marks("redo log nearly full", age.above(_NEARLY_FULL * most)) if most else []),
        *marks("page flushing", samples["flushed_blocks_per_s"].unusual(_FLUSHED_BLOCKS_PER_S)),
        *marks("purge", _falls(history, np.maximum(_PURGED_LEAST, _PURGED_SHARE * history.values))),
        *marks("no free page", samples["free_block_waits_count"].above(0.0)),
        *marks("redo log buffer full", samples["wal_buffer_waits_count"].above(0.0)),
        *marks("deadlock", samples["deadlocks_count"].above(0.0)),
        *wait_marks(samples),
    ]


def _falls(series: Samples, least: Figures) -> list[Span]:
    """Where a level fell by more than `least` since the sample before."""
    if len(series) < 2:
        return []
    before = np.concatenate((series.values[:1], series.values[:-1]))
    return series.spans((before - series.values > least) & (before > series.values))
