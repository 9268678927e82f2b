"""What each stream of decision support sends, and how much of it."""

from collections import Counter
from typing import Any

import pytest

from loadstone.targets.dialect import Dialect
from loadstone.workloads.dss.parameters import DecisionSupportParameters
from loadstone.workloads.dss.rounds import rounds, users
from loadstone.workloads.dss.streams import order_of

STANDARD = Dialect("postgresql")


def streams(**parameters: Any) -> list[dict[str, dict[str, Any]]]:
    own = DecisionSupportParameters(**parameters)
    found = rounds(own, 42, STANDARD)
    assert {len(streams) for streams in found} == {users(own)}
    return [{stream["name"]: stream for stream in streams} for streams in found]


def operations(stream: dict[str, Any]) -> list[str]:
    return [step["operation"] for step in stream["steps"]]


def test_the_power_run_is_stream_0_between_its_refreshes() -> None:
    (measured,) = streams(warm_up=False, streams=0)
    queries = [f"q{number:02d}" for number in order_of(0)]
    assert list(measured) == ["power"]
    assert operations(measured["power"]) == ["rf1", *queries, "rf2"]


def test_the_streams_and_their_refreshes_follow_the_power_run_together() -> None:
    (measured,) = streams(warm_up=False, scale=10)
    assert list(measured) == ["power", "stream-1", "stream-2", "stream-3", "refresh"]
    assert all(
        stream.get("after") == "power" for name, stream in measured.items() if name != "power"
    )
    assert operations(measured["stream-2"]) == [f"q{number:02d}" for number in order_of(2)]
    assert operations(measured["refresh"]) == ["rf1", "rf2"] * 3
    changes = [step["statements"] for step in measured["refresh"]["steps"]]
    assert ["pair = 2" in changes[0][0], "pair = 4" in changes[-1][0]] == [True, True]


def test_without_refreshes_nothing_is_changed() -> None:
    (measured,) = streams(warm_up=False, refreshes=False)
    kinds = Counter(step["kind"] for stream in measured.values() for step in stream["steps"])
    assert (list(measured), kinds) == (["power", "stream-1", "stream-2"], {"query": 66})


def test_the_warm_up_asks_with_the_validation_parameters_and_keeps_plans() -> None:
    warm_up, _ = streams()
    steps = warm_up["validation"]["steps"]
    assert Counter(step["kind"] for step in steps) == {"query": 22, "explain": 22}
    assert all((step["answer"] is not None) == (step["kind"] == "query") for step in steps)
    assert [name for name, stream in warm_up.items() if not stream["steps"]] == [
        "idle-1",
        "idle-2",
        "idle-3",
    ]
    assert "'1998-12-01' - INTERVAL '90' DAY" in steps[0]["statements"][0]
    (no_plans, _) = streams(plans=False)
    assert len(no_plans["validation"]["steps"]) == 22


def test_streams_ask_with_other_parameters_and_a_seed_repeats_them() -> None:
    def asked(seed: int) -> list[str]:
        found = rounds(DecisionSupportParameters(warm_up=False), seed, STANDARD)
        return [step["statements"][0] for stream in found[0] for step in stream["steps"]]

    texts = [text for text in asked(1) if "GROUP BY" in text]
    assert asked(1) == asked(1) != asked(2)
    assert len(set(texts)) > 0.9 * len(texts)


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        (STANDARD, "l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01"),
        (Dialect("clickhouse", literals_are_doubles=True), "l_discount BETWEEN 0.05 AND 0.07"),
    ],
)
def test_sums_of_numbers_are_exact_on_engines_that_have_only_doubles(
    dialect: Dialect, expected: str
) -> None:
    warm_up, _ = rounds(DecisionSupportParameters(), 1, dialect)
    texts = [step["statements"][0] for step in warm_up[0]["steps"] if step["operation"] == "q06"]
    assert expected in " ".join(texts[0].split())


def test_rows_of_a_list_are_deleted_in_each_dialect() -> None:
    wanted = ("orders", "orders.o_orderkey", "gone.o_orderkey", "gone WHERE pair = 2")
    assert STANDARD.delete_listed(*wanted) == (
        "DELETE FROM orders WHERE orders.o_orderkey IN "
        "(SELECT gone.o_orderkey FROM gone WHERE pair = 2)"
    )
    assert Dialect("mariadb").delete_listed(*wanted) == (
        "DELETE orders FROM orders JOIN gone ON orders.o_orderkey = gone.o_orderkey WHERE pair = 2"
    )
