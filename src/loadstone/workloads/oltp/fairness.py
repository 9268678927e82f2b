"""Whether the load was the one that was asked for: mix, rollbacks and the pace of terminals.

These are tests of significance on counts. Their level is so small that a right driver fails one of
them in about a million trials; a wrong weight or a lost kind of operation fails at once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping

from loadstone.results.record import CheckResult
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.measured import Measured
from loadstone.workloads.oltp.parameters import NEW_ORDER, OrderEntryParameters

MIX = CheckSpec(
    "mix is as asked",
    "chi-square of the transactions against the weights, from 30 expected of the rarest; "
    "transactions begun and not counted yet are allowed for",
    source="TPC-C 5.11, clause 5.2.4",
)
ROLLBACKS = CheckSpec(
    "rollbacks are as specified",
    "binomial, 1 % of the new-orders, from 1,000",
    source="TPC-C 5.11, clause 2.4.1.4",
)
PACE = CheckSpec(
    "pace is possible",
    "with the specified waits: Poisson, new-orders against the most that the waits allow",
    source="TPC-C 5.11, clause 5.2.5",
)
CHECKS = (MIX, ROLLBACKS, PACE)
ALPHA = 1e-6
"""Level of each test."""

LEAST_EXPECTED = 30
"""Expected count of the rarest transaction from which chi-square's far tail can be trusted."""

LEAST_NEW_ORDERS = 1000
"""New-orders from which the share of rollbacks is tested."""

ROLLBACK_SHARE = 0.01
"""Of new-orders that name an unused item (clause 2.4.1.4)."""


def check_mix(parameters: OrderEntryParameters, measured: Measured) -> CheckResult:
    """The transactions were drawn with the weights that were asked for.

    Pearson's chi-square. Up to one drawn transaction per user is not counted yet at the end, and
    slow ones more often than quick ones; one that failed is not counted either. As many are first
    laid where the counts fall short.
    """
    counts, shares = measured.total_operations, parameters.shares()
    strangers = {name for name, count in counts.items() if count and not shares.get(name)}
    total, slack = sum(counts.values()), measured.users + measured.total_errors
    asked = {name: share for name, share in shares.items() if share}
    enough = total * min(asked.values()) >= LEAST_EXPECTED
    p_value = _p_of_mix(counts, asked, slack) if enough and not strangers else 1.0
    found = ", ".join(f"{name} {counts.get(name, 0) / max(total, 1):.2%}" for name in asked)
    wanted = ", ".join(f"{share:.2%}" for share in asked.values())
    verdict = f"p = {p_value:.2g}" if enough else "too few to judge"
    if strangers:
        verdict = f"not asked for: {', '.join(sorted(strangers))}"
    return MIX.of(
        passed=not strangers and p_value >= ALPHA,
        detail=f"{total:,} transactions: {found} (asked: {wanted}); {verdict}",
    )


def _p_of_mix(counts: Mapping[str, int], shares: Mapping[str, float], slack: int) -> float:
    """The greatest p-value that any spread of the transactions not counted could give."""
    from scipy.special import chdtrc  # takes a while: only when a trial is checked

    if len(shares) < 2:
        return 1.0
    observed = _filled(counts, shares, slack)
    whole = sum(observed.values())
    statistic = sum(
        (observed[name] - share * whole) ** 2 / (share * whole) for name, share in shares.items()
    )
    return float(chdtrc(len(shares) - 1, statistic))


def _filled(counts: Mapping[str, int], shares: Mapping[str, float], slack: int) -> dict[str, float]:
    """The counts with up to `slack` more where they fall shortest, as water fills a vessel.

    The level is a total: each transaction is raised to its share of the total, so that `slack` is
    used up, or so that the transaction which is ahead of all others has just its share.
    """

    def raised(level: float) -> dict[str, float]:
        return {name: max(counts.get(name, 0), share * level) for name, share in shares.items()}

    found = sum(counts.values())
    low, high = 0.0, max(counts.get(name, 0) / share for name, share in shares.items())
    if sum(raised(high).values()) - found <= slack:
        return raised(high)
    for _ in range(60):
        middle = (low + high) / 2
        if sum(raised(middle).values()) - found <= slack:
            low = middle
        else:
            high = middle
    return raised(low)


def check_rollbacks(measured: Measured) -> CheckResult:
    """About 1 % of the new-orders were rolled back: binomial, two-sided.

    New-orders in doubt may have been of either kind, so the test allows for both.
    """
    from scipy.special import bdtr, bdtrc  # takes a while: only when a trial is checked

    orders = measured.total_operations.get(NEW_ORDER, 0)
    rolled_back = measured.total_rolled_back.get(NEW_ORDER, 0)
    in_doubt = orders + measured.total_errors
    least = _first(lambda many: bdtr(many, orders, ROLLBACK_SHARE) >= ALPHA / 2, orders)
    most = _first(lambda many: bdtrc(many, in_doubt, ROLLBACK_SHARE) <= ALPHA / 2, in_doubt)
    least -= measured.total_errors
    enough = orders >= LEAST_NEW_ORDERS
    others = sum(measured.total_rolled_back.values()) - rolled_back
    bounds = f"allowed: {max(least, 0):,} to {most:,}" if enough else "too few to judge"
    return ROLLBACKS.of(
        passed=not others and (not enough or least <= rolled_back <= most),
        detail=f"{rolled_back:,} of {orders:,} new-orders rolled back ({bounds}), "
        f"{others:,} other transactions",
    )


def check_pace(parameters: OrderEntryParameters, measured: Measured) -> CheckResult | None:
    """Terminals with the specified waits made no more new-orders than the waits allow.

    Returns:
        None if the users did not keep the specified waits.
    """
    from scipy.special import pdtrc  # takes a while: only when a trial is checked

    if not measured.specified_waits or not measured.users or not parameters.mix[NEW_ORDER]:
        return None
    made = measured.operations.get(NEW_ORDER, 0)
    per_min = parameters.most_new_orders_per_min(measured.users)
    expected = per_min * measured.duration_s / 60
    far = 2 * int(expected) + 100
    most = measured.users + _first(lambda many: pdtrc(many, expected) <= ALPHA, far)
    return PACE.of(
        passed=made <= most,
        detail=f"{made:,} new-orders by {measured.users:,} terminals in "
        f"{measured.duration_s:.0f} s (their waits allow {expected:,.0f}, "
        f"with chance {most:,.0f} at most)",
    )


def _first(holds: Callable[[int], object], last: int) -> int:
    """The first count up to `last` for which something holds, as it does for all after it."""
    return bisect_left(range(last), True, key=lambda many: bool(holds(many)))
