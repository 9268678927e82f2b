from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from not_started import not_started
from pydantic import ValidationError

from loadstone.workloads.base import LoadContext
from loadstone.workloads.oltp.parameters import DECK, OPERATIONS, OrderEntryParameters
from loadstone.workloads.oltp.workload import OrderEntry


def test_defaults_are_the_deck_of_the_specification():
    own = OrderEntryParameters()
    assert own.mix == DECK
    assert sum(own.mix.values()) == 23
    assert own.warehouses == 10
    assert own.load_sessions >= 1


def test_a_transaction_that_is_not_named_is_not_run():
    own = OrderEntryParameters.model_validate({"mix": {"payment": 3}})
    assert own.mix == dict.fromkeys(OPERATIONS, 0) | {"payment": 3}
    assert own.shares()["payment"] == 1.0


def test_a_mix_has_a_short_form():
    own = OrderEntryParameters.model_validate({"mix": "new-order=45,payment=43, delivery=4"})
    assert {name: weight for name, weight in own.mix.items() if weight} == {
        "new-order": 45,
        "payment": 43,
        "delivery": 4,
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mix": "payment"}, "'payment' is no mix: write NAME=WEIGHT"),
        ({"mix": "payment=many"}, "valid integer"),
        ({"mix": {"paiment": 1}}, "there is no transaction 'paiment': choose from new-order"),
        ({"mix": {"payment": 0}}, "no transaction has a weight above 0"),
        ({"mix": {}}, "no transaction has a weight above 0"),
        ({"mix": {"payment": -1}}, "the weight of payment is -1"),
        ({"mix": {"payment": 1.5}}, "valid integer"),
        ({"warehouses": 0}, "greater than or equal to 1"),
        ({"style": "poetry"}, "'statements' or 'procedures'"),
        ({"isolation": "none"}, "'serializable'"),
        ({"home": "away"}, "'per-user' or 'any'"),
        ({"warehouse": 1}, "Extra inputs are not permitted"),
    ],
)
def test_a_wrong_parameter_is_answered_in_a_line(given, words):
    with pytest.raises(ValidationError, match=words):
        OrderEntryParameters.model_validate(given)


@given(st.dictionaries(st.sampled_from(OPERATIONS), st.integers(0, 10_000)))
def test_shares_follow_the_weights(mix):
    if not any(mix.values()):
        with pytest.raises(ValidationError):
            OrderEntryParameters(mix=mix)
        return
    shares = OrderEntryParameters(mix=mix).shares()
    assert sum(shares.values()) == pytest.approx(1)
    for name, weight in mix.items():
        assert shares[name] == pytest.approx(weight / sum(mix.values()))


def test_ten_terminals_make_at_most_12_6_new_orders_a_minute():
    assert OrderEntryParameters().most_new_orders_per_min(10) == pytest.approx(12.605, abs=0.001)


def test_least_shares_of_clause_5_2_3_allow_12_86():
    mix = {"new-order": 45, "payment": 43, "order-status": 4, "delivery": 4, "stock-level": 4}
    assert OrderEntryParameters(mix=mix).most_new_orders_per_min(10) == pytest.approx(
        12.86, abs=0.01
    )


def test_the_plan_has_what_the_driver_knows_and_nothing_else():
    workload = OrderEntry(OrderEntryParameters(warehouses=3, style="procedures", load_sessions=7))
    assert workload.plan(LoadContext(1, not_started("postgresql"), Path())) == {
        "name": "oltp",
        "role": "run",
        "parameters": {
            "warehouses": 3,
            "style": "procedures",
            "mix": DECK,
            "home": "per-user",
            "isolation": "read committed",
        },
    }


def test_only_the_scale_decides_the_data():
    one = OrderEntry(OrderEntryParameters(warehouses=3, load_sessions=1))
    other = OrderEntry(OrderEntryParameters(warehouses=3, style="procedures", mix={"payment": 1}))
    assert one.data_key() == other.data_key() == {"warehouses": 3}


def test_pacing_has_the_waits_of_clause_5_2_5_7():
    operations = OrderEntry(OrderEntryParameters()).pacing()["operations"]
    waits = {name: (pace["keying_s"], pace["think"]["mean_s"]) for name, pace in operations.items()}
    assert waits == {
        "new-order": (18, 12),
        "payment": (3, 12),
        "order-status": (2, 10),
        "delivery": (2, 5),
        "stock-level": (2, 5),
    }
    assert {pace["think"]["cap"] for pace in operations.values()} == {10}
