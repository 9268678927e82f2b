"""How often are the verdicts right? A/A comparisons and planted slowdowns, simulated and real.

    python -m benchmarks verdicts            # asked of the real driver
    python -m benchmarks.verdicts simulate   # error rate, power and coverage by calculation
    python -m benchmarks.verdicts driver     # the first, with options

`driver` runs trials of the `noop` workload: 20 A/A comparisons, then searches for a slowdown of 5 %
planted as a longer service time, by the sequential rule, and reports how many trials they took.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.driving import closed, drive, plan
from benchmarks.table import Aim, Report, median
from loadstone.results.statistics import (
    Decision,
    SequentialPlan,
    Verdict,
    compare,
    pooled_spread,
    power_of,
)

CLAIMS = (Verdict.BETTER, Verdict.WORSE)
SLOWDOWN_PERCENT = -5.0


@dataclass(frozen=True)
class FixedRow:
    """Fixed repeats: shares are of all simulated experiments."""

    test: str
    repeats: int
    spread_percent: float
    false_claims: float
    found: float
    found_in_theory: float
    covered: float


@dataclass(frozen=True)
class SequentialRow:
    """The sequential rule; trials are those of both levels together."""

    looks: tuple[int, ...]
    spread_percent: float
    false_claims: float
    found: float
    trials_mean: float
    trials_p95: float


def simulate_fixed(test: str, repeats: int, spread: float, runs: int, seed: int) -> FixedRow:
    rng = np.random.default_rng(seed)
    ratio = 1.0 + SLOWDOWN_PERCENT / 100.0
    false_claims = found = covered = 0
    for _ in range(runs):
        a, b = np.exp(rng.normal(0, spread, (2, repeats)))
        same = compare(list(a), list(b), higher_is_better=True, rng=rng, test=test)
        slower = compare(list(a), list(ratio * b), higher_is_better=True, rng=rng, test=test)
        false_claims += same.verdict in CLAIMS
        found += slower.verdict is Verdict.WORSE
        if slower.low is not None and slower.high is not None:
            covered += slower.low <= ratio <= slower.high
    theory = power_of(SLOWDOWN_PERCENT, spread, repeats, repeats, 0.05)
    return FixedRow(
        test, repeats, 100 * spread, false_claims / runs, found / runs, theory, covered / runs
    )


def simulate_sequential(
    looks: tuple[int, ...], spread: float, runs: int, seed: int
) -> SequentialRow:
    rng = np.random.default_rng(seed)
    ratio = 1.0 + SLOWDOWN_PERCENT / 100.0
    false_claims, found, trials = 0, 0, []
    for run in range(runs):
        plan = SequentialPlan(looks, seed=seed + run, samples=1999)
        draw = stream_of(rng, spread)
        false_claims += take_trials(plan, draw, draw).verdict in CLAIMS
        decision = take_trials(plan, draw, lambda: ratio * draw())  # noqa: B023 - used at once
        found += decision.verdict is Verdict.WORSE
        trials.append(2 * decision.trials)
    return SequentialRow(
        looks,
        100 * spread,
        false_claims / runs,
        found / runs,
        float(np.mean(trials)),
        float(np.quantile(trials, 0.95)),
    )


def stream_of(rng: np.random.Generator, spread: float) -> Callable[[], float]:
    return lambda: float(np.exp(rng.normal(0, spread)))


def take_trials(
    plan: SequentialPlan, baseline: Callable[[], float], candidate: Callable[[], float]
) -> Decision:
    """Run blocks of two trials in random order until the plan decides."""
    order = np.random.default_rng([plan.seed, 1_000_003])
    a: list[float] = []
    b: list[float] = []
    while True:
        pairs = [(a, baseline), (b, candidate)]
        for position in order.permutation(2):
            values, trial = pairs[position]
            values.append(trial())
        decision = plan.decide(a, b, higher_is_better=True)
        if decision.verdict is not None:
            return decision


def noop_trial(service_time_us: float, measure_s: float, users: int, seed: int) -> float:
    """Operations per second of one trial of the real driver."""
    workload = {"name": "noop", "parameters": {"service_time_us": service_time_us}}
    load = drive(
        plan(workload, closed(users), measure_s=measure_s, warm_up_s=0.2, seed=seed)
    ).measured()
    return load.count / load.duration_s


def real_trials(options: argparse.Namespace) -> dict[str, Any]:
    seeds: Iterator[int] = iter(range(options.seed, options.seed + 1_000_000))
    normal_us = options.service_time_us
    slow_us = normal_us / (1.0 + SLOWDOWN_PERCENT / 100.0)

    def trial(service_time_us: float) -> Callable[[], float]:
        return lambda: noop_trial(service_time_us, options.measure_s, options.users, next(seeds))

    verdicts: Counter[str] = Counter()
    spreads = []
    for number in range(options.comparisons):
        a: list[float] = []
        b: list[float] = []
        order = np.random.default_rng([options.seed, number])
        for _ in range(options.repeats):
            for position in order.permutation(2):
                (a, b)[position].append(trial(normal_us)())
        verdicts[compare(a, b, higher_is_better=True, rng=number).verdict.value] += 1
        spreads.append(pooled_spread(a, b) or 0.0)
        print(f"A/A {number + 1}: {dict(verdicts)}", file=sys.stderr)
    decisions = [
        take_trials(
            SequentialPlan(tuple(options.looks), seed=options.seed + number),
            trial(normal_us),
            trial(slow_us),
        )
        for number in range(options.searches)
    ]
    return {
        "spread_percent": 100.0 * float(np.median(spreads)),
        "same_setting_twice": dict(verdicts),
        "planted_slowdown_percent": SLOWDOWN_PERCENT,
        "searches": [
            {
                "verdict": decision.verdict,
                "effect_percent": 100.0 * ((decision.ratio or 1.0) - 1.0),
                "p_value": decision.p_value,
                "trials": 2 * decision.trials,
            }
            for decision in decisions
        ],
    }


def simulations(options: argparse.Namespace) -> dict[str, Any]:
    runs = options.runs
    seeds = iter(range(1000 * options.seed, 1000 * options.seed + 1000))
    return {
        "fixed": [
            asdict(simulate_fixed(test, repeats, spread, runs, next(seeds)))
            for test in ("permutation", "rank")
            for spread in (0.01, 0.02, 0.04)
            for repeats in (4, 5, 6, 8)
        ],
        "sequential": [
            asdict(simulate_sequential(looks, spread, runs, next(seeds)))
            for looks in ((5, 8, 12), (6, 9, 12, 16))
            for spread in (0.01, 0.02, 0.03)
        ],
    }


def table(rows: list[dict[str, Any]]) -> str:
    def text(value: object) -> str:
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    cells = [list(rows[0]), *([text(value) for value in row.values()] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    )


def options_of(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    parser.add_argument("--seed", type=int, default=1)
    kinds = parser.add_subparsers(dest="kind", required=True)
    simulate = kinds.add_parser("simulate")
    simulate.add_argument("--runs", type=int, default=400, help="experiments for each line")
    driver = kinds.add_parser("driver")
    driver.add_argument("--comparisons", type=int, default=20, help="A/A comparisons")
    driver.add_argument("--repeats", type=int, default=5, help="trials per level of each")
    driver.add_argument("--searches", type=int, default=5, help="planted slowdowns")
    driver.add_argument("--looks", type=int, nargs="+", default=[5, 8, 12])
    driver.add_argument("--measure-s", type=float, default=0.5)
    driver.add_argument("--service-time-us", type=float, default=2000.0)
    driver.add_argument("--users", type=int, default=4)
    return parser.parse_args(arguments)


def measure() -> Report:
    """Asks the real driver, with the default options."""
    options = options_of(["driver"])
    answer = real_trials(options)
    verdicts, searches = answer["same_setting_twice"], answer["searches"]
    claims = sum(verdicts.get(verdict.value, 0) for verdict in CLAIMS)
    found = sum(search["verdict"] is Verdict.WORSE for search in searches)
    trials = [search["trials"] for search in searches]
    effects = ", ".join(f"{search['effect_percent']:+.1f} %" for search in searches)
    return Report(
        title="How often the verdicts are right",
        how=f"Workload `noop`, {options.users} users, service time {options.service_time_us:g} us, "
        f"trials of {options.measure_s:g} s in random blocks; spread between trials "
        f"{answer['spread_percent']:.2g} %. A/A: {options.repeats} trials a level. The slowdown of "
        f"5 % is a longer service time, looked for by the sequential rule with looks at "
        f"{', '.join(map(str, options.looks))} trials a level.",
        header=("experiment", "outcome"),
        rows=(
            (
                f"the same setting twice, {options.comparisons} times",
                f"{claims} differences claimed",
            ),
            (f"5 % slower, {len(searches)} times", f"found {found} times: {effects}"),
            ("trials until it was found, both levels", ", ".join(map(str, trials))),
        ),
        aims=(
            Aim("false claims", claims, f"of {options.comparisons}", "<= 2", claims <= 2),
            Aim("slowdowns found", found, f"of {len(searches)}", "all", found == len(searches)),
            Aim("trials it took", median(trials), "in all", "reported", True),
        ),
    )


def main(arguments: list[str]) -> int:
    options = options_of(arguments)
    answer = simulations(options) if options.kind == "simulate" else real_trials(options)
    if options.json:
        print(json.dumps(answer, indent=2))
        return 0
    for name, part in answer.items():
        rows = isinstance(part, list) and part
        print(f"{name}:\n{table(part)}\n" if rows else f"{name}: {part}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
