"""A storage baseline beside fio run by hand, with the same job file on a file of the same kind."""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path

from benchmarks.fio_by_hand import (
    AS_A_TRIAL,
    FIGURES,
    PLAIN,
    Figures,
    on_file,
    run_by_hand,
    without_logs,
)
from benchmarks.table import Aim, Report, median
from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.observer import Observer
from loadstone.report.reading import read_experiment
from loadstone.results.record import TrialResult
from loadstone.results.statistics.contrasts import within_blocks
from loadstone.results.statistics.power import student_beyond
from loadstone.spec.design import RunDesign
from loadstone.spec.model import Experiment, WorkloadSpec
from loadstone.spec.target import TargetSpec
from loadstone.workloads.storage.files import lay_out
from loadstone.workloads.storage.fio_binary import find_fio
from loadstone.workloads.storage.jobs.resolving import in_full

SECONDS = 3
FILE_BYTES = 256 << 20
WITHIN_PERCENT = 2.0
OURS, BY_HAND, LOGGED = "loadstone run storage", "fio by hand", "fio by hand with the logs"
AGAIN = f"{LOGGED}, again"
"""The control: what one run of fio differs from the next."""
_TAIL = 0.05
"""On each side of a 90 % interval."""
_JOBS = """[global]
ioengine={engine}
direct={direct}
filename=data
size={size}
thread
norandommap
time_based
runtime={seconds}s
[small]
rw=randread
bs=4k
iodepth=32
[large]
stonewall
rw=write
bs=1m
iodepth=8
"""
_TESTS = ("4 KB random reads, depth 32", "1 MB writes, depth 8")
_MEMORY = Path("/dev/shm")  # noqa: S108 - a memory file system, not a file of a known name
_DISK = Path("/var/tmp")  # noqa: S108 - a disk as a rule, and again no file of a known name
Outcome = Sequence[Figures]
"""The figures of each test."""


@dataclass(frozen=True)
class Ground:
    """What fio works on.

    Attributes:
        name: As the page calls it.
        parent: Folder in which one is made for the files.
        engine: fio's.
        direct: Whether the page cache is to be passed.
        rounds: Made on it.
        judged: Against which of fio's runs by hand intervals are to lie within `WITHIN_PERCENT`.
    """

    name: str
    parent: Path
    engine: str
    direct: bool
    rounds: int
    judged: tuple[str, ...]


GROUNDS = (
    Ground("null engine", _MEMORY, "null", direct=False, rounds=30, judged=(LOGGED,)),
    Ground("tmpfs", _MEMORY, "io_uring", direct=False, rounds=30, judged=(LOGGED, BY_HAND)),
    Ground("disk", _DISK, "io_uring", direct=True, rounds=12, judged=()),
)


def measure() -> Report:
    """All grounds, one after the other."""
    rows: list[Sequence[str]] = []
    aims: list[Aim] = []
    for ground in GROUNDS:
        print(f"  {ground.name}", file=sys.stderr, flush=True)
        done = _measured(ground)
        rows += _rows(ground, done)
        aims += _aims(ground, done)
    return Report(
        title="A storage baseline beside fio by hand",
        how=f"fio {find_fio().version}; a job file of two tests, {SECONDS} s each, on a file of "
        f"{FILE_BYTES >> 20} MB that was written in full. `{OURS}` is a whole trial of "
        f"`--param fio=FILE`, probes and all. `{BY_HAND}` is `fio FILE {PLAIN[0]}` on a file "
        f"beside it, which is made anew each time, as that of a trial is. `{LOGGED}` has the job "
        "file and the arguments of the trial: for its histogram "
        "logs fio looks at the clock once more for each I/O. "
        f"`{AGAIN}` is the control: the same once more, so its change is what fio itself "
        f"differs by. {_rounds()}, the four in random order in each. By hand: medians. Changes "
        "have 90 % intervals (t of the logarithms' differences, round by round).",
        header=("", "", *(name for name, _ in FIGURES.values())),
        rows=rows,
        aims=aims,
    )


def _rounds() -> str:
    return ", ".join(f"{ground.rounds} rounds on the {ground.name}" for ground in GROUNDS)


def _measured(ground: Ground) -> Mapping[str, Sequence[Outcome]]:
    """What each way gave in each round."""
    prefix = "loadstone-benchmark-"
    with (
        tempfile.TemporaryDirectory(prefix=prefix, dir=ground.parent) as place,
        tempfile.TemporaryDirectory(prefix=prefix) as folder,
    ):
        ways = _ways(ground, Path(place), Path(folder))
        order = random.Random(1)
        done: dict[str, list[Outcome]] = {name: [] for name in ways}
        for number in range(1, ground.rounds + 1):
            for name in order.sample(list(ways), len(ways)):
                done[name].append(ways[name](number))
    return done


