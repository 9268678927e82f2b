"""What a report says of trials whose measured time was taken from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from sample_results import Sample, compare, write_results

from loadstone.report.document import build_document
from loadstone.report.model.document import ReportDocument
from loadstone.results.record import Status
from loadstone.spec.model import Experiment
from loadstone.spec.profile import ProfileSpec


def short(repeats: int) -> Experiment:
    """Trials of few ticks: nothing here is asked of them."""
    profile = ProfileSpec(users=8, warm_up="1s", measure="8s")
    return compare(repeats).model_copy(update={"profile": profile})


def document(
    folder: Path, taken: Mapping[int, float] | None, effect: float = 1.2, repeats: int = 8
) -> ReportDocument:
    sample = Sample({"shared_buffers=1GB": effect}, taken=taken)
    return build_document(write_results(folder, short(repeats), sample))


def said(found: ReportDocument, code: str) -> list[str]:
    return [each.message for each in found.notices if each.code == code]


def test_one_that_lost_its_time_is_left_out_and_named(tmp_path: Path) -> None:
    found = document(tmp_path, {5: 0.4})
    disturbed = [each.result.trial for each in found.trials
                 if each.result.status is Status.DISTURBED]  # fmt: skip
    assert len(disturbed) == 1
    assert [sum(each.disturbed for each in found.variants)] == [1]
    (told,) = said(found, "taken")
    assert told == (
        f"1 trial is marked for other programs on the processors: {disturbed[0]}. In "
        f"{disturbed[0]} other programs (hog) used 0.80 of 2 processors while it was measured, 40 %"
    )
    (comparison,) = found.comparisons
    assert comparison.n_baseline == 7
    assert comparison.other_trials is not None
    assert comparison.other_trials.trials == "all"
    (beside,) = said(found, "other-trials")
    assert beside.startswith('by all trials, "shared_buffers=1GB" is ')


def test_a_verdict_that_hangs_on_them_is_told_first(tmp_path: Path) -> None:
    found = document(tmp_path, {5: 0.7}, effect=1.1)
    (comparison,) = found.comparisons
    assert comparison.verdict == "better"
    assert comparison.other_trials is not None
    assert comparison.other_trials.verdict == "no detectable change"
    assert found.headline.startswith(
        'Take care: with the trials that others disturbed, "shared_buffers=1GB" would be "no '
        'detectable change" instead of "better". '
    )
    assert [each.severity for each in found.notices if each.code == "other-trials"] == ["warning"]


def test_where_many_lost_their_time_all_count(tmp_path: Path) -> None:
    found = document(tmp_path, {2: 0.3, 5: 0.4, 7: 0.2, 12: 0.3})
    assert {each.result.status for each in found.trials} == {Status.VALID}
    (told,) = said(found, "machine-like-that")
    assert told.startswith("4 of 16 trials are marked: this machine is like that, so all of them")
    (notice,) = [each for each in found.notices if each.code == "machine-like-that"]
    assert "against other programs on the processors: end them" in notice.advice
    assert "trials without them scatter" in notice.advice
    (comparison,) = found.comparisons
    assert (comparison.n_baseline, comparison.n_candidate) == (8, 8)
    assert comparison.other_trials is not None
    assert comparison.other_trials.trials == "without those marked"


def test_what_all_trials_have_is_said_once(tmp_path: Path) -> None:
    found = document(tmp_path, dict.fromkeys(range(1, 17), 0.3))
    assert {each.result.status for each in found.trials} == {Status.VALID}
    (told,) = said(found, "taken-always")
    assert told.startswith("other programs (hog) used 0.60 of 2 processors while a trial was ")
    assert not said(found, "taken") + said(found, "machine-like-that")
    assert all(each.other_trials is None for each in found.comparisons)


def test_what_other_guests_stole_is_adjusted_for_and_said(tmp_path: Path) -> None:
    stolen = {order: 0.012 * (order * 5 % 7) for order in range(1, 17)}
    effects = {"shared_buffers=1GB": 1.05}
    sample = Sample(effects, taken=stolen, thieves="steal")
    found = build_document(write_results(tmp_path, short(8), sample))
    (comparison,) = found.comparisons
    assert comparison.test == "paired t, adjusted for stolen processor time"
    assert comparison.ratio == pytest.approx(1.05, rel=0.02)
    (told,) = said(found, "adjusted")
    assert told == (
        "other guests of this host took up to 7.2 % of the processors from a trial: the change of "
        "shared_buffers=1GB is adjusted for it, and so is the mean that stands with it; medians "
        "and single trials are as measured"
    )


@pytest.mark.parametrize("taken", [None, {}])
def test_where_nothing_was_taken_nothing_is_said(
    tmp_path: Path, taken: Mapping[int, float] | None
) -> None:
    found = document(tmp_path, taken)
    assert not {"taken", "taken-always", "other-trials"} & {each.code for each in found.notices}
