"""Scenarios and people as files: what is read, what is kept, and what is said of wrong ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample_web import fields, workload

from loadstone.errors import WrongInputError
from loadstone.experiments.file import load_experiment
from loadstone.experiments.preflight.check import check_experiment
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
    assert workload(kept).scenario == read_scenario(path)
    assert read_scenario(path).people == str(tmp_path / "people.csv")


def test_files_of_secrets_lie_beside_the_scenario_too(tmp_path: Path):
    path = tmp_path / "shop.yaml"
    head = "secrets: {a: file:a.txt, b: env:B}\n"
    path.write_text(head + TEXT.replace("${name}", "${a}"))
    kept = in_full(path)
    assert f'secrets: {{a: "file:{tmp_path}/a.txt", b: env:B}}' in kept
    assert workload(kept).scenario == read_scenario(path)
    assert read_scenario(path).secrets["a"] == f"file:{tmp_path}/a.txt"
    (tmp_path / "a.txt").write_text("of-a\n")
    assert workload(kept.replace("B", "HOME")).variables()["LOADSTONE_SECRET_0"] == "of-a"


def test_an_anchor_that_is_used_twice_is_written_once(tmp_path: Path):
    path = tmp_path / "shop.yaml"
    path.write_text("secrets: {a: &a file:a.txt, b: *a}\n" + TEXT)
    assert workload(in_full(path)).scenario.secrets == dict.fromkeys("ab", f"file:{tmp_path}/a.txt")


def test_a_path_that_is_merged_in_is_refused(tmp_path: Path):
    path = tmp_path / "shop.yaml"
    path.write_text(
        f"values: &v {{people: p.csv}}\n<<: *v\n{TEXT.replace('people: people.csv', '')}"
    )
    with pytest.raises(WrongInputError, match="people comes from an anchor"):
        in_full(path)


def test_a_kept_text_is_read_once_and_wrong_ones_say_what_is_wrong_each_time():
    kept = TEXT + "# once\n"
    assert workload(kept).scenario is workload(kept).scenario
    for _ in range(2):
        with pytest.raises(ValueError, match="nix"):
            workload(TEXT + "nix: 1\n")


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
        (f"a;b\n1;{SECRET}\n", "one column, with a semicolon in its name"),
        (f"a\tb\n1\t{SECRET}\n", "one column, with a tab in its name"),
    ],
)
def test_people_that_are_none(tmp_path: Path, text: str, words: str):
    path = tmp_path / "people.csv"
    path.write_text(text)
    with pytest.raises(WrongInputError) as caught:
        read_people(path)
    assert words in caught.value.message
    assert SECRET not in caught.value.message


WRONG_BELOW = """\
think_time: {distribution: none}
transactions:
  - name: a
    steps:
      - get: /
        extract:
          x: {json: "items["}
"""


def test_what_the_driver_refuses_is_named_where_it_was_written(tmp_path: Path):
    (tmp_path / "shop.yaml").write_text(WRONG_BELOW)
    given = fields("shop.yaml")
    (tmp_path / "web.yaml").write_text(json.dumps(given))
    written = load_experiment(tmp_path / "web.yaml")
    (problem,) = check_experiment(written.experiment)
    assert written.source.origin(problem.path) == f"{tmp_path / 'shop.yaml'}:7"
    assert written.source.origin(("workload", "parameters", "scenario")) == (
        f"{tmp_path / 'web.yaml'}:1"
    )
    assert written.source.name == str(tmp_path / "web.yaml")


def test_people_who_are_not_there_are_no_matter_of_the_design(tmp_path: Path):
    (tmp_path / "shop.yaml").write_text(f"people: nobody.csv\n{WRONG_BELOW}")
    (tmp_path / "web.yaml").write_text(json.dumps(fields("shop.yaml")))
    (problem,) = check_experiment(load_experiment(tmp_path / "web.yaml").experiment)
    assert problem.path == ()
    assert problem.message.startswith(str(tmp_path / "nobody.csv"))
