"""Sentences of the report."""

import pytest

from loadstone.report.text import loading, price
from loadstone.spec.model import Price


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({}, ""),
        ({"rows": 3.0}, ""),
        ({"load_time_s": 2.5, "rows": 3.0}, "The data were loaded in 2.5 s."),
        (
            {"load_time_s": 64.3, "schema_time_s": 0.012, "rows_s": 33.6, "size_bytes": 1e9},
            "The data were loaded in 64.3 s (schema 0.012, rows 33.6).",
        ),
        (
            {"load_time_s": 64.3, "generate_s": 3.75},
            "The data were loaded in 64.3 s, after 3.75 s in which they were made.",
        ),
    ],
)
def test_the_load_of_the_data_is_told(data: dict[str, float], text: str) -> None:
    assert loading(data) == text


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (Price(amount=5000, currency="EUR", covers="one server"), "5,000 EUR, one server"),
        (
            Price(items={"server": 4200, "disks": 900.5}),
            "5,100.50 USD (server: 4,200; disks: 900.50)",
        ),
    ],
)
def test_the_price_is_told_with_its_items(of: Price, text: str) -> None:
    assert price(of) == text
