"""Stopping early, by calculation: what a plan with looks claims, finds and takes."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.table import Report
from benchmarks.verdict_draws import SD, Logs, Truth, levels_of, share_of
from benchmarks.verdict_rules import ALPHA, by_product
from benchmarks.verdict_tables import Cells
from loadstone.results.statistics import Looks, looks_of, within_blocks

LOOKS = (4, 6, 8, 12)
FIXED = 10
SHIFTS = (0.0, 1.0, 1.5, 2.0, 3.0)


def stopped(logs: Logs, looks: Looks) -> tuple[int, bool, float, float]:
    """How a plan ends on the trials of one experiment, shape (blocks, 2).

    Returns:
        Blocks it took, whether it claims a difference, and the ends of its repeated interval.
    """
    for blocks, limit in zip(looks.blocks, looks.limits, strict=True):
        contrast = within_blocks(levels_of(logs[:blocks]), "1", "0")
        assert contrast.error is not None, "looks begin where an error is known"
        reach = limit * contrast.error
        if abs(contrast.shift) > reach:
            break
    claims = abs(contrast.shift) > reach
    return blocks, claims, contrast.shift - reach, contrast.shift + reach


def early(cells: Cells) -> Report:
    """Beside ten blocks that are fixed in advance."""
    looks = looks_of(LOOKS, 2, ALPHA)
    rows = []
    for shift in SHIFTS:
        truth = Truth(max(*LOOKS, FIXED), share=0.5, shifts={1: shift})

        def make(runs: int, seed: int, truth: Truth = truth, shift: float = shift) -> list[float]:
            drawn = truth.draw(runs, seed)
            ends = [stopped(logs, looks) for logs in drawn]
            return [
                share_of([claims for _, claims, _, _ in ends]),
                sum(blocks for blocks, _, _, _ in ends) / runs,
                share_of([low <= SD * shift <= high for _, _, low, high in ends]),
                share_of([each[0] for each in by_product(drawn[:, :FIXED])]),
            ]

        claims, blocks, covered, fixed = cells.of(f"looks {LOOKS}, {truth}", make)
        rows.append(
            (f"{shift:g} sd", f"{claims:.1f}", f"{blocks:.1f}", f"{covered:.1f}", f"{fixed:.1f}")
        )
    return Report(
        title="Verdicts, simulated: stopping early",
        how=f"Looks after {_list(LOOKS)} blocks of two levels; limits of |t|: "
        f"{_list([f'{limit:.2f}' for limit in looks.limits])}. Claimed %, blocks on average, "
        f"intervals that hold the truth %; beside {FIXED} blocks, fixed in advance. {cells.error}",
        header=("true difference", "claimed", "blocks", "intervals", f"claimed in {FIXED} blocks"),
        rows=rows,
        aims=(),
    )


def _list(items: Sequence[object]) -> str:
    return ", ".join(map(str, items))
