"""What PostgreSQL did in the background: checkpoints, WAL files, autovacuum."""

from __future__ import annotations

import re

import numpy as np

from loadstone.probes.marks import Mark, Samples, SampleTable, marks
from loadstone.targets.happenings import CHECKPOINT, ServerLog, wait_marks

_BEGIN_OR_END = re.compile(
    r"^(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+) (?:UTC|GMT) .*LOG:  checkpoint "
    r"(?:starting: (?P<cause>.+)|complete: .*sync=(?P<sync>[\d.]+) s)"
)
_FULL_BUFFERS_PER_S = 10.0


def happenings(samples: SampleTable, log: ServerLog) -> list[Mark]:
    """Everything that may have held up sessions.

    Args:
        samples: Of the probes of this engine.
        log: With `log_checkpoints` on and `log_timezone` UTC, as Loadstone starts a server.
    """
    return [
        *_checkpoints(samples, log),
        *marks("WAL file switch", samples["wal_files_count"].above(0.0)),
        *marks("WAL buffers full", samples["wal_buffers_full_per_s"].unusual(_FULL_BUFFERS_PER_S)),
        *marks("autovacuum", samples["autovacuum_workers_count"].above(0.0)),
        *marks("deadlock", samples["deadlocks_count"].above(0.0)),
        *wait_marks(samples),
    ]


def _checkpoints(samples: SampleTable, log: ServerLog) -> list[Mark]:
    """By the log, to the millisecond; by the counters where there is no log to read."""
    found: list[Mark] = []
    begun: tuple[float, str] | None = None
    for at_s, line in log.lines(_BEGIN_OR_END):
        if line["cause"]:
            begun = at_s, line["cause"].strip()
            continue
        from_s, cause = begun or (at_s, "")
        found.append(Mark(CHECKPOINT, from_s, at_s, cause))
        found.append(Mark("checkpoint sync", at_s - float(line["sync"]), at_s))
        begun = None
    if begun is not None:
        from_s, cause = begun
        found.append(Mark(CHECKPOINT, from_s, max(from_s, _last_s(samples)), cause))
    return found or _counted(samples)


def _counted(samples: SampleTable) -> list[Mark]:
    """From the sample in which one was counted, which is when it begins, to that of its end.

    The time that writing took is counted when it ends.
    """
    ends = samples["checkpoint_write_ms_per_s"]
    end_times = ends.t_s[ends.values > 0]
    found = []
    for cause in ("timed", "requested"):
        for from_s, counted_s in samples[f"checkpoints_{cause}_count"].above(0.0):
            later = end_times[end_times >= counted_s]
            to_s = float(later[0]) if later.size else counted_s
            found.append(Mark(CHECKPOINT, from_s, to_s, cause))
    return sorted(found, key=lambda mark: mark.from_s)


def _last_s(samples: SampleTable) -> float:
    series: Samples = samples["commits_per_s"]
    return float(np.max(series.t_s)) if len(series) else 0.0
