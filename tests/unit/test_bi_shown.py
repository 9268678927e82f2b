"""What charts showed is held against the warehouse."""

from __future__ import annotations

from typing import Any

import pytest

from loadstone.errors import TargetError
from loadstone.results.answers import KeptAnswer
from loadstone.spec.dashboards import Chart, Content, Measure, default_content
from loadstone.targets.bi import Shown
from loadstone.workloads.bi.shown_values import check_values, difference

CONTENT = default_content(6)
CHART = Chart(
    "nations",
    "N",
    "bar",
    (Measure("revenue", "SUM(revenue)"), Measure("lines", "COUNT(*)")),
    group_by=("nation",),
    order_by="revenue",
)
RIGHT = [
    {"nation": "IRAN", "revenue": "30.2500", "lines": 3},
    {"nation": "CHINA", "revenue": "20.0000", "lines": 2},
    {"nation": "JAPAN", "revenue": "20.0000", "lines": 1},
]


def _with(place: int, **fields: Any) -> list[dict[str, Any]]:
    rows = [dict(row) for row in RIGHT]
    rows[place] |= fields
    return rows


def test_the_same_figures_are_equal_however_they_are_written() -> None:
    shown = [
        {**row, "revenue": float(str(row["revenue"])), "lines": str(row["lines"])} for row in RIGHT
    ]
    assert difference(CHART, shown, RIGHT) == ""


def test_rows_that_are_equal_in_what_orders_them_may_come_in_any_order() -> None:
    assert difference(CHART, [RIGHT[0], RIGHT[2], RIGHT[1]], RIGHT) == ""


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (_with(0, revenue=30.251), "revenue of IRAN is 30.251, and 30.2500 is right"),
        (_with(1, lines=None), "lines of CHINA is None"),
        (_with(2, nation="FRANCE"), "a row of FRANCE, which does not belong there"),
        (RIGHT[:2], "it has 2 rows, and 3 are right"),
        ([*RIGHT, RIGHT[0]], "it has 4 rows"),
        ([RIGHT[0], RIGHT[1], RIGHT[1]], "a row twice"),
        ([RIGHT[1], RIGHT[0], RIGHT[2]], "row 1 is CHINA: it is not in its order"),
        ([], "it has 0 rows"),
    ],
)
def test_what_differs_is_named(shown: list[dict[str, Any]], words: str) -> None:
    assert words in difference(CHART, shown, RIGHT)


def test_nothing_is_equal_to_nothing_only() -> None:
    chart = Chart("total", "T", "big_number", (Measure("revenue", "SUM(revenue)"),))
    assert difference(chart, [{"revenue": None}], [{"revenue": None}]) == ""
    assert difference(chart, [{"revenue": 0}], [{"revenue": None}]) != ""


class _Warehouse:
    """Answers a total by the condition that it is asked with."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        self.asked.append(sql)
        return [(100.0 if "region = 'AFRICA'" in sql else 600.0,)]


class _Server:
    """A BI server whose kept answers hold what was shown; a text is no answer of a chart."""

    def __init__(self) -> None:
        self.store = _Warehouse()

    def warehouse(self) -> _Warehouse:
        return self.store

    def shown(self, content: Content, kept: KeptAnswer) -> Shown | None:
        if isinstance(kept.answer, str):
            return None
        if kept.answer is None:
            raise TargetError("no JSON")
        return Shown("region-revenue", kept.values, [{"revenue": kept.answer}])


def _kept(username: str, answer: Any, **values: Any) -> KeptAnswer:
    return KeptAnswer(
        draw=0,
        t_s=1.0,
        user=0,
        username=username,
        operation="open",
        request="sales-by-region/region-revenue",
        body=None,
        values=values,
        answer=answer,
    )


def _checked(*kept: KeptAnswer, sample: int = 10) -> tuple[bool, str, _Server]:
    server = _Server()
    check = check_values(server, CONTENT, kept, sample)  # type: ignore[arg-type]
    return check.passed, check.detail, server


def test_each_person_is_to_see_the_own_region_and_the_warehouse_is_asked_once() -> None:
    kept = [_kept("user000001", 600.0), _kept("user000002", 100), _kept("user000002", "100.0000")]
    passed, detail, server = _checked(_kept("user000001", "a page"), *kept[:2], kept[1])
    assert passed, detail
    assert detail == "3 answers of 1 charts"
    assert len(server.store.asked) == 2


def test_the_rows_of_another_person_are_found() -> None:
    passed, detail, _ = _checked(_kept("user000002", 600.0))
    assert not passed
    assert "region-revenue of user000002: revenue is 600.0, and 100.0 is right" in detail


def test_what_was_chosen_is_part_of_the_question() -> None:
    _, _, server = _checked(_kept("user000001", 600.0, order_year=1995))
    assert "order_year = 1995" in server.store.asked[0]


def test_an_answer_that_cannot_be_read_is_wrong() -> None:
    passed, detail, _ = _checked(_kept("user000001", None))
    assert not passed
    assert "no JSON" in detail


def test_without_any_answer_nothing_was_shown_to_be_right() -> None:
    passed, detail, _ = _checked(_kept("user000001", "a page"))
    assert not passed
    assert detail == "no answer of a chart was kept"


def test_no_more_answers_are_looked_at_than_the_sample_has() -> None:
    passed, detail, _ = _checked(*[_kept("user000001", 600.0)] * 5, sample=2)
    assert passed
    assert detail.startswith("2 answers")


def test_an_answer_that_is_too_long_to_be_kept_says_nothing() -> None:
    long = KeptAnswer(**{**vars(_kept("user000001", None)), "answer_bytes": 100_000})
    passed, detail, _ = _checked(long, _kept("user000001", 600.0))
    assert passed
    assert detail.startswith("1 answers")
