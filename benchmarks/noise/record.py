"""Records experiments on this machine, idle or beside a noise maker, into the store.

    python -m benchmarks.noise.record                        # all that the store lacks: 90 minutes
    python -m benchmarks.noise.record --kinds "noop closed" --noises "" processor

Nothing else may run meanwhile. A session that the store has already is not made again, so a run
that was ended goes on where it stood.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.noise.kinds import KINDS, Kind
from benchmarks.noise.makers import ALL, MAKERS, noise
from benchmarks.noise.places import DISK, IDLE, MEMORY, ROOT, open_folder
from benchmarks.noise.store import STORE, Session, Trial, add, sessions
from loadstone.load.totals import LoadLog
from loadstone.placements.exported import free_ports
from loadstone.report.reading import RecordedTrial, read_experiment
from loadstone.results.frames import parsed_frames


@dataclass(frozen=True)
class Wanted:
    """A session that is to be in the store."""

    kind: Kind
    noise: str
    seed: int

    @property
    def blocks(self) -> int:
        """Twice as many on the idle machine: what is claimed there falsely is counted."""
        return self.kind.blocks if self.noise == IDLE else max(6, self.kind.blocks // 4)


HALVES: dict[int, Sequence[str]] = {1: (IDLE, *MAKERS), 2: (IDLE, ALL)}
"""Seed: what is beside it. Rules are made by the first half, and tried on the second."""


def wanted(kinds: Sequence[str], seeds: Sequence[int], noises: Sequence[str]) -> list[Wanted]:
    """All sessions of the first half before those of the second."""
    return [
        Wanted(kind, name, seed)
        for seed in seeds
        for name in HALVES[seed]
        for kind in KINDS
        if kind.name in kinds and name in noises
    ]


def main(arguments: Sequence[str]) -> None:
    """Records what is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.noise.record",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kinds", nargs="+", default=[kind.name for kind in KINDS])
    parser.add_argument("--noises", nargs="+", default=[IDLE, *MAKERS, ALL])
    parser.add_argument("--seeds", nargs="+", type=int, default=list(HALVES))
    parser.add_argument("--store", type=Path, default=STORE)
    options = parser.parse_args(arguments)
    for each in wanted(options.kinds, options.seeds, options.noises):
        made = {(one.kind, one.noise, one.seed) for one in sessions(options.store)}
        if (each.kind.name, each.noise, each.seed) in made:
            continue
        began = time.monotonic()
        session = record(each)
        add(session, options.store)
        told = f"{each.kind.name}, {each.noise or 'idle'}, {each.seed}"
        print(f"{told}: {len(session.trials)} trials in {time.monotonic() - began:.0f} s",
              file=sys.stderr, flush=True)  # fmt: skip


def record(each: Wanted) -> Session:
    """Makes a session and reads it."""
    with _folders(each.kind) as (results, data), _shop(each.kind) as port:
        file = results / "experiment.yaml"
        words = {"DATA": str(data), "MEMORY": str(data), "PORT": str(port)}
        text = json.dumps({
            **each.kind.file,
            "version": 1,
            "name": "recorded",
            "repeats": each.blocks,
            "seed": each.seed,
        })  # fmt: skip
        file.write_text(re.sub("|".join(words), lambda found: words[found[0]], text))
        with open_folder(DISK) as disk, noise(each.noise, disk, each.seed):
            subprocess.run(
                [
                    str(Path(sys.executable).with_name("loadstone")),
                    "compare",
                    str(file),
                    "--results",
                    str(results),
                    "--quiet",
                ],
                cwd=ROOT,
                stdout=subprocess.DEVNULL,
                check=False,
            )
        found = read_experiment(results / "recorded")
        trials = [_trial(trial, each.kind.figure) for trial in found.trials]
    planted = {
        variant: percent
        for variant in {trial.variant for trial in trials}
        for level, percent in each.kind.planted.items()
        if variant.endswith(level)
    }
    return Session(each.kind.name, each.noise, each.seed, each.kind.up_is_good, planted, trials)


def _trial(trial: RecordedTrial, figure: str) -> Trial:
    result = trial.result
    metric = result.metric(figure)
    log = LoadLog.of(parsed_frames(trial.path))
    drift = result.drift
    return Trial(
        variant=result.variant,
        block=result.block,
        order=result.order,
        again="-again" in result.trial,
        status=result.status.value,
        figure=None if metric is None else metric.value,
        ticks=[
            sum(one.count for one in tick.operations.values()) / tick.duration_s
            for tick in log.measured_ticks()
            if tick.duration_s > 0.2
        ],
        measured_s=log.measured().duration_s,
        took_s=sum(step.seconds for step in result.took),
        taken={each.cause: each.share for each in result.taken or ()},
        before={} if drift is None else drift.before,
        after={} if drift is None else drift.after,
    )


@contextmanager
def _folders(kind: Kind) -> Iterator[tuple[Path, Path]]:
    """Of results and data."""
    place = MEMORY if kind.in_memory else DISK
    with open_folder(DISK) as results, open_folder(place) as data:
        yield results, data


@contextmanager
def _shop(kind: Kind) -> Iterator[int]:
    """The shop of the examples, for the load that asks it."""
    (port,) = free_ports(1)
    if kind.name != "http":
        yield port
        return
    words = [sys.executable, str(ROOT / "examples" / "http" / "shop.py"), str(port)]
    shop = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(1.0)
        yield port
    finally:
        shop.terminate()
        shop.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
