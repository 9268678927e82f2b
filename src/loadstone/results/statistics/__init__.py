"""The statistics of Loadstone: pure functions of figures, explained in ``docs/method.md``.

The unit is the trial. Nothing here reads a file or a clock; random numbers come from a generator
or a seed that the caller gives. Figures are plain numbers of any one unit, above 0 where they are
compared.
"""

from loadstone.results.statistics.compare import (
    Comparison,
    IntervalKind,
    Method,
    Verdict,
    compare,
    holm,
    judge,
)
from loadstone.results.statistics.drift import Drift, ProbeShift, drift, usual
from loadstone.results.statistics.permutation import least_alpha, least_p, repeats_needed
from loadstone.results.statistics.power import (
    least_detectable_difference,
    pooled_spread,
    power_of,
    repeats_for,
)
from loadstone.results.statistics.sequential import Decision, SequentialPlan, Spending
from loadstone.results.statistics.steady import SteadyState, steady_state
from loadstone.results.statistics.summary import Summary, outliers, summarize

__all__ = [
    "Comparison",
    "Decision",
    "Drift",
    "IntervalKind",
    "Method",
    "ProbeShift",
    "SequentialPlan",
    "Spending",
    "SteadyState",
    "Summary",
    "Verdict",
    "compare",
    "drift",
    "holm",
    "judge",
    "least_alpha",
    "least_detectable_difference",
    "least_p",
    "outliers",
    "pooled_spread",
    "power_of",
    "repeats_for",
    "repeats_needed",
    "steady_state",
    "summarize",
    "usual",
]
