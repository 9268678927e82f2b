"""The recorded experiments, and the rule about which trials count: by the half it was not made by.

`python -m benchmarks.noise.record` made the store; docs/benchmarks.md has the tables.
"""

from __future__ import annotations

import pytest

from benchmarks.noise.limits import slopes
from benchmarks.noise.rules import Piece, pieces
from benchmarks.noise.store import Session, sessions
from benchmarks.noise.tables import BLOCKS, Tally, tally

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def recorded() -> list[Session]:
    return [each for each in sessions() if each.seed == 2]


@pytest.fixture(scope="module")
def idle(recorded: list[Session]) -> list[Piece]:
    return list(pieces([each for each in recorded if not each.noise], BLOCKS))


@pytest.fixture(scope="module")
def noisy(recorded: list[Session]) -> list[Piece]:
    return list(pieces([each for each in recorded if each.noise], BLOCKS))


def share(found: Tally, what: str) -> float:
    count = getattr(found, what)
    return float(count.hits / count.of)


def test_an_idle_machine_loses_hardly_a_trial(idle: list[Piece]) -> None:
    assert share(tally(idle, "new"), "left_out") <= 0.05
    assert share(tally(idle, "today"), "left_out") > 0.3


def test_false_claims_stay_below_their_level(idle: list[Piece], noisy: list[Piece]) -> None:
    found = tally([*idle, *noisy], "new")
    assert share(found, "false") <= 0.07


def test_planted_changes_are_found(idle: list[Piece], noisy: list[Piece]) -> None:
    noop = [each for each in idle if each.session.kind == "noop closed"]
    assert tally(noop, "new").found[2.0].hits >= 0.9 * tally(noop, "new").found[2.0].of
    now, before = tally(noisy, "new"), tally(noisy, "today")
    for percent in (2.0, 5.0, 10.0):
        assert now.found[percent].hits >= 2 * before.found[percent].hits


def test_what_was_stolen_explains_the_figures(recorded: list[Session]) -> None:
    (noop,) = [each for each in recorded if each.kind == "noop closed" and not each.noise]
    (found,) = [each for each in slopes(noop) if each.cause == "steal"]
    assert found.slope < 0
    assert found.t < -3
