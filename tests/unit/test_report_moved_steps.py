"""Which steps of a comparison moved, in sentences."""

from math import exp

from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.steps import moved_steps
from loadstone.workloads.base import StepInfo

STEPS = [StepInfo(name, name.title(), f"{name}_s", "steps") for name in ("reset", "load", "sum")]


def comparison(
    metric: str,
    verdict: str,
    ratio: float,
    pair: tuple[str, str] = ("two", "one"),
    role: str = "pair",
) -> ComparisonReport:
    return ComparisonReport(
        metric=metric,
        candidate=pair[0],
        baseline=pair[1],
        role=role,
        ratio=ratio,
        low=None,
        high=None,
        interval_confidence=0.95,
        effect_percent=100 * (ratio - 1),
        p_value=0.01,
        p_adjusted=0.01,
        p_by_signs=None,
        test="paired t",
        freedom=5,
        n_baseline=6,
        n_candidate=6,
        least_detectable_percent=None,
        least_detectable_range=None,
        verdict=verdict,
    )


def test_steps_are_told_by_direction_and_the_furthest_first():
    compared = [
        comparison("reset_s", "better", 0.9),
        comparison("load_s", "better", 0.5),
        comparison("sum_s", "worse", 2.0),
    ]
    assert list(moved_steps(compared, STEPS)) == [
        '"two" is faster than "one" in 2 of 3 steps: load -50 %, reset -10 %.',
        '"two" is slower than "one" in 1 of 3 steps: sum +100 %.',
    ]


def test_nothing_is_told_of_steps_that_did_not_move():
    unmoved = [comparison("load_s", "no detectable change", 0.9)]
    assert list(moved_steps(unmoved, STEPS)) == []


def test_the_first_rung_of_a_ladder_is_told_of_once():
    compared = [
        comparison("load_s", "better", 0.5, ("first", "base"), "previous"),
        comparison("load_s", "better", 0.5, ("second", "first"), "previous"),
        comparison("load_s", "better", 0.5, ("first", "base"), "baseline"),
        comparison("load_s", "better", 0.25, ("second", "base"), "baseline"),
    ]
    assert [sentence.split(" in ")[0] for sentence in moved_steps(compared, STEPS)] == [
        '"first" is faster than "base"',
        '"second" is faster than "first"',
        '"second" is faster than "base"',
    ]


def test_of_many_steps_the_furthest_are_named():
    steps = [StepInfo(f"q{number}", "", f"q{number}_s", "queries") for number in range(1, 9)]
    compared = [comparison(f"q{n}_s", "better", exp(-n / 10)) for n in range(1, 9)]
    (sentence,) = moved_steps(compared, steps)
    assert sentence.startswith('"two" is faster than "one" in 8 of 8 steps: q8 ')
    assert sentence.endswith(", 2 more.")
