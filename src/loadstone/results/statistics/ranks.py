"""How well the order of places by one figure agrees with their order by another.

Kendall's tau-b: pairs of places that both figures put in the same order, less those that they put
in the other, over all pairs (Kendall 1938, Biometrika 30:81; tau-b 1945, Biometrika 33:239). Its
exact p-value is the share of all orders of the places that agree, or disagree, at least as well.
Few places have few orders: with four, the smallest two-sided p is 2 / 24.

Two things are uncertain, and told apart. The p-value is about the places: would others show it?
The interval is about the measurement: blocks are drawn anew, with replacement, for both figures
at the same time (Efron & Tibshirani 1993, An Introduction to the Bootstrap, ch. 13).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from loadstone.results.statistics.summary import median_of
from loadstone.results.statistics.verdicts import holm

FEWEST_PLACES = 3
"""Two places have an order by chance half of the time, and no more is to be learned of them."""
FEWEST_BLOCKS = 5
"""Fewer, drawn anew, are too often the same block again: as few show no other difference either."""
RESAMPLES = 1000
_ALL_ORDERS = 5
"""Of so many places with ties all orders are looked at; of more `RESAMPLES` are drawn."""

Vector = NDArray[np.float64]
Figures = Mapping[str, Mapping[int, float]]
"""Place: block: the figure; higher is better."""


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """How one figure's order of the places agrees with the order that is to be predicted.

    Attributes:
        tau: Of the medians; 1: the same order, -1: the reverse. None: one of them has no order,
            because all places are equal in it.
        p_value: Exact and two-sided.
        adjusted_p: By Holm, over all predictors.
        interval: Of tau, over blocks drawn anew; None with fewer than `FEWEST_BLOCKS`.
        by_block: Tau of each block that has all places, in order of the blocks.
        behind: The leader's tau is shown to be larger than this one.
    """

    tau: float | None
    p_value: float | None
    adjusted_p: float | None
    interval: tuple[float, float] | None
    by_block: tuple[float, ...]
    behind: bool = False


@dataclass(frozen=True, slots=True)
class Prediction:
    """What predicts the order of places best, if that can be told.

    Attributes:
        places: Compared, in the order given.
        agreements: By predictor.
        leader: The predictor with the largest tau; None if none has one.
        shown: The leader's agreement is no chance, after Holm's correction.
        apart: It is shown to be larger than that of each other predictor.
    """

    places: tuple[str, ...]
    agreements: dict[str, RankAgreement]
    leader: str | None
    shown: bool
    apart: bool


def fewest_places(predictors: int, alpha: float) -> int:
    """How many places can show that one of so many predictors agrees, if it does perfectly."""
    return next(n for n in count(FEWEST_PLACES) if predictors * least_p(n) <= alpha)


def least_p(places: int) -> float:
    """The smallest two-sided p-value that so many places allow: of one order and its reverse."""
    return 2.0 / math.factorial(places)


def predict(
    target: Figures,
    predictors: Mapping[str, Figures],
    *,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
    resamples: int = RESAMPLES,
) -> Prediction:
    """Which predictor's order of the places agrees best with that of the target.

    A place that the target, or any predictor, has no figure of is left out for all.

    Args:
        target: What is to be predicted.
        predictors: By name; one at least.
        confidence: Of intervals and of what is called shown.
        rng: Generator or seed.
        resamples: Number of bootstrap samples.

    Raises:
        ValueError: Fewer than `FEWEST_PLACES` places have all figures.
    """
    every = [target, *predictors.values()]
    places = tuple(place for place in target if all(each.get(place) for each in every))
    if len(places) < FEWEST_PLACES:
        raise ValueError(
            f"{len(places)} places have figures of all: {FEWEST_PLACES} at least have ranks that "
            "can agree"
        )
    generator = np.random.default_rng(rng)
    whole, drawn = _medians(places, every, generator, resamples)
    taus = {name: _taus(drawn[0], again) for name, again in zip(predictors, drawn[1:], strict=True)}
    found = {
        name: _agreement(whole[0], own, taus[name], confidence, generator)
        for name, own in zip(predictors, whole[1:], strict=True)
    }
    found = {
        name: replace(each, by_block=_by_block(places, target, predictors[name]))
        for name, each in _corrected(found).items()
    }
    return _judged(places, found, taus, confidence)


def _corrected(found: Mapping[str, RankAgreement]) -> dict[str, RankAgreement]:
    told = {name: each.p_value for name, each in found.items() if each.p_value is not None}
    adjusted = dict(zip(told, holm(list(told.values())), strict=True))
    return {name: replace(each, adjusted_p=adjusted.get(name)) for name, each in found.items()}


def _judged(
    places: tuple[str, ...],
    found: dict[str, RankAgreement],
    taus: Mapping[str, Vector],
    confidence: float,
) -> Prediction:
    """The leader is seen from the figures: it is held against each other at its share of alpha."""
    ordered = {name: each.tau for name, each in found.items() if each.tau is not None}
    if not ordered:
        return Prediction(places, found, None, shown=False, apart=False)
    leader = max(ordered, key=lambda name: ordered[name])
    alpha = 1.0 - confidence
    p, others = found[leader].adjusted_p, [name for name in found if name != leader]
    share = alpha / max(1, len(others))
    for name in others:
        ahead = taus[leader] - taus[name]
        told = ahead[np.isfinite(ahead)]
        behind = bool(told.size) and float(np.quantile(told, share / 2.0)) > 0.0
        found[name] = replace(found[name], behind=behind)
    shown = p is not None and p <= alpha and ordered[leader] > 0.0
    apart = all(found[name].behind for name in others)
    return Prediction(places, found, leader, shown=shown, apart=apart)


def _medians(
    places: Sequence[str],
    every: Sequence[Figures],
    generator: np.random.Generator,
    resamples: int,
) -> tuple[list[Vector], list[Vector]]:
    """Medians of each figure at each place: of all blocks, and of blocks drawn anew.

    Returns:
        Shape (places,), and (samples, places), without samples where there are too few blocks.
    """
    whole = [np.array([median_of(list(own[each].values())) for each in places]) for own in every]
    blocks = sorted({block for own in every for each in places for block in own[each]})
    shared = [b for b in blocks if all(b in own[each] for own in every for each in places)]
    if len(shared) < FEWEST_BLOCKS:
        return whole, [np.empty((0, len(places)))] * len(every)
    picks = generator.integers(len(shared), size=(resamples, len(shared)))
    drawn = []
    for own in every:
        table = np.array([[own[each][block] for each in places] for block in shared])
        drawn.append(np.median(table[picks], axis=1))
    return whole, drawn


def _agreement(
    target: Vector,
    own: Vector,
    drawn: Vector,
    confidence: float,
    generator: np.random.Generator,
) -> RankAgreement:
    tau = _tau(target, own)
    if tau is None:
        return RankAgreement(None, None, None, None, ())
    taus = drawn[np.isfinite(drawn)]
    tails = [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0]
    low, high = np.quantile(taus, tails) if taus.size else (0.0, 0.0)
    span = (float(low), float(high)) if taus.size else None
    return RankAgreement(tau, _p_value(target, own, generator), None, span, ())


def _by_block(places: Sequence[str], target: Figures, own: Figures) -> tuple[float, ...]:
    blocks = sorted({block for each in places for block in target[each]})
    whole = [b for b in blocks if all(b in t[each] for t in (target, own) for each in places)]
    taus = [
        _tau(np.array([target[p][b] for p in places]), np.array([own[p][b] for p in places]))
        for b in whole
    ]
    return tuple(tau for tau in taus if tau is not None)


def _taus(first: Vector, second: Vector) -> Vector:
    """Tau of each row of the two; NaN where one has no order."""
    pairs = [_tau(*rows) for rows in zip(first, second, strict=True)]
    return np.array([math.nan if tau is None else tau for tau in pairs])


def _tau(first: Vector, second: Vector) -> float | None:
    """None: all places are equal in one of the two."""
    one, other = (np.sign(each[:, None] - each[None, :]) for each in (first, second))
    scale = math.sqrt(float((one**2).sum()) * float((other**2).sum()))
    return float((one * other).sum()) / scale if scale else None


def _p_value(first: Vector, second: Vector, generator: np.random.Generator) -> float:
    from scipy.stats import kendalltau, permutation_test

    if all(np.unique(each).size == each.size for each in (first, second)):
        return float(kendalltau(first, second, method="exact").pvalue)
    orders = math.factorial(first.size) if first.size <= _ALL_ORDERS else RESAMPLES - 1
    found = permutation_test(
        (first,),
        lambda dealt: kendalltau(dealt, second).statistic,
        permutation_type="pairings",
        n_resamples=orders,
        rng=generator,
    )
    return float(found.pvalue)
