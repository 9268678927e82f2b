"""The driver's catalogue of small files beside fio's engines of file calls, which are a floor.

python -m benchmarks.catalogue --rounds 3 --seconds 1 --files 5000    # a look
python -m benchmarks.catalogue --page                                 # onto docs/benchmarks.md
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.driving import closed, drive, plan
from benchmarks.fio_files import FileCalls, calls
from benchmarks.page import put
from benchmarks.server import memory_folder
from benchmarks.table import Report, spread
from loadstone.journal import Journal
from loadstone.load.profiles import load_plan
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.folder import Folder
from loadstone.workloads.base import LoadContext, LoadRequest
from loadstone.workloads.storage.catalogue import Catalogue
from loadstone.workloads.storage.parameters import StorageParameters

ROUNDS, SECONDS, FILES = 12, 3.0, 40_000
HOME_FILES = 4
PLACES = {"tmpfs": None, "ext4 on a loop device": "loop:ext4,size=4GB"}
"""Where the files are: a folder in memory, or a placement."""
MIXES = {
    "stat": ({"stat": 1}, ("filestat",)),
    "create": ({"create": 1}, ("filecreate",)),
    "create and delete": ({"create": 1, "delete": 1}, ("filecreate", "filedelete")),
}
"""What is done: the operations of the driver, and fio's engines that do as much."""
LEVEL = 0.90


@dataclass
class Rates:
    """Operations per second, and per second of CPU, one value a round."""

    per_s: list[float] = field(default_factory=list)
    per_cpu_s: list[float] = field(default_factory=list)

    def add(self, count: int, seconds: float, cpu_s: float) -> None:
        """A round."""
        self.per_s.append(count / seconds)
        self.per_cpu_s.append(count / cpu_s)


Pair = tuple[Rates, Rates]
"""Of the driver and of fio."""


def measure(rounds: int = ROUNDS, seconds: float = SECONDS, files: int = FILES) -> Report:
    """Each place and mix in turn, `rounds` rounds, the first of each round taking turns."""
    rows = []
    for place, storage in PLACES.items():
        with _folder(storage) as target:
            pairs = {mix: (Rates(), Rates()) for mix in MIXES}
            for number in range(rounds):
                for mix, pair in pairs.items():
                    _round(target, mix, pair, number, seconds, files)
        rows += [_row(f"{place}: {mix}", pair) for mix, pair in pairs.items()]
    return Report(
        title="The catalogue beside fio's engines of file calls",
        how=f"One closed user of the driver on {files:,} files in {files // HOME_FILES:,} hashed "
        f"homes, and one thread of fio on {files:,} files in one folder. fio's files are empty; "
        "the driver writes 256 to 8,192 bytes into each that it creates, draws names and homes, "
        "and hands each call over to a thread of its own. fio is therefore a floor of what a "
        f"call costs, and not a peer. {rounds} interleaved rounds (of {seconds:g} s by the driver, "
        "of one call a file by fio), median and range; the ratio is the geometric mean of those "
        f"of the rounds, with its {LEVEL:.0%} interval. CPU is user and system time.",
        header=(
            *("", "driver: operations/s", "fio: calls/s", "ratio"),
            *("driver: operations/CPU s", "fio: calls/CPU s", "ratio"),
        ),
        rows=rows,
        aims=(),
    )


@contextmanager
def _folder(storage: str | None) -> Iterator[Folder]:
    spec = TargetSpec(
        engine="folder",
        data=None if storage else memory_folder(),
        storage=StorageSpec(data=storage) if storage else StorageSpec(),
    )
    with (
        tempfile.TemporaryDirectory(prefix="loadstone-benchmark-") as notes,
        Journal(Path(notes) / "journal.jsonl", "python -m benchmarks") as journal,
    ):
        target = Folder(spec, TargetContext(journal, "benchmark"))
        try:
            target.open()
            yield target
        finally:
            target.close()


def _round(  # noqa: PLR0917 - one cell of the table
    target: Folder, mix: str, pair: Pair, number: int, seconds: float, files: int
) -> None:
    own, floor = pair
    for ours in (number % 2 == 0, number % 2 == 1):
        target.empty(target.spec)
        if ours:
            own.add(*_driver(target, mix, number, seconds, files))
        else:
            floor.add(*_fio(target, mix, files))


def _driver(
    target: Folder, mix: str, seed: int, seconds: float, files: int
) -> tuple[int, float, float]:
    weights, _ = MIXES[mix]
    parameters = StorageParameters(
        profile="catalogue", homes=files // HOME_FILES, home_files=HOME_FILES, mix=weights
    )
    workload = Catalogue(parameters)
    connection = target.connection()

    def run_driver(request: LoadRequest) -> dict[str, float]:
        end = drive(load_plan(workload.name, request, connection, threads=1)).end
        assert end is not None
        return dict(end.facts)

    workload.build(target, run_driver, seed)
    work = workload.plan(LoadContext(seed, target, Path(), seed))
    where = connection.plan()
    load = drive(
        plan(work, closed(1), connection=where, measure_s=seconds, warm_up_s=0.5, seed=seed)
    ).measured()
    return load.count, load.duration_s, load.cpu_user_s + load.cpu_system_s


def _fio(target: Folder, mix: str, files: int) -> tuple[int, float, float]:
    """The engines of a mix one after the other; what they need is made before."""
    folder = target.data_folder()
    made: dict[str, FileCalls] = {"filecreate": calls("filecreate", folder, files)}
    _, engines = MIXES[mix]
    for engine in engines:
        if engine not in made:
            made[engine] = calls(engine, folder, files)
    done = [made[engine] for engine in engines]
    return (
        sum(each.count for each in done),
        sum(each.seconds for each in done),
        sum(each.cpu_s for each in done),
    )


def _row(label: str, pair: Pair) -> tuple[str, ...]:
    own, floor = pair
    return (
        label,
        *(spread(own.per_s), spread(floor.per_s), ratio(own.per_s, floor.per_s)),
        *(spread(own.per_cpu_s), spread(floor.per_cpu_s), ratio(own.per_cpu_s, floor.per_cpu_s)),
    )


def ratio(own: Sequence[float], other: Sequence[float]) -> str:
    """The geometric mean of the rounds' ratios, with Student's interval of their logarithms."""
    from scipy import stats

    logs = [math.log(a / b) for a, b in zip(own, other, strict=True)]
    mean, count = statistics.mean(logs), len(logs)
    if count < 2:
        return f"{math.exp(mean):.3g}"
    reach = stats.t.ppf((1 + LEVEL) / 2, count - 1) * statistics.stdev(logs) / math.sqrt(count)
    low, high = math.exp(mean - reach), math.exp(mean + reach)
    return f"{math.exp(mean):.3g} ({low:.3g}-{high:.3g})"


def main() -> int:
    """Prints the section; puts it on the page where that is asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.catalogue", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks.md")
    given = parser.parse_args()
    section = measure(given.rounds, given.seconds, given.files).markdown()
    put(section) if given.page else print(section)
    return 0


if __name__ == "__main__":
    sys.exit(main())
