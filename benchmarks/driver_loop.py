"""The driver's loop alone: closed throughput, schedule lag at a rate, memory of idle users."""

from __future__ import annotations

from benchmarks.driving import closed, cpu_us_per_operation, drive, plan
from benchmarks.table import Aim, Report, median, spread

ROUNDS = 3
NOOP = {"name": "noop"}
RATE_PER_S = 50_000
IDLE_USERS = 10_000


def measure() -> Report:
    """Runs all three, `ROUNDS` times each."""
    rates = []
    for seed in range(ROUNDS):
        load = drive(plan(NOOP, closed(8), seed=seed)).measured()
        # Operations a second of one core: the thread is never idle, but the machine may be shared.
        rates.append(1e6 / cpu_us_per_operation(load))
    lags = [_lag_ms(seed) for seed in range(ROUNDS)]
    kilobytes = [_bytes_per_user() / 1024 for _ in range(ROUNDS)]
    return Report(
        title="The driver's own loop",
        how="Workload `noop` with a service time of 0, one worker thread, full histograms; "
        f"{ROUNDS} rounds, median and range. Memory is the growth of the resident set over a "
        f"driver with one user, with {IDLE_USERS:,} users whose think time has a mean of 10 s.",
        header=("measurement", "median (range)"),
        rows=(
            (
                "closed, 8 users: million operations per second of CPU",
                spread([rate / 1e6 for rate in rates]),
            ),
            (f"open, {RATE_PER_S:,}/s Poisson: p99.9 of schedule lag, ms", spread(lags)),
            ("memory of an idle user, kB", spread(kilobytes)),
        ),
        aims=(
            Aim("closed operations", median(rates), "/s a core", ">= 1e6", median(rates) >= 1e6),
            Aim("p99.9 schedule lag", median(lags), "ms", "< 1 ms", median(lags) < 1.0),
            Aim("an idle user", median(kilobytes), "kB", "<= 8 kB", median(kilobytes) <= 8.0),
        ),
    )


def _lag_ms(seed: int) -> float:
    load = {
        "model": "open",
        "rate_per_s": {"from": RATE_PER_S, "to": RATE_PER_S},
        "arrival": "poisson",
        "sessions": 64,
        "queue": 100_000,
    }
    health = drive(plan(NOOP, load, seed=seed)).health()
    assert health is not None and health.lag_p999_s is not None
    return health.lag_p999_s * 1e3


def _bytes_per_user() -> float:
    pacing = {
        "default": {
            "keying_s": 0.0,
            "think": {"distribution": "negative-exponential", "mean_s": 10.0, "cap": 10.0},
        }
    }
    one, many = (
        drive(plan(NOOP, closed(users), pacing=pacing)).overall().max_rss_bytes
        for users in (1, IDLE_USERS)
    )
    return (many - one) / (IDLE_USERS - 1)
