"""Scenarios and people as files: what is read, what is kept, and what is said of wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_web import workload

from loadstone.errors import WrongInputError
from loadstone.workloads.http.people import read_people
from loadstone.workloads.http.reading import in_full, parse_scenario, read_scenario

SECRET = "s3cret-word"
TEXT = """\
# What people do.
people: people.csv
transactions:
  - name: page
    steps:
      - get: /${name}
"""


def test_errors_of_a_file_have_lines():
    text = TEXT.replace("get: /", "got: /") + "nix: 1\n"
    with pytest.raises(WrongInputError) as caught:
        parse_scenario(text, "shop.yaml")
    assert "shop.yaml: 2 things are wrong" in caught.value.message
    assert "shop.yaml:6: transactions[0].steps[0].got" in caught.value.message


@pytest.mark.parametrize(
    ("text", "words"),
    [("a: [", "x:1: the YAML"), ("- a\n", "mapping"), ("", "mapping"), ("a: &b [*b]\n", "x:1")],
)
def test_what_is_no_scenario_at_all(text: str, words: str):
    with pytest.raises(WrongInputError) as caught:
        parse_scenario(text, "x")
    assert words in caught.value.message


def test_yaml_that_cannot_be_read_is_not_quoted():
    with pytest.raises(WrongInputError) as caught:
        parse_scenario(f'password: "{SECRET}" x\n', "x")
    assert SECRET not in caught.value.message


def test_the_file_is_kept_with_its_comments_and_the_whole_path_of_its_people(tmp_path: Path):
    path = tmp_path / "shop.yaml"
    path.write_text(TEXT)
    kept = in_full(path)
    assert kept == TEXT.replace("people.csv", f'"{tmp_path / "people.csv"}"')
    assert workload(kept).scenario == read_scenario(path).model_copy(
        update={"people": str(tmp_path / "people.csv")}
    )


def test_a_text_of_one_line_is_kept_as_a_text(tmp_path: Path):
    path = tmp_path / "shop.yaml"
    path.write_text('{"transactions": [{"name": "a", "steps": [{"get": "/"}]}]}')
    assert workload(in_full(path)).scenario.names == ("a",)


def test_people(tmp_path: Path):
    path = tmp_path / "people.csv"
    path.write_text('name,title\nada,"Countess, of"\n\ngrace,Admiral\n')
    people = read_people(path)
    assert (people.columns, people.rows) == (("name", "title"), 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("a,b\n", "no rows"),
        ("a,a\n1,2\n", "name of its own"),
        ("a,\n1,2\n", "name of its own"),
        (f"a,b\n1,2\n{SECRET}\n", ":3: has 1 fields, and the header 2"),
        (f'a\n"{SECRET}', "no CSV"),
    ],
)
def test_people_that_are_none(tmp_path: Path, text: str, words: str):
    path = tmp_path / "people.csv"
    path.write_text(text)
    with pytest.raises(WrongInputError) as caught:
        read_people(path)
    assert words in caught.value.message
    assert SECRET not in caught.value.message
