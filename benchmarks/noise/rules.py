"""Rules held against the store: what they leave out, claim falsely and find, and how long it takes.

A session is cut into experiments of so many blocks. Two variants that are equal make an experiment
without a difference; one whose operations were made slower has a planted one. Of equal variants the
figures of one are multiplied, too: a change of that size would have done that to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.noise.store import Session, Trial
from loadstone.results.machine import drift_record
from loadstone.results.record import Status, TrialResult
from loadstone.results.standing import standing
from loadstone.results.taken import KINDS, Cause, Taken

PLANTED = (2.0, 5.0, 10.0)
PROBES_FOR_USUAL, MOVED_PERCENT = 6, 20.0
"""Of the rule by the probe: from how many probes on, and by how much the machine may move."""

Counting = Callable[[Sequence[Trial]], list[Trial]]
"""Takes all trials of an experiment in their order, and gives those that count."""


@dataclass(frozen=True)
class Piece:
    """An experiment that was cut out of a session.

    Attributes:
        session: Of which it is.
        trials: Of its blocks, with those that were made again.
    """

    session: Session
    trials: list[Trial]


def pieces(sessions: Sequence[Session], blocks: int) -> Iterator[Piece]:
    """Cuts sessions into experiments; what is left over at the end of one is left out."""
    for session in sessions:
        of_block: dict[int, list[Trial]] = {}
        for trial in by_the_probe(session.trials):
            of_block.setdefault(trial.block, []).append(trial)
        numbers = sorted(of_block)
        for begin in range(0, len(numbers) - blocks + 1, blocks):
            own = [
                trial for number in numbers[begin : begin + blocks] for trial in of_block[number]
            ]
            yield Piece(session, own)


def name_of(trial: Trial) -> str:
    """Of a trial within its experiment."""
    return f"{trial.block}/{trial.variant}/{trial.order}"


# -- which trials count ------------------------------------------------------------------------
def by_the_probe(trials: Sequence[Trial]) -> list[Trial]:
    """The trials of a session with the status that the probe before and after them gives.

    It was the rule when all of the store but two sessions was recorded, and gives each trial of
    those the status that it had.
    """
    found, speeds = [], list[dict[str, float]]()
    for trial in trials:
        own = [each for each in (trial.before, trial.after) if each]
        speeds += own
        drift = drift_record(own, speeds)
        moved = (
            drift is not None
            and len(speeds) >= PROBES_FOR_USUAL
            and abs(drift.moved_percent) > MOVED_PERCENT
        )
        failed = trial.status not in (Status.VALID, Status.DISTURBED)
        status = Status.DISTURBED if moved else Status.VALID
        found.append(trial if failed else replace(trial, status=status.value))
    return found


def today(trials: Sequence[Trial]) -> list[Trial]:
    """The probe before and after decides."""
    return [trial for trial in trials if trial.status == Status.VALID]


def all_kept(trials: Sequence[Trial]) -> list[Trial]:
    """All that were made once."""
    return [trial for trial in trials if not trial.again]


def by_what_was_taken(trials: Sequence[Trial]) -> list[Trial]:
    """As the product says; a trial that it would make again is not there."""
    kept = all_kept(trials)
    left_out = standing([result_of(trial) for trial in kept]).left_out
    return [trial for trial in kept if name_of(trial) not in left_out]


def result_of(trial: Trial) -> TrialResult:
    """A stored trial as the product records one."""
    return TrialResult(
        experiment="recorded",
        trial=name_of(trial),
        variant=trial.variant,
        block=trial.block,
        order=trial.order,
        status=Status.VALID,
        started_at="",
        taken=[
            Taken(cause=cause, share=share, evidence="")
            for cause, share in shares_of(trial).items()
            if share > 0.0
        ],
    )


def shares_of(trial: Trial) -> dict[Cause, float]:
    """What was taken from a stored trial, of each cause."""
    return {cause: trial.taken.get(cause, 0.0) for cause in KINDS}


RULES: Mapping[str, Counting] = {
    "today": today,
    "all kept": all_kept,
    "new": by_what_was_taken,
}


# -- what is found -----------------------------------------------------------------------------
DRAWS = 20
"""So often the labels of equal levels are dealt anew within their blocks, as they were drawn."""


@dataclass(frozen=True)
class Pair:
    """Two levels of an experiment, by block; `percent` is the difference that is there."""

    piece: Piece
    trials: tuple[dict[int, Trial], dict[int, Trial]]
    percent: float
    is_real: bool
    """The operations were made slower; else the figures of the second are multiplied."""

    def levels(self) -> dict[str, dict[int, float]]:
        """The figures of `a` and `b`."""
        more = 1.0 if self.is_real else 1.0 + self.percent / 100.0
        return {
            "a": {block: each.figure or 0.0 for block, each in self.trials[0].items()},
            "b": {block: (each.figure or 0.0) * more for block, each in self.trials[1].items()},
        }

    def stolen(self) -> dict[str, dict[int, float]]:
        """What other guests took from them."""
        return {
            name: {block: shares_of(each)["steal"] for block, each in own.items()}
            for name, own in zip(("a", "b"), self.trials, strict=True)
        }

    def differences(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Logarithms of the ratio in each block that has both."""
        figures = self.levels()
        shared = sorted(figures["a"].keys() & figures["b"].keys())
        return np.log([figures["b"][block] / figures["a"][block] for block in shared])


def pairs(piece: Piece, rule: Counting, planted: Sequence[float] = PLANTED) -> Iterator[Pair]:
    """Pairs of equal levels with and without a planted change, and of one that was made slower."""
    cells: dict[str, dict[int, Trial]] = {}
    for trial in rule(piece.trials):
        if trial.figure is not None and trial.figure > 0.0:
            cells.setdefault(trial.variant, {})[trial.block] = trial
    slower = piece.session.planted
    equal = sorted(name for name in cells if name not in slower)
    blocks = sorted({block for name in equal for block in cells[name]})
    draws = np.random.default_rng([piece.session.seed, blocks[0] if blocks else 0])
    for _ in range(DRAWS if len(equal) > 1 else 0):
        first: dict[int, Trial] = {}
        second: dict[int, Trial] = {}
        for block in blocks:
            one, other = draws.permutation(len(equal))[:2]
            for number, own in ((one, first), (other, second)):
                if block in cells[equal[number]]:
                    own[block] = cells[equal[number]][block]
        for percent in (0.0, *planted):
            yield Pair(piece, (first, second), percent, is_real=False)
    for name, percent in slower.items():
        for level in equal:
            if name in cells:
                yield Pair(piece, (cells[level], cells[name]), percent, is_real=True)
