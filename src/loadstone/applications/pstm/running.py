"""One rank's way through a migration: its share of the traces, then the sum of all images."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from loadstone.applications.pstm.configuration import Configuration, Floats, read_configuration
from loadstone.applications.pstm.image import write_image, write_progress, write_whole
from loadstone.applications.pstm.kernel import migrate
from loadstone.applications.pstm.preparing import Padding, prepared
from loadstone.applications.pstm.ranks import Ranks
from loadstone.applications.pstm.survey import Portion, Positions, Survey, open_survey
from loadstone.applications.pstm.tables import columns_of, shape_of, times_of
from loadstone.applications.pstm.velocity import velocity_field
from loadstone.applications.world import WORLD_FILE

PORTION_TRACES = 512
"""They are read and summed together; progress is told after each."""
OUTPUT_VARIABLE = "LOADSTONE_OUTPUT"
"""The folder of the job's output, which is in that of the job."""


class Migration:
    """The image of one rank, and what it took."""

    def __init__(self, configuration: Configuration, folder: Path, survey: Survey) -> None:
        """Make an empty image.

        Args:
            configuration: What is to be done.
            folder: Of the files that it names.
            survey: The open one.

        Raises:
            WrongInputError: If the velocities cannot be used.
        """
        grid, form = configuration.grid, survey.form
        velocities = velocity_field(configuration.velocities, folder, grid)
        slowest = float(velocities.values.min())
        self._operator = configuration.operator
        self._interval_s = form.interval_s
        self._padding = Padding.of(self._operator, slowest, form.interval_s)
        self._axis = self._padding.axis(form.samples, form.interval_s, survey.first_s)
        self._columns = columns_of(grid, velocities)
        self._times = times_of(grid, velocities, self._operator)
        self._shape = shape_of(self._operator, self._axis)
        self.image = np.zeros((grid.count, grid.samples))
        self.updates = 0
        self.skipped = 0
        self.kernel_s = 0.0

    def compile(self) -> None:
        """Makes the sum ready: it is called without a trace."""
        self._sum(np.empty((0, 1)), np.empty((0, 4)))

    def add(self, portion: Portion) -> None:
        """Adds some traces."""
        traces = prepared(portion.values, self._interval_s, self._operator, self._padding)
        began_s = time.monotonic()
        self.updates += self._sum(traces, _table(portion.positions))
        self.kernel_s += time.monotonic() - began_s
        self.skipped += portion.skipped

    def _sum(self, traces: Floats, positions: Floats) -> int:
        return migrate(
            self.image, self._columns, self._times, traces, positions, self._axis, self._shape
        )


def migrate_survey(path: Path, ranks: Ranks, began_s: float) -> None:
    """Does the part of one rank, and writes the image at the first one.

    Args:
        path: The configuration; files are read and written beside it.
        ranks: The place of this rank.
        began_s: When the program began, on the monotonic clock.

    Raises:
        WrongInputError: If the configuration or a file that it names cannot be used.
    """
    folder, configuration = path.parent, read_configuration(path)
    hosts = ranks.hosts()
    if ranks.is_first:
        write_whole(folder / WORLD_FILE, {"size": ranks.size, "hosts": hosts})
    with open_survey(folder / configuration.survey, configuration.traces) as survey:
        migration = Migration(configuration, folder, survey)
        migration.compile()
        compile_s = time.monotonic() - began_s
        begin, end = ranks.share(configuration.traces)
        done = begin
        for portion in survey.portions(begin, end, PORTION_TRACES):
            migration.add(portion)
            done = min(done + PORTION_TRACES, end)
            if ranks.is_first:
                write_progress(folder, done - begin, end - begin)
    image = ranks.sum(migration.image)
    counts = ranks.sum(
        np.array([done - begin, migration.skipped, migration.updates, migration.kernel_s])
    )
    if ranks.is_first:
        write_image(
            folder,
            image,
            job=_job_name(),
            ranks=ranks.size,
            traces=int(counts[0]),
            skipped=int(counts[1]),
            updates=int(counts[2]),
            kernel_s=float(counts[3]),
            compile_s=compile_s,
            written_epoch_s=time.time(),
        )


def _table(positions: Positions) -> Floats:
    """As the sum takes them; shape (traces, 4)."""
    found = positions
    return np.column_stack((found.source_x, found.source_y, found.group_x, found.group_y))


def _job_name() -> str:
    output = os.environ.get(OUTPUT_VARIABLE, "")
    return Path(output).parent.name if output else ""
