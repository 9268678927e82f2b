"""Answers against the published ones and those of other trials; rows after refreshes."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from dss_steps import queries, run_of

from loadstone.protocol.steps import StepRun, steps_of
from loadstone.results.record import CheckResult, Status
from loadstone.results.trial_files import PLAN_FILE, empty_result, write_model, write_result
from loadstone.runner.steps.answer_files import keep_answer
from loadstone.spec.model import WorkloadSpec
from loadstone.spec.plans import TrialPlan, Variant
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.workloads.dss.answers import Row
from loadstone.workloads.dss.checks import check_published, read_answer
from loadstone.workloads.dss.equal_answers import check_equal
from loadstone.workloads.dss.metrics import REFRESHES
from loadstone.workloads.dss.parameters import DecisionSupportParameters
from loadstone.workloads.dss.published import published
from loadstone.workloads.dss.workload import DecisionSupport

EVERY = ("validation", "power")


def trial(
    results: Path,
    name: str,
    order: int,
    streams: Sequence[str] = ("validation",),
    seed: int = 1,
    *,
    engine: str = "duckdb",
    refreshes: bool = True,
    status: Status = Status.VALID,
    checks: Sequence[CheckResult] = (),
    inserted: bool = True,
) -> Path:
    """The folder of a trial that has answered as published."""
    folder = results / name
    folder.mkdir(parents=True)
    parameters: dict[str, Any] = {"scale": 1} | ({} if refreshes else {"refreshes": False})
    plan = TrialPlan(
        experiment="x",
        trial=name,
        variant=Variant(name="baseline", changes=[], step=[]),
        block=1,
        order=order,
        workload=WorkloadSpec(name="dss", parameters=parameters),
        target=TargetSpec(engine=engine),
        profile=ProfileSpec(),
        seed=seed,
        data_seed=1,
        cache="warm",
    )
    write_model(folder / PLAN_FILE, plan)
    found = [REFRESHES["rf1"].of(2.0)] if refreshes and inserted else []
    result = empty_result(plan, status, "2026-11-24T00:00:00Z")
    write_result(folder, result.model_copy(update={"checks": [*checks], "metrics": found}))
    for stream in streams:
        for number, query in enumerate(queries(), start=1):
            keep_answer(folder / "answers", f"{stream}-{query}", published(number))
    return folder


def change(folder: Path, name: str, row: int, column: int, value: str | None) -> None:
    stream, _, query = name.partition("-")
    rows = [list(each) for each in read_answer(folder, stream, query)]
    rows[row][column] = value
    keep_answer(folder / "answers", name, rows)


def steps(*streams: str, failed: str = "") -> list[StepRun]:
    return steps_of(
        event for stream in streams for event in run_of(stream, *queries(), failed=failed)
    )


def test_the_published_answers_pass(tmp_path: Path) -> None:
    found = check_published(trial(tmp_path, "a", 1), steps("validation"))
    assert (found.passed, found.detail) == (
        True,
        "22 of 22 queries have the answer published for scale 1",
    )


@pytest.mark.parametrize(
    ("name", "row", "column", "value"),
    [
        ("validation-q01", 2, 9, "2920373"),
        ("validation-q06", 0, 0, "123141079.2283"),
        ("validation-q10", 19, 5, "HgiV0phqhaIa9aydNoIlc"),
        ("validation-q01", 0, 3, "56586554400.74"),
        ("validation-q10", 19, 5, None),
        ("validation-q10", 19, 5, ""),
    ],
    ids=["count", "sum", "text", "a cent of a large sum", "NULL", "an empty text"],
)
def test_a_wrong_value_is_caught(
    tmp_path: Path, name: str, row: int, column: int, value: str | None
) -> None:
    folder = trial(tmp_path, "a", 1)
    change(folder, name, row, column, value)
    found = check_published(folder, steps("validation"))
    assert not found.passed
    assert f"{name[-3:]} row {row + 1}, column {column + 1}: expected" in found.detail
    assert (value or "") in found.detail


def swapped(rows: list[Row]) -> list[Row]:
    return [rows[1], rows[0], *rows[2:]]


def exchanged(rows: list[Row]) -> list[Row]:
    """Two rows have each other's value in the last column that differs: all sums are kept."""
    first, second, *rest = rows
    at = max(n for n, (one, other) in enumerate(zip(first, second, strict=True)) if one != other)
    return [
        (*first[:at], second[at], *first[at + 1 :]),
        (*second[:at], first[at], *second[at + 1 :]),
        *rest,
    ]


def doubled(rows: list[Row]) -> list[Row]:
    return [rows[0], rows[0], *rows[2:]]


