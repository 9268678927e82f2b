"""Are the rungs of the demo's ladder found, on the idle machine and beside all noise makers?

    python -m benchmarks.noise.ladders --times 10 -- --measure 3s   # climbs: eight minutes each
    python -m benchmarks.noise.ladders --page                       # the table of all that was made

The ladder is climbed idle and beside noise by turns, and each climb is kept, so a run that was
ended goes on where it stood. What a rung truly does is told by all climbs of a kind together.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from benchmarks.noise.asking import parser_of, show
from benchmarks.noise.makers import ALL, noise
from benchmarks.noise.places import DISK, IDLE, ROOT, open_folder
from benchmarks.table import Report
from loadstone.report.document import build_document
from loadstone.report.reading import read_experiment

CLIMBS = Path(__file__).with_name("ladders.jsonl")
LADDER = ROOT / "examples" / "oltp-ladder.yaml"
FOUND = ("better", "worse")


class Rung(BaseModel):
    """A rung against the one before it, by the ladder's metric."""

    name: str
    ratio: float
    verdict: str


class Climb(BaseModel):
    """The ladder, climbed once.

    Attributes:
        noise: What was beside it; nothing on the idle machine.
        number: Of the climbs under that noise, from 1; the seed of its noise.
        options: That were typed after the file.
        seconds: The whole took.
        trials: That were made.
        marked: Of them, those of whose measured time others took.
        left_out: Of them, those that do not count.
        rungs: In order.
    """

    noise: str
    number: int
    options: list[str]
    seconds: float
    trials: int
    marked: int
    left_out: int
    rungs: list[Rung]


def climbs(store: Path) -> list[Climb]:
    """All that were made."""
    if not store.exists():
        return []
    return [Climb.model_validate_json(line) for line in store.read_text().splitlines()]


def climbed(name: str, number: int, options: Sequence[str]) -> Climb:
    """Climbs the ladder once."""
    loadstone = str(Path(sys.executable).with_name("loadstone"))
    with (
        open_folder(DISK) as results,
        open_folder(DISK) as disk,
    ):
        began = time.monotonic()
        with noise(name, disk, number):
            done = subprocess.run(
                [loadstone, "ladder", str(LADDER), "--results", str(results), "--name", "climb",
                 "--quiet", "--allow-unsafe", *options],
                cwd=ROOT, stdout=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        seconds = time.monotonic() - began
        folder = results / "climb"
        if not folder.exists():
            raise SystemExit(f"the ladder was not climbed: exit code {done.returncode}")
        read, document = read_experiment(folder), build_document(folder)
    compared = [each for each in document.comparisons if each.role == "previous"]
    metric = compared[0].metric
    return Climb(
        noise=name,
        number=number,
        options=list(options),
        seconds=seconds,
        trials=len(read.trials),
        marked=len(read.standing.marked),
        left_out=len(read.standing.left_out),
        rungs=[
            Rung(name=each.candidate, ratio=each.ratio, verdict=each.verdict)
            for each in compared
            if each.metric == metric
        ],
    )


def table(made: Sequence[Climb]) -> Report:
    """What each rung does, and how often it was found."""
    idle = [each for each in made if each.noise == IDLE]
    beside = [each for each in made if each.noise == ALL]
    names = [rung.name for rung in made[0].rungs]
    rows = [
        [name, *chain(*((_change(some, name), _found(some, name)) for some in (idle, beside)))]
        for name in names
    ]
    rows += [
        [what, *chain(*((tell(some), "") for some in (idle, beside)))]
        for what, tell in (
            ("trials that others took from", _marked),
            ("trials left out", _left_out),
            ("minutes of a climb", _minutes),
        )
    ]
    options = " ".join(made[0].options)
    return Report(
        title="The demo's ladder, idle and beside noise",
        how=f"`loadstone ladder examples/oltp-ladder.yaml {options}`, {len(idle)} times idle and "
        f"{len(beside)} times beside three programs that take processors, disk and memory, by "
        "turns. The change is the geometric mean of those climbs, against the rung before, with "
        "its 95 % interval over climbs. `python -m benchmarks.noise.ladders --page`.",
        header=("rung", "change, idle", "found", "change, beside noise", "found"),
        rows=rows,
        aims=(),
    )


def _change(made: Sequence[Climb], name: str) -> str:
    from scipy.stats import t

    if not made:
        return ""
    logs = [math.log(rung.ratio) for each in made for rung in each.rungs if rung.name == name]
    mean = math.fsum(logs) / len(logs)
    if len(logs) < 2:
        return f"{100 * math.expm1(mean):+.1f} %"
    variance = math.fsum((each - mean) ** 2 for each in logs) / (len(logs) - 1)
    half = float(t.ppf(0.975, len(logs) - 1)) * math.sqrt(variance / len(logs))
    low, high = (100 * math.expm1(mean + sign * half) for sign in (-1, 1))
    return f"{100 * math.expm1(mean):+.1f} % ({low:+.1f} to {high:+.1f})"


def _found(made: Sequence[Climb], name: str) -> str:
    own = [rung for each in made for rung in each.rungs if rung.name == name]
    return f"{sum(rung.verdict in FOUND for rung in own)} of {len(own)}"


def _marked(made: Sequence[Climb]) -> str:
    return _percent([(each.marked, each.trials) for each in made])


def _left_out(made: Sequence[Climb]) -> str:
    return _percent([(each.left_out, each.trials) for each in made])


def _percent(counts: Sequence[tuple[int, int]]) -> str:
    of = sum(all_of for _, all_of in counts)
    return f"{100 * sum(count for count, _ in counts) / of:.1f} %" if of else ""


def _minutes(made: Sequence[Climb]) -> str:
    return f"{sum(each.seconds for each in made) / len(made) / 60:.1f}" if made else ""


def main(arguments: Sequence[str]) -> None:
    """Climbs as often as is missing, then prints the table, or puts it on the page."""
    parser = parser_of("ladders", __doc__)
    parser.add_argument("--times", type=int, default=0, help="climbs of either kind in the store")
    parser.add_argument("--store", type=Path, default=CLIMBS)
    parser.add_argument("options", nargs="*", help="of `loadstone ladder`")
    options = parser.parse_args(arguments)
    others = [each.options for each in climbs(options.store) if each.options != options.options]
    if options.times and others:
        parser.error(f"{options.store} has climbs with options {others[0]}: give another --store")
    for number in range(1, options.times + 1):
        for name in (IDLE, ALL):
            if (name, number) in {(each.noise, each.number) for each in climbs(options.store)}:
                continue
            climb = climbed(name, number, options.options)
            with options.store.open("a") as lines:
                lines.write(json.dumps(climb.model_dump()) + "\n")
            print(climb, file=sys.stderr, flush=True)
    show(table(climbs(options.store)), page=options.page)


if __name__ == "__main__":
    main(sys.argv[1:])
