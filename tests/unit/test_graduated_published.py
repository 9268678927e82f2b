"""The arithmetic of graduated load; `docs/power.md` works the published results by hand."""

from __future__ import annotations

import pytest

from loadstone.results.graduated import GraduatedLevel, GraduatedRecord, overall, proportionality

SERVER_A = (166, 179, 191, 200, 212, 224, 235, 245, 252, 259, 265)
SERVER_B = (220, 235, 249, 261, 273, 286, 298, 309, 319, 327, 334)
"""Watts at active idle, 10 % ... 100 %."""


def levels(watts: tuple[float, ...], peak_per_s: float) -> list[tuple[float, float]]:
    """Operations a second and watts of each level, with the throughput that was aimed at."""
    return [(peak_per_s * tenth / 10, each) for tenth, each in enumerate(watts)]


def record(watts: tuple[float, ...], peak_per_s: float) -> GraduatedRecord:
    return GraduatedRecord(
        form="full",
        over="rate",
        unit="operations/s",
        calibrated_per_s=peak_per_s,
        calibrated_by="given",
        levels=[
            GraduatedLevel(
                name=f"{tenth * 10} %" if tenth else "active idle",
                share=tenth / 10,
                target_per_s=peak_per_s * tenth / 10,
                due_per_s=peak_per_s * tenth / 10,
                achieved_per_s=peak_per_s * tenth / 10,
                watts=each,
                holds=True,
                from_s=300.0 * tenth,
                duration_s=240.0,
            )
            for tenth, each in enumerate(watts)
        ],
    )


@pytest.mark.parametrize(
    ("watts", "peak_per_s", "per_watt"),
    [(SERVER_A, 303_846, 688.28), (SERVER_B, 235_525, 416.39)],
)
def test_the_overall_figure_is_the_sum_of_rates_over_the_sum_of_watts(
    watts: tuple[float, ...], peak_per_s: float, per_watt: float
) -> None:
    assert overall(levels(watts, peak_per_s)) == pytest.approx(per_watt, abs=0.005)


def test_it_is_not_the_mean_of_the_figures_of_the_levels() -> None:
    own = [rate / watts for rate, watts in levels(SERVER_A, 303_846)]

    assert sum(own) / len(own) == pytest.approx(637, abs=0.5)


@pytest.mark.parametrize(
    ("watts", "idle_share", "proportional"),
    [(SERVER_A, 0.626, 0.330), (SERVER_B, 0.659, 0.303)],
)
def test_idle_share_and_proportionality_of_published_servers(
    watts: tuple[float, ...], idle_share: float, proportional: float
) -> None:
    found = record(watts, 300_000)

    assert (found.idle_watts, found.peak_watts) == (watts[0], watts[-1])
    assert found.idle_share == pytest.approx(idle_share, abs=0.0005)
    assert found.proportionality == pytest.approx(proportional, abs=0.0005)


@pytest.mark.parametrize(
    ("peak_per_s", "peak_watts", "idle_watts", "straight"),
    [(244_832, 226, 174, 612), (251_555, 294, 226, 484), (229_828, 296, 225, 441)],
)
def test_a_straight_line_between_idle_and_peak_is_too_kind(
    peak_per_s: float, peak_watts: float, idle_watts: float, straight: float
) -> None:
    """600, 478 and 437 were measured: power rises faster at low load than at high load."""
    line = tuple(idle_watts + (peak_watts - idle_watts) * tenth / 10 for tenth in range(11))

    assert overall(levels(line, peak_per_s)) == pytest.approx(straight, abs=0.5)
    shares = [(tenth / 10, each) for tenth, each in enumerate(line)]
    assert proportionality(shares) == pytest.approx(1 - idle_watts / peak_watts)


def test_the_idle_share_of_the_tuned_server_is_77_percent() -> None:
    line = tuple(174 + 5.2 * tenth for tenth in range(11))

    assert record(line, 244_832).idle_share == pytest.approx(0.77, abs=0.001)


def test_energy_per_operation_is_the_inverse_of_the_overall_figure_for_equal_levels() -> None:
    found = record(SERVER_A, 303_846)

    assert found.joules_per_operation == pytest.approx(1 / 688.28, rel=1e-4)
