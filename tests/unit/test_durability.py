"""The verdict over crashes, and how the driver's notes are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import DriverError
from loadstone.load.acknowledgements import read_acknowledgements
from loadstone.results.durability import GRAVITY, crash_notices, upper_bound, verdict
from loadstone.results.record import DurabilityRecord
from loadstone.workloads.durability import Acknowledgement


def crash(**fields: object) -> DurabilityRecord:
    given_one = {
        "failure": "power-loss",
        "crashed_at_s": 5.0,
        "acknowledged": 1000,
        "recovery_s": 0.5,
        **fields,
    }
    return DurabilityRecord.model_validate(given_one)


SURVIVED = crash()
LOST = crash(lost=12, lost_span_s=0.25)
LOST_MORE = crash(lost=431, lost_span_s=0.587)
CORRUPT = crash(conditions_failed=["consistency 3.3.2.1"])
UNREADABLE = crash(problem="the data cannot be read: invalid page")
DEAD = crash(recovery_s=None, problem="PANIC")


@pytest.mark.parametrize(
    ("records", "outcome", "text"),
    [
        ([SURVIVED] * 10, "survived", "survived 10 of 10 power losses"),
        ([crash(failure="kill")], "survived", "survived 1 of 1 kill"),
        (
            [SURVIVED, LOST, LOST_MORE],
            "lost commits",
            "lost up to 431 acknowledged commits (up to 587 ms before the failure) "
            "in 2 of 3 power losses",
        ),
        (
            [CORRUPT, LOST],
            "corrupt",
            "corrupt in 1 of 2 power losses: consistency 3.3.2.1; lost up to 12 acknowledged "
            "commits (up to 250 ms before the failure) in 1 of 2 power losses",
        ),
        ([DEAD, SURVIVED], "did not recover", "did not recover in 1 of 2 power losses"),
        (
            [UNREADABLE],
            "corrupt",
            "corrupt in 1 of 1 power loss: the data cannot be read: invalid page",
        ),
    ],
)
def test_the_verdict_in_words(records: list[DurabilityRecord], outcome: str, text: str):
    found = verdict(records)
    assert found is not None
    assert (found.outcome, found.text) == (outcome, text)
    assert (found.loss_probability_upper is not None) == (outcome == "survived")


def test_without_crashes_there_is_no_verdict():
    assert verdict([]) is None


@given(st.lists(st.sampled_from([SURVIVED, LOST, LOST_MORE, CORRUPT, DEAD]), min_size=1))
def test_the_gravest_outcome_decides_and_survivors_are_counted(records: list[DurabilityRecord]):
    found = verdict(records)
    assert found is not None
    assert GRAVITY.index(found.outcome) == max(GRAVITY.index(each.outcome) for each in records)
    assert found.survived == records.count(SURVIVED)
    assert found.most_lost == max(each.lost for each in records)


@given(st.integers(1, 10_000), st.floats(0.5, 0.999))
def test_the_bound_is_the_chance_that_would_just_let_all_survive(crashes: int, confidence: float):
    bound = upper_bound(crashes, confidence)
    assert (1 - bound) ** crashes == pytest.approx(1 - confidence)


@pytest.mark.parametrize("crashes", [30, 100, 1000])
def test_the_bound_is_the_rule_of_three_for_many(crashes: int):
    assert upper_bound(crashes, 0.95) == pytest.approx(3 / crashes, rel=0.06)


def test_a_loss_is_an_error_unless_the_settings_said_so():
    assert crash_notices(SURVIVED, []) == []
    (loud,) = crash_notices(LOST, [])
    (told,) = crash_notices(LOST, ["fsync=off"])
    assert (loud.severity, told.severity) == ("error", "warning")
    assert "fsync=off" in told.message


def test_a_crash_before_any_commit_shows_nothing():
    (notice,) = crash_notices(crash(acknowledged=0), [])
    assert notice.code == "nothing-acknowledged"
    assert notice.severity == "error"


# -- the driver's notes ------------------------------------------------------------------------

LINES = [
    [0.5, 3, "new-order", 1, 7, 3042],
    [0.6, 0, "payment", 1, 2, 1, 2, 1718, 250000],
    [0.7, 5, "delivery", 1, [[1, 2101], [2, 2103]]],
]


def test_notes_are_read_with_hashable_keys(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    order, _, delivery = read_acknowledgements(path)
    assert order == Acknowledgement(0.5, 3, "new-order", (1, 7, 3042))
    assert delivery.keys == (1, ((1, 2101), (2, 2103)))
    assert len({order, delivery}) == 2


def test_a_line_that_a_kill_cut_off_is_left_out(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    whole = "".join(json.dumps(line) + "\n" for line in LINES)
    for cut in range(1, len(json.dumps(LINES[-1])) + 1):
        path.write_text(whole[:-cut])
        assert len(read_acknowledgements(path)) == 2


def test_no_file_means_no_notes_and_nonsense_is_said(tmp_path: Path):
    assert read_acknowledgements(tmp_path / "none") == []
    path = tmp_path / "a.jsonl"
    path.write_text('{"what": 1}\n')
    with pytest.raises(DriverError, match=r"a\.jsonl:1: is no acknowledgement"):
        read_acknowledgements(path)
