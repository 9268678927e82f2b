"""`loadstone list` and `loadstone schema`: what is known, and no results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import right

pytestmark = pytest.mark.usefixtures("own_places")


@pytest.mark.parametrize(
    ("what", "some"),
    [
        ("workloads", "oltp"),
        ("targets", "postgresql"),
        ("designs", "ladder"),
        ("factors", "profile."),
        ("references", "linux-maximus"),
    ],
)
def test_what_is_known_is_listed(what: str, some: str):
    assert some in right("list", what)
    document = json.loads(right("list", what, "--json"))
    assert document["version"] == 1
    assert some in {row.get("name", row.get("prefix")) for row in document[what]}


def test_no_results_are_an_empty_list():
    assert json.loads(right("list", "--json")) == {"version": 1, "results": []}


def test_the_schema_is_printed_and_written():
    right("schema", "--output", "schema.json")
    assert json.loads(Path("schema.json").read_text()) == json.loads(right("schema"))
