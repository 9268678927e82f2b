"""What a report draws of a trial, and what is wrong with its files."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from loadstone.protocol.frames import Frame
from loadstone.report.probe_series import read_samples
from loadstone.report.reading import RecordedTrial, damaged
from loadstone.results.frames import FRAMES_FILE, parsed_frames
from loadstone.results.lines import ENDS_EARLY
from loadstone.results.plain_lines import damaged_lines
from loadstone.results.record import Notice, Status
from loadstone.results.samples import SAMPLES_LINES, SAMPLES_TABLE


@dataclass
class Contents:
    """What a report draws of a trial."""

    frames: list[Frame] = field(default_factory=list)
    samples: pa.Table | None = None
    notices: list[Notice] = field(default_factory=list)
    """A file that is missing or damaged, each."""


def contents_of(trial: RecordedTrial) -> Contents:
    """Reads them as far as they can be read; those of a killed run may end anywhere."""
    found = Contents()
    frames, problem = parsed_frames(trial.path), ""
    try:
        while True:
            found.frames.append(next(frames))
    except StopIteration as end:
        problem = str(end.value)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    cut_off = trial.result.status in (Status.RUNNING, Status.INTERRUPTED)
    for path, what in {trial.path / FRAMES_FILE: problem, **damaged_lines(trial.path)}.items():
        if what and not (cut_off and what.startswith(ENDS_EARLY)):
            found.notices.append(damaged(f"{path} {what}"))
    table = trial.path / SAMPLES_TABLE
    found.samples = read_samples(table)
    if not table.exists():
        if not (trial.path / SAMPLES_LINES).exists():
            found.notices.append(damaged(f"{table} is missing"))
    elif found.samples is None:
        found.notices.append(damaged(f"{table} is damaged"))
    return found
