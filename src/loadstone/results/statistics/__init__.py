"""The statistics of Loadstone: pure functions of figures, explained in ``docs/method.md``.

The unit is the trial. Nothing here reads a file or a clock. Figures are plain numbers of any one
unit, above 0 where they are compared.
"""

from loadstone.results.statistics.contrasts import (
    Blocks,
    Contrast,
    Method,
    fewest_blocks,
    unpaired,
    within_blocks,
)
from loadstone.results.statistics.drift import moved_percent
from loadstone.results.statistics.power import Detectable, least_detectable, power_of
from loadstone.results.statistics.sequential import Looks, looks_of
from loadstone.results.statistics.staged import LookPlan, Member, judge_at_looks, judge_family
from loadstone.results.statistics.steady import SteadyState, steady_state
from loadstone.results.statistics.summary import Summary, outliers, summarize
from loadstone.results.statistics.verdicts import Comparison, Look, Verdict, holm, judge

__all__ = [
    "Blocks",
    "Comparison",
    "Contrast",
    "Detectable",
    "Look",
    "LookPlan",
    "Looks",
    "Member",
    "Method",
    "SteadyState",
    "Summary",
    "Verdict",
    "fewest_blocks",
    "holm",
    "judge",
    "judge_at_looks",
    "judge_family",
    "least_detectable",
    "looks_of",
    "moved_percent",
    "outliers",
    "power_of",
    "steady_state",
    "summarize",
    "unpaired",
    "within_blocks",
]