def _ways(ground: Ground, place: Path, folder: Path) -> dict[str, Callable[[int], Outcome]]:
    """How each is run in a round; a trial that does not count shows what fio is told."""
    jobs = folder / "jobs.fio"
    text = _JOBS.format(
        engine=ground.engine, direct=int(ground.direct), size=FILE_BYTES, seconds=SECONDS
    )
    jobs.write_text(text)
    first = _trial(jobs, place, folder, 0)[1]
    file = place / "by-hand"

    def by_hand(texts: Sequence[str], arguments: Sequence[str]) -> Outcome:
        """On a file that is made anew, as that of each trial is: where it lies matters."""
        lay_out(file, FILE_BYTES, 0, seed=0)
        try:
            return [run_by_hand(each, folder, arguments) for each in texts]
        finally:
            file.unlink()

    told = [on_file(each.read_text(), file) for each in sorted(first.glob("*/fio/*/jobs.fio"))]
    texts = told[: len(_TESTS)]
    plain = [without_logs(each) for each in texts]
    return {
        OURS: lambda number: _figures(_trial(jobs, place, folder, number)[0]),
        BY_HAND: lambda _: by_hand(plain, PLAIN),
        LOGGED: lambda _: by_hand(texts, AS_A_TRIAL),
        AGAIN: lambda _: by_hand(texts, AS_A_TRIAL),
    }


def _trial(jobs: Path, place: Path, folder: Path, number: int) -> tuple[TrialResult, Path]:
    """Its result, and the folder of its experiment."""
    experiment = Experiment(
        name=f"storage-{number}",
        workload=WorkloadSpec(name="storage", parameters={"fio": in_full(jobs)}),
        target=TargetSpec(engine="folder", data=str(place)),
        design=RunDesign(),
    )
    options = RunOptions(folder, command="python -m benchmarks storage", allow_unsafe=False)
    made = conduct(experiment, options, Observer())
    return read_experiment(made).trials[0].result, made


def _figures(result: TrialResult) -> Outcome:
    told = [{each.name: each.value for each in phase.metrics} for phase in result.measured]
    return [{name: each[name] for name in FIGURES} for each in told]


def _rows(ground: Ground, done: Mapping[str, Sequence[Outcome]]) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = []
    for test, title in enumerate(_TESTS):
        plain = [
            f"{median([each[test][name] for each in done[BY_HAND]]):.4g}{unit}"
            for name, (_, unit) in FIGURES.items()
        ]
        rows.append((f"{ground.name}: {title}", BY_HAND, *plain))
        for way, beside in ((AGAIN, LOGGED), (LOGGED, BY_HAND), (OURS, LOGGED), (OURS, BY_HAND)):
            changes = [_change(done, test, name, way, beside) for name in FIGURES]
            told = (f"{each:+.2f} % ({low:+.2f} to {high:+.2f})" for low, each, high in changes)
            rows.append(("", f"{way}, against {beside}", *told))
    return rows


def _aims(ground: Ground, done: Mapping[str, Sequence[Outcome]]) -> list[Aim]:
    """The end of an interval that is furthest from no change, of each figure."""
    found = []
    for beside in ground.judged:
        for name, (what, _) in FIGURES.items():
            furthest = _furthest(done, name, OURS, beside)
            text = f"{ground.name}: {what} against {beside}, furthest end of an interval"
            text += f" (of the control {_furthest(done, name, AGAIN, LOGGED):.3g} %)"
            aim = f"<= {WITHIN_PERCENT:g} %"
            found.append(Aim(text, furthest, "%", aim, furthest <= WITHIN_PERCENT))
    return found


def _furthest(done: Mapping[str, Sequence[Outcome]], figure: str, way: str, beside: str) -> float:
    """Of the intervals of all tests."""
    changes = [_change(done, test, figure, way, beside) for test in range(len(_TESTS))]
    return max(max(abs(low), abs(high)) for low, _, high in changes)


def _change(
    done: Mapping[str, Sequence[Outcome]], test: int, figure: str, way: str, beside: str
) -> tuple[float, float, float]:
    """In percent: low end of the 90 % interval, the change, high end."""
    levels = {
        name: {number: each[test][figure] for number, each in enumerate(done[name])}
        for name in (way, beside)
    }
    found = within_blocks(levels, way, beside)
    if found.error is None:
        raise RuntimeError("one round has no interval: make two or more")
    reach = student_beyond(_TAIL, found.freedom) * found.error
    shifts = (found.shift - reach, found.shift, found.shift + reach)
    low, middle, high = (100 * (exp(each) - 1) for each in shifts)
    return low, middle, high
