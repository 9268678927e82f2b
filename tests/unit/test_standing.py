"""Which trials count, by what was taken from their measured time."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sample_results import compare
from sample_trials import result_of

from loadstone.experiments.designs import stages_of
from loadstone.results.record import LevelRecord, Notice, Status, TrialResult
from loadstone.results.standing import judged, standing
from loadstone.results.taken import KINDS, Cause, Taken

LIMIT = {cause: kind.limit for cause, kind in KINDS.items()}


def taken(cause: Cause, share: float) -> list[Taken]:
    return [Taken(cause=cause, share=share, evidence="somebody took it")]


def made(
    repeats: int, given: Mapping[int, list[Taken]], every: list[Taken] | None = None
) -> list[TrialResult]:
    """Blocks of two trials; of some, by their place from 0, something was taken."""
    return [
        result_of(plan, []).model_copy(update={"taken": given.get(place, every or [])})
        for place, plan in enumerate(stages_of(compare(repeats)).next([]))
    ]


@pytest.mark.parametrize("cause", KINDS)
def test_a_trial_counts_until_more_than_the_limit_is_taken(cause: Cause) -> None:
    for share, left_out in ((0.9 * LIMIT[cause], False), (1.1 * LIMIT[cause], True)):
        results = made(8, {3: taken(cause, share)})
        found = standing(results)
        assert found.left_out == ({results[3].trial} if left_out else frozenset())
        assert [each.status is Status.DISTURBED for each in judged(results)].count(True) == left_out


def test_what_is_taken_from_all_is_the_machine() -> None:
    results = made(6, {}, taken("processors", 0.3))
    found = standing(results)
    assert not found.marked
    assert [each.cause for each in found.usual] == ["processors"]


def test_what_is_taken_beyond_the_usual_counts() -> None:
    results = made(10, {4: taken("processors", 0.3 + 2 * LIMIT["processors"])},
                   taken("processors", 0.3))  # fmt: skip
    assert standing(results).left_out == {results[4].trial}


def test_a_block_is_left_out_as_a_whole() -> None:
    much = taken("disk", 0.6)
    results = made(8, {4: much, 5: much})
    assert standing(results).left_out == {results[4].trial, results[5].trial}


def test_those_that_are_made_in_its_place_are_a_block_of_their_own() -> None:
    much = taken("disk", 0.6)
    results = made(8, {4: much, 5: much})
    again = [
        results[at].model_copy(update={"trial": f"again-{at}", "order": 17 + at, "taken": []})
        for at in (4, 5)
    ]
    found = standing([*results, *again])
    assert set(found.marked) == {results[4].trial, results[5].trial}
    assert found.left_out == set(found.marked)


def test_the_rest_of_a_block_goes_with_the_half_that_was_disturbed() -> None:
    """Of five levels three are disturbed: the other two are compared with nothing sound."""
    results = []
    for block in range(1, 9):
        for place in range(5):
            share = 0.6 if block == 2 and place < 3 else 0.0
            (first, *_) = made(1, {0: taken("disk", share)})
            results.append(
                first.model_copy(
                    update={
                        "trial": f"b{block}-{place}",
                        "block": block,
                        "variant": f"v{place}",
                        "order": 5 * block + place,
                    }
                )
            )
    found = standing(results)
    assert found.left_out == {f"b2-{place}" for place in range(5)}
    assert found.marked["b2-4"] == ()


def test_where_many_are_marked_all_count() -> None:
    much = taken("steal", 0.5)
    results = made(10, {0: much, 5: much, 11: much})
    found = standing(results)
    assert len(found.marked) == 3
    assert not found.left_out
    assert found.all_count
    assert {each.status for each in judged(results)} == {Status.VALID}


@pytest.mark.parametrize("repeats", [1, 2, 3])
def test_of_few_blocks_none_is_left_out(repeats: int) -> None:
    assert standing(made(repeats, {0: taken("steal", 0.5)})).all_count


def test_while_trials_are_made_those_to_come_count_as_sound() -> None:
    results = made(1, {0: taken("steal", 0.5)})
    assert standing(results, planned=20).left_out == {results[0].trial}


def test_the_experiment_may_set_another_limit() -> None:
    results = made(8, {3: taken("steal", 0.5)})
    assert not standing(results, limit_percent=60.0).marked
    assert standing(made(8, {3: taken("steal", 0.01)}), limit_percent=0.5).left_out


def test_a_late_generator_is_no_fault_where_others_took_its_time() -> None:
    late = Notice(code="schedule-lag", severity="error", message="late")
    wrong = Notice(code="check-failed", severity="error", message="wrong")
    for notices, status in (([late], Status.DISTURBED), ([late, wrong], Status.INVALID)):
        results = made(8, {3: taken("processors", 0.5)})
        results[3] = results[3].model_copy(update={"status": Status.INVALID, "notices": notices})
        assert judged(results)[3].status is status
    results[3] = results[3].model_copy(update={"notices": [late], "taken": []})
    assert judged(results)[3].status is Status.INVALID


def level(*, holds: bool) -> LevelRecord:
    return LevelRecord(
        over="rate", unit="operations/s", level=100, kind="ascent", from_s=0, duration_s=10,
        holds=holds, achieved_per_s=100, windows=1,
    )  # fmt: skip


@pytest.mark.parametrize("holds", [False, True])
def test_a_level_is_tried_again_only_if_it_did_not_hold(holds: bool) -> None:
    much = taken("steal", 0.5)
    results = [
        each.model_copy(update={"levels": [level(holds=holds)], "taken": much})
        for each in made(1, {})
    ]
    assert all((each.status is Status.DISTURBED) is not holds for each in judged(results))


def test_trials_of_an_older_release_stay_as_they_were() -> None:
    results = [
        each.model_copy(update={"taken": None, "status": Status.DISTURBED}) for each in made(4, {})
    ]
    assert judged(results) == results
