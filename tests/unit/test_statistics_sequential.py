"""The sequential rule: it keeps its error rate, stops early, and cannot be talked into anything."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from loadstone.results.statistics import Decision, SequentialPlan, Spending, Verdict


def run(plan: SequentialPlan, rng: np.random.Generator, effect: float, spread: float) -> Decision:
    """Take trials look by look until the plan says stop."""
    a = list(100 * np.exp(rng.normal(0, spread, plan.maximum)))
    b = list(100 * (1 + effect) * np.exp(rng.normal(0, spread, plan.maximum)))
    for look in plan.looks:
        decision = plan.decide(a[:look], b[:look], higher_is_better=True)
        if decision.verdict is not None:
            return decision
    raise AssertionError("a plan must end at its maximum")


@pytest.mark.parametrize("spending", list(Spending))
def test_the_error_rate_holds_over_all_looks(spending: Spending) -> None:
    rng = np.random.default_rng(41)
    claims = 0
    for i in range(600):
        plan = SequentialPlan((4, 6, 8, 10), seed=i, spending=spending, samples=999)
        claims += run(plan, rng, 0.0, 0.02).verdict is not Verdict.NO_DETECTABLE_CHANGE
    assert 12 <= claims <= 45


def test_a_planted_slowdown_of_five_percent_is_found_before_the_maximum() -> None:
    rng = np.random.default_rng(42)
    decisions = [
        run(SequentialPlan((5, 8, 12), seed=i, samples=1999), rng, -0.05, 0.02) for i in range(200)
    ]
    found = [d for d in decisions if d.verdict is Verdict.WORSE]
    assert len(found) >= 190
    assert np.mean([d.trials for d in found]) < 8
    assert all(d.p_value is not None and d.p_value <= 0.05 for d in found)


def test_before_the_first_look_nothing_is_said() -> None:
    plan = SequentialPlan((5, 8))
    decision = plan.decide([1.0] * 4, [9.0] * 7, higher_is_better=True)
    assert decision == Decision(None, 0, 5, None, None, 0.0)


def test_between_looks_the_answer_is_that_of_the_last_look() -> None:
    plan = SequentialPlan((5, 8))
    a = [100.0, 101.0, 99.0, 100.5, 99.5, 90.0, 91.0]
    b = [100.2, 99.1, 101.2, 100.1, 99.7, 200.0, 210.0]
    at_five = plan.decide(a[:5], b[:5], higher_is_better=True)
    assert at_five == plan.decide(a, b, higher_is_better=True)
    assert (at_five.verdict, at_five.next_look, at_five.p_value) == (None, 8, None)


def test_a_decision_stands_whatever_comes_after_it() -> None:
    plan = SequentialPlan((5, 8))
    a, b = [100.0, 101.0, 99.0, 100.5, 99.5], [80.0, 81.0, 79.0, 80.5, 79.5]
    first = plan.decide(a, b, higher_is_better=True)
    assert (first.verdict, first.trials) == (Verdict.WORSE, 5)
    assert plan.decide([*a, 1.0, 1.0, 1.0], [*b, 9.0, 9.0, 9.0], higher_is_better=True) == first


def test_equal_values_end_without_a_claim() -> None:
    decision = SequentialPlan((4, 6)).decide([5.0] * 6, [5.0] * 6, higher_is_better=True)
    assert decision.verdict is Verdict.NO_DETECTABLE_CHANGE
    assert decision.p_value == 1.0


def test_one_look_is_the_plain_permutation_test() -> None:
    rng = np.random.default_rng(8)
    a, b = np.exp(rng.normal(0, 0.05, 6)), np.exp(rng.normal(0.05, 0.05, 6))
    decision = SequentialPlan((6,), samples=99_999).decide(list(a), list(b), higher_is_better=True)
    exact = stats.permutation_test(
        (np.log(b), np.log(a)), lambda x, y: x.mean() - y.mean(), n_resamples=np.inf
    ).pvalue
    assert decision.p_value == pytest.approx(exact, abs=0.005)
    assert decision.ratio == pytest.approx(float(np.exp(np.log(b).mean() - np.log(a).mean())))


@pytest.mark.parametrize(
    ("looks", "alpha", "what"),
    [
        ((), 0.05, "ascending"),
        ((5, 5), 0.05, "ascending"),
        ((0, 4), 0.05, "ascending"),
        ((3,), 0.05, "take more trials"),
        ((5,), 0.0, "alpha"),
        ((5,), 0.001, "alpha"),
    ],
)
def test_a_plan_that_cannot_work_is_refused(
    looks: tuple[int, ...], alpha: float, what: str
) -> None:
    with pytest.raises(ValueError, match=what):
        SequentialPlan(looks, alpha=alpha)


def test_spending_functions_against_the_literature() -> None:
    """At half of the trials: 2 - 2 Phi(1.95996 / sqrt 0.5) and alpha ln(1 + (e - 1) / 2)."""
    assert Spending.OBRIEN_FLEMING.spent(0.5, 0.05) == pytest.approx(0.00557, abs=1e-5)
    assert Spending.POCOCK.spent(0.5, 0.05) == pytest.approx(0.05 * np.log(1 + (np.e - 1) / 2))


@given(st.sampled_from(list(Spending)), st.floats(0.01, 1.0), st.floats(0.01, 1.0))
@example(Spending.OBRIEN_FLEMING, 1.0, np.nextafter(1.0, 0.0))
def test_spending_rises_to_alpha(spending: Spending, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0.0 <= spending.spent(low, 0.05) <= spending.spent(high, 0.05) <= 0.05
    assert spending.spent(1.0, 0.05) == 0.05
