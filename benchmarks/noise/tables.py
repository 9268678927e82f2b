"""The tables of the store: rules and tests held against each other.

python -m benchmarks.noise.tables             # prints them, of the half that no rule was made by
python -m benchmarks.noise.tables --seeds 1   # of the other half
python -m benchmarks.noise.tables --page      # puts them on docs/benchmarks.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.noise.asking import asked, show
from benchmarks.noise.rules import PLANTED, RULES, Piece, all_kept, pairs, pieces
from benchmarks.noise.store import Session
from benchmarks.noise.tests_of_pairs import TESTS, claims
from benchmarks.table import Report

BLOCKS = 6
TEST_OF = {"today": "paired t", "all kept": "paired t", "new": "adjusted for stolen time"}
HOW = (
    "Experiments of {blocks} blocks, cut out of what `python -m benchmarks.noise.record` has "
    "recorded on a machine of two processors: idle, and beside three programs that take "
    "processors, disk and memory. Equal levels tell false claims. A change is planted by slower "
    "operations (`noop`), or the figures of an equal level are multiplied by it; labels of equal "
    "levels are dealt anew within their blocks, 20 times. "
)


@dataclass
class Count:
    """So many of so many."""

    of: int = 0
    hits: int = 0

    def add(self, *, hit: bool) -> None:
        """One more."""
        self.of += 1
        self.hits += hit

    def __str__(self) -> str:
        return f"{100 * self.hits / self.of:.1f} %" if self.of else ""


@dataclass
class Tally:
    """What a rule did."""

    left_out: Count = field(default_factory=Count)
    false: Count = field(default_factory=Count)
    found: dict[float, Count] = field(default_factory=lambda: {each: Count() for each in PLANTED})
    seconds: float = 0.0


def tally(cut: Sequence[Piece], rule: str) -> Tally:
    """Asks a rule what it makes of experiments."""
    counting, found = RULES[rule], Tally()
    for piece in cut:
        made = all_kept(piece.trials)
        counted = counting(piece.trials)
        kept = {id(each) for each in counted}
        for trial in made:
            found.left_out.add(hit=id(trial) not in kept)
        used = piece.trials if rule == "today" else made
        found.seconds += sum(trial.took_s for trial in used)
        for pair in pairs(piece, counting):
            hit = claims(pair, TEST_OF[rule])
            if pair.percent == 0.0:
                found.false.add(hit=hit)
            else:
                found.found[pair.percent].add(hit=hit)
    return found


def of_rules(recorded: Sequence[Session]) -> Report:
    """Each rule on each kind of load, idle and beside noise."""
    rows = []
    for where, own in _places(recorded):
        kinds = [*dict.fromkeys(each.kind for each in own), "all"]
        for kind in kinds:
            cut = list(pieces([each for each in own if kind in (each.kind, "all")], BLOCKS))
            for rule in RULES:
                found = tally(cut, rule)
                rows.append([
                    where, kind, rule, str(found.left_out), str(found.false),
                    *(str(found.found[percent]) for percent in PLANTED), f"{found.seconds:,.0f} s",
                ])  # fmt: skip
    return Report(
        title="Which trials count: three rules",
        how=HOW.format(blocks=BLOCKS)
        + "Today: by the probe before and after a trial. New: by what was taken from its measured "
        "time, and figures adjusted for stolen processor time. Left out are trials, of those made "
        "once; claims are of pairs.",
        header=("machine", "load", "rule", "left out", "false claims",
                *(f"{percent:g} % found" for percent in PLANTED), "time"),
        rows=rows,
        aims=[],
    )  # fmt: skip


def of_tests(recorded: Sequence[Session]) -> Report:
    """Each test on all experiments, idle and beside noise."""
    rows = []
    for where, own in _places(recorded):
        for blocks in (BLOCKS, 2 * BLOCKS):
            cut = list(pieces(own, blocks))
            for name in TESTS if cut else ():
                false = Count()
                found = {percent: Count() for percent in PLANTED}
                for piece in cut:
                    for pair in pairs(piece, all_kept):
                        hit = claims(pair, name)
                        (found[pair.percent] if pair.percent else false).add(hit=hit)
                rows.append([
                    where, str(blocks), name, str(false),
                    *(str(found[percent]) for percent in PLANTED),
                ])  # fmt: skip
    return Report(
        title="Which test tells a verdict: the same trials by several tests",
        how=HOW.format(blocks=f"{BLOCKS} and {2 * BLOCKS}") + "All trials count.",
        header=("machine", "blocks", "test", "false claims",
                *(f"{percent:g} % found" for percent in PLANTED)),
        rows=rows,
        aims=[],
    )  # fmt: skip


def _places(recorded: Sequence[Session]) -> Iterator[tuple[str, list[Session]]]:
    yield "idle", [each for each in recorded if not each.noise]
    yield "beside noise", [each for each in recorded if each.noise]


def main(arguments: Sequence[str]) -> None:
    """Prints the tables, or puts them on the page."""
    recorded, page = asked("tables", __doc__, arguments, seed=2)
    for report in (of_rules(recorded), of_tests(recorded)):
        show(report, page=page)


if __name__ == "__main__":
    main(sys.argv[1:])