@pytest.mark.parametrize("fault", [swapped, exchanged, doubled])
def test_faults_that_keep_rows_and_sums_are_caught(
    tmp_path: Path, fault: Callable[[list[Row]], list[Row]]
) -> None:
    """In each query whose answer has two rows, in what is compared with anything."""
    trial(tmp_path, "a", 1)
    folder = trial(tmp_path, "b", 2)
    names = [name for name in queries() if len(published(int(name[1:]))) > 1]
    for name in names:
        rows = fault([*published(int(name[1:]))])
        keep_answer(folder / "answers", f"validation-{name}", rows)
    for found in (check_published(folder, steps("validation")), check_equal(folder, done())):
        assert found is not None
        assert [name for name in names if f"{name} " not in found.detail] == []
        assert not found.passed


def test_null_is_no_empty_text_among_trials(tmp_path: Path) -> None:
    for given, other in ((None, ""), ("", None)):
        results = tmp_path / repr(given)
        for order, (name, value) in enumerate((("a", given), ("b", other)), start=1):
            change(trial(results, name, order), "validation-q10", 19, 5, value)
        found = check_equal(results / "b", done())
        assert found is not None
        assert not found.passed
        assert {"NULL", "''"} <= {*found.detail.replace(",", "").split()}


def test_no_answer_at_all_is_not_the_published_one(tmp_path: Path) -> None:
    found = check_published(trial(tmp_path, "a", 1), steps("power"))
    assert (found.passed, found.detail[:16]) == (False, "0 of 22 queries ")


def test_a_query_without_an_answer_is_not_judged_but_counted(tmp_path: Path) -> None:
    found = check_published(trial(tmp_path, "a", 1), steps("validation", failed="q09"))
    assert found.passed
    assert found.detail.startswith("21 of 22 queries")
    assert found.detail.endswith("1 had no answer")


def done(*, failed: str = "") -> list[StepRun]:
    """The steps of a trial with refreshes, all of which ended well but one."""
    power = run_of("power", "rf1", *queries(), "rf2", failed=failed)
    return [*steps("validation"), *steps_of(power)]


def test_answers_are_held_against_the_first_trial_that_asked_the_same(tmp_path: Path) -> None:
    first = trial(tmp_path, "b01", 1, EVERY)
    other = trial(tmp_path, "b02", 2, EVERY, seed=9)
    change(other, "power-q04", 0, 1, "2")
    same = check_equal(other, done())
    assert same is not None
    assert (same.passed, same.detail) == (
        True,
        "22 answers of b02 (duckdb) (validation) equal those of b01 (duckdb)",
    )
    last = trial(tmp_path, "b03", 3, EVERY, engine="postgresql")
    assert check_equal(first, done()) is None
    equal = check_equal(last, done())
    assert equal is not None
    assert equal.passed
    assert equal.detail.count("22 answers of b03 (postgresql)") == 2
    change(last, "power-q04", 0, 1, "1")
    wrong = check_equal(last, done())
    assert wrong is not None
    assert not wrong.passed
    assert wrong.detail.startswith(
        "b03 (postgresql) answers otherwise than b01 (duckdb): q04 (power) row 1, column 2: "
    )


def test_power_runs_are_compared_only_after_the_same_refresh(tmp_path: Path) -> None:
    for name, order, given in [
        ("without", 1, {"refreshes": False}),
        ("failed", 2, {"inserted": False}),
        ("own", 3, {}),
        ("also-failed", 4, {"inserted": False}),
    ]:
        change(trial(tmp_path, name, order, EVERY, **given), "power-q04", 0, 1, str(order))
    for name, made in [("own", done()), ("also-failed", done(failed="rf1"))]:
        found = check_equal(tmp_path / name, made)
        assert found is not None
        assert (found.passed, "power" in found.detail) == (True, False)


def test_the_most_trusted_trial_is_the_one_to_compare_with(tmp_path: Path) -> None:
    right = CheckResult(name="answers are the published ones", passed=True, detail="")
    refuted = CheckResult(name="answers are the published ones", passed=False, detail="")
    wrong = trial(tmp_path, "wrong", 1, status=Status.INVALID, checks=[refuted])
    change(wrong, "validation-q04", 0, 1, "1")
    own = trial(tmp_path, "own", 9)
    assert check_equal(own, done()) is None
    for order, name, status, checks in [
        (4, "broken", Status.FAILED, []),
        (3, "valid", Status.VALID, []),
        (5, "published", Status.INVALID, [right]),
    ]:
        trial(tmp_path, name, order, status=status, checks=checks)
        found = check_equal(own, done())
        assert found is not None
        assert (found.passed, found.detail.split()[-2]) == (True, name)


def test_a_trial_without_any_answer_does_not_equal_those_that_have_some(tmp_path: Path) -> None:
    trial(tmp_path, "b01", 1)
    found = check_equal(trial(tmp_path, "b02", 2, ()), [])
    assert found is not None
    assert (found.passed, found.detail[:9]) == (False, "0 answers")


def test_nothing_is_asked_of_the_engine_while_it_is_measured() -> None:
    nobody: Any = None
    assert DecisionSupport(DecisionSupportParameters()).observe(nobody) == {}
