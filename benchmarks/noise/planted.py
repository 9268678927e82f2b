"""Are causes that were planted named, and healthy trials left in peace? Asked of the product.

    python -m benchmarks.noise.planted [--experiments 7] [--page]

In each experiment of eight blocks something is done to one trial, or to one block: a program is let
loose on the processor to which the load is pinned; a quota is set for the lab's own control group;
a program reads and writes the disk. It needs root, for the quota.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.noise.asking import parser_of, show
from benchmarks.noise.kinds import STORAGE, levels, noop
from benchmarks.noise.places import DISK, open_folder
from benchmarks.table import Aim, Report
from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.observer import Observer
from loadstone.report.reading import read_experiment
from loadstone.results.record import TrialResult
from loadstone.results.taken import Cause
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan

BLOCKS = 8
NAMED_AIM, HEALTHY_AIM = 19 / 20, 1 / 50
GROUP = Path("/sys/fs/cgroup/cpu/loadstone-planted")
QUOTA_US = 3_000
"""Of each tenth of a second: less than the load takes."""
NOOP: dict[str, Any] = noop(users=4, cpus="0") | {
    "design": levels("workload.service_time_us", [2000] * 2)
}
STORED: dict[str, Any] = STORAGE | {"design": levels("workload.passes", [1, 1])}


@contextmanager
def apart(*words: str) -> Iterator[None]:
    """A program that is no child of this process, which is the lab: it would count as its own."""
    shell = ["sh", "-c", '"$@" > /dev/null 2>&1 & echo $!', "sh", *words]
    pid = int(subprocess.run(shell, stdout=subprocess.PIPE, check=True).stdout)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)


def hog(_folder: Path) -> AbstractContextManager[None]:
    """A program that never rests, on the processor of the load."""
    return apart("taskset", "-c", "0", sys.executable, "-c", "while True: pass")


@contextmanager
def quota(_folder: Path) -> Iterator[None]:
    """A quota of the group in which the lab runs."""
    (GROUP / "cpu.cfs_quota_us").write_text(str(QUOTA_US))
    try:
        yield
    finally:
        (GROUP / "cpu.cfs_quota_us").write_text("-1")


def disk(folder: Path) -> AbstractContextManager[None]:
    """A program that reads and writes the disk, and never rests."""
    return apart(sys.executable, "-m", "benchmarks.noise.makers", "disk", str(folder), "restless")


@dataclass(frozen=True)
class Plant:
    """What is done, to what."""

    cause: Cause
    file: dict[str, Any]
    doing: Callable[[Path], AbstractContextManager[None]]
    whole_block: bool = False


PLANTS = (
    Plant("processors", NOOP, hog),
    Plant("quota", NOOP, quota),
    Plant("disk", STORED, disk, whole_block=True),
)


@dataclass
class Planter(Observer):
    """Does it while the trials of its choice are made, those in their place not."""

    plant: Plant
    block: int
    folder: Path
    planted: list[str] = field(default_factory=list)
    _open: AbstractContextManager[None] | None = None

    def trial_begins(self, plan: TrialPlan, number: int, of: int) -> None:
        chosen = plan.block == self.block and "-again" not in plan.trial
        if chosen and (self.plant.whole_block or not self.planted):
            self.planted.append(plan.trial)
            self._open = self.plant.doing(self.folder)
            self._open.__enter__()

    def trial_ends(self, result: TrialResult) -> None:
        if self._open is not None:
            self._open.__exit__(None, None, None)
            self._open = None


def made(plant: Plant, seed: int) -> tuple[int, int, int, int]:
    """How many were planted and named, and how many were healthy and marked."""
    with open_folder(DISK) as folder:
        values = {**plant.file, "name": "planted", "repeats": BLOCKS, "seed": seed}
        if plant.file is STORED:
            values["target"] = {**STORED["target"], "data": str(folder)}
        block = random.Random(seed).randint(2, BLOCKS)
        planter = Planter(plant, block, folder)
        path = conduct(Experiment.model_validate(values), RunOptions(folder, "planted"), planter)
        found = read_experiment(path).standing
    named = [
        trial
        for trial in planter.planted
        if any(each.cause == plant.cause for each in found.marked.get(trial, ()))
    ]
    healthy = [trial for trial in found.marked if trial not in planter.planted]
    trials = 2 * BLOCKS - len(planter.planted)
    return len(planter.planted), len(named), trials, len(healthy)


def main(arguments: Sequence[str]) -> None:
    """Prints the table, or puts it on the page."""
    parser = parser_of("planted", __doc__)
    parser.add_argument("--experiments", type=int, default=7, help="of each cause")
    options = parser.parse_args(arguments)
    GROUP.mkdir(exist_ok=True)
    (GROUP / "cgroup.procs").write_text(str(os.getpid()))
    rows, sums = [], [0, 0, 0, 0]
    try:
        for plant in PLANTS:
            own = [made(plant, seed) for seed in range(options.experiments)]
            counts = [sum(column) for column in zip(*own, strict=True)]
            sums = [total + count for total, count in zip(sums, counts, strict=True)]
            what = "both trials of a block" if plant.whole_block else "one trial"
            rows.append([plant.cause, what, f"{counts[1]} of {counts[0]}",
                         f"{counts[3]} of {counts[2]}"])  # fmt: skip
            print(rows[-1], file=sys.stderr, flush=True)
    finally:
        (GROUP.parent / "cgroup.procs").write_text(str(os.getpid()))
        GROUP.rmdir()
    named, marked = sums[1] / sums[0], sums[3] / sums[2]
    report = Report(
        title="Causes that were planted",
        how=" ".join((__doc__ or "").split("\n\n")[-1].split())
        + f" `python -m benchmarks.noise.planted`, {options.experiments} experiments of each.",
        header=("cause", "planted in", "named", "healthy trials that were marked"),
        rows=rows,
        aims=[
            Aim("named", 100 * named, "%", "95 or more", named >= NAMED_AIM),
            Aim("healthy trials marked", 100 * marked, "%", "2 or less", marked <= HEALTHY_AIM),
        ],
    )
    show(report, page=options.page)


if __name__ == "__main__":
    main(sys.argv[1:])
