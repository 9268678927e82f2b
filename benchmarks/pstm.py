"""The kernel of the migration beside bare loops of its operations, and beside plain NumPy.

python -m benchmarks pstm
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from benchmarks.table import Aim, Report, median, spread
from loadstone.applications.pstm.configuration import Floats, Grid, Operator
from loadstone.applications.pstm.parameters import PstmParameters
from loadstone.applications.pstm.program import COMPILED_FOLDER
from loadstone.applications.pstm.synthetic import Made, draw
from loadstone.applications.pstm.velocity import VelocityField
from loadstone.cache import cache_folder

ROUNDS = 7
TRACES, NUMPY_TRACES = 400, 20
LEAST_RATIO = 0.8
AGREE = 1e-9
"""Kernel and NumPy, of the largest value of the image."""
SEED = 27


@dataclass(frozen=True)
class Problem:
    """What `migrate` takes, but for the image."""

    columns: Any
    times: Any
    traces: Floats
    positions: Floats
    axis: Any
    shape: Any
    grid: Grid

    def image(self) -> Floats:
        return np.zeros((self.grid.count, self.grid.samples))

    def run(self, migrate: Callable[..., int], image: Floats, traces: int) -> int:
        own = self.traces[:traces], self.positions[:traces]
        return migrate(image, self.columns, self.times, *own, self.axis, self.shape)


def measure() -> Report:
    """Each round runs all, in turn; a rate is in updates for a second of processor time."""
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / COMPILED_FOLDER))
    from benchmarks import pstm_plain, pstm_probe
    from loadstone.applications.pstm.kernel import migrate

    filtered = problem(PstmParameters())
    others = {
        "linear": problem(PstmParameters(antialias=False)),
        "cubic": problem(PstmParameters(antialias=False, interpolation="cubic")),
    }
    apart = _apart(filtered, migrate, pstm_plain.migrate)
    runs: dict[str, Callable[[], int]] = {
        "bare loops of its operations": lambda: pstm_probe.run(filtered),
        "kernel, triangle filter": _run(filtered, migrate),
        **{f"kernel, {name}, no filter": _run(each, migrate) for name, each in others.items()},
        "plain NumPy, triangle filter": _run(filtered, pstm_plain.migrate, NUMPY_TRACES),
    }
    for run in runs.values():
        run()  # compiled, and in the caches
    rates: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(ROUNDS):
        for name in runs if number % 2 == 0 else reversed(runs):
            rates[name].append(_rate(runs[name]))
    bare, kernel, *_, plain = rates.values()
    ratio = median([mine / peer for mine, peer in zip(kernel, bare, strict=True)])
    faster = median([mine / peer for mine, peer in zip(kernel, plain, strict=True)])
    return Report(
        title="The kernel of the migration",
        how=f"Application `pstm` with its usual survey: {TRACES} traces into "
        f"{filtered.grid.count} columns of {filtered.grid.samples} samples; a trace-sample update "
        "adds a trace to a sample of the image. The bare loops, compiled by Numba too, have two "
        "square roots, two divisions and three interpolations of gathered samples an update, "
        "without geometry, slope, aperture, bounds and weights. NumPy takes all columns in the "
        f"aperture of a trace at once ({NUMPY_TRACES} traces), and makes the same image (to "
        f"{apart:.0e} of its largest value). {ROUNDS} rounds, in turn; median and range.",
        header=("million updates for a second of a core", "median (range)"),
        rows=[(name, spread([each / 1e6 for each in found])) for name, found in rates.items()],
        aims=(
            Aim("kernel, of the bare loops", ratio, "", f">= {LEAST_RATIO}", ratio >= LEAST_RATIO),
            Aim("kernel, of plain NumPy", faster, "x", ">= 5", faster >= 5),
        ),
    )


def problem(parameters: PstmParameters) -> Problem:
    """The first traces of a made survey, as the program prepares them."""
    from loadstone.applications.pstm.preparing import Padding, prepared
    from loadstone.applications.pstm.tables import columns_of, shape_of, times_of

    grid, operator, velocities, made = _made(parameters)
    padding = Padding.of(operator, float(velocities.values.min()), grid.interval_s)
    axis = padding.axis(made.values.shape[1], grid.interval_s, 0.0)
    # Of midpoints in the middle of the image, so that each trace has many columns.
    x, y = made.positions.midpoints()
    centre = grid.x_m + (grid.columns - 1) * grid.spacing_m / 2
    chosen = np.argsort(np.hypot(x - centre, y - centre))[:TRACES]
    found = made.positions
    table = np.column_stack((found.source_x, found.source_y, found.group_x, found.group_y))
    return Problem(
        columns_of(grid, velocities),
        times_of(grid, velocities, operator),
        prepared(made.values[chosen], grid.interval_s, operator, padding),
        np.ascontiguousarray(table[chosen]),
        axis,
        shape_of(operator, axis),
        grid,
    )


def _made(parameters: PstmParameters) -> tuple[Grid, Operator, VelocityField, Made]:
    grid, operator = parameters.grid(0.0, 0.0), parameters.operator()
    times_s = grid.times_s()
    velocities = VelocityField(
        (1800.0 + 500.0 * times_s)[np.newaxis], np.zeros(grid.count, np.int64)
    )
    return grid, operator, velocities, draw(parameters, grid, velocities, operator, SEED)


def _apart(one: Problem, migrate: Callable[..., int], plain: Callable[..., int]) -> float:
    """How far both images are apart, of the largest value.

    Raises:
        RuntimeError: If they are not the same, or the updates are not.
    """
    mine, theirs = one.image(), one.image()
    updates = one.run(migrate, mine, NUMPY_TRACES), one.run(plain, theirs, NUMPY_TRACES)
    apart = float(np.abs(mine - theirs).max() / np.abs(theirs).max())
    if not apart <= AGREE or updates[0] != updates[1]:
        raise RuntimeError(f"kernel and NumPy are {apart} apart, after {updates} updates")
    return apart


def _run(one: Problem, migrate: Callable[..., int], traces: int = TRACES) -> Callable[[], int]:
    image = one.image()
    return lambda: one.run(migrate, image, traces)


def _rate(run: Callable[[], int]) -> float:
    began_s = process_time()
    updates = run()
    return updates / (process_time() - began_s)
