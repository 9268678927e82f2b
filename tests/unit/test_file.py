"""The experiment file: what is right is read, what is wrong is answered with line and field."""

from __future__ import annotations

import json
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from loadstone.errors import WrongInputError
from loadstone.experiments.file import (
    load_experiment,
    parse_experiment,
    parse_level,
    write_experiment,
)
from loadstone.experiments.schema import experiment_schema
from loadstone.spec.design import CompareDesign, RunDesign
from loadstone.spec.model import Experiment

ROOT = Path(__file__).parents[2]

GOOD = """\
version: 1
name: first
workload:
  name: noop
  parameters: {service_time_us: 100}
target:
  engine: none
profile:
  users: 4
  measure: 2s
  think_time: 250ms
design:
  kind: compare
  factor: workload.service_time_us
  levels: [100, 200]
"""


def refusal(text: str) -> str:
    with pytest.raises(WrongInputError) as caught:
        parse_experiment(text, "x.yaml")
    return caught.value.message


def test_a_file_becomes_an_experiment():
    experiment = parse_experiment(GOOD, "x.yaml").experiment
    assert experiment.profile.measure == 2.0
    assert experiment.profile.think_time == 0.25
    assert experiment.design == CompareDesign(factor="workload.service_time_us", levels=[100, 200])


def test_off_is_a_word_and_not_a_truth_value():
    text = GOOD.replace("engine: none", "engine: none\n  settings: {a: off, b: true}")
    assert parse_experiment(text, "x").experiment.target.settings == {"a": "off", "b": True}


@pytest.mark.parametrize(
    ("wrong", "right", "answers"),
    [
        ("users: 4", "userz: 4", ["x.yaml:9: profile.userz", "did you mean 'users'?"]),
        ("users: 4", "users: 0", ["x.yaml:9: profile.users", "given 0"]),
        ("users: 4", "users: [4]", ["x.yaml:9: profile.users", "whole number", "given [4]"]),
        ("measure: 2s", "measure: 2", ["x.yaml:10: profile.measure", "2 has no unit", "2s"]),
        ("think_time: 250ms", "think_time: soon", ["x.yaml:11: profile.think_time", "'soon'"]),
        ("name: noop", "name: nop", ["x.yaml:4: workload.name", "did you mean 'noop'?"]),
        ("engine: none", "engine: postgres", ["x.yaml:7: target.engine", "'postgresql'"]),
        (
            "service_time_us: 100",
            "service_tim_us: 1",
            ["x.yaml:5: workload.parameters.service_tim_us", "did you mean 'service_time_us'?"],
        ),
        ("{service_time_us: 100}", "{error_rate: 2}", ["x.yaml:5:", "error_rate", "given 2"]),
        ("levels: [100, 200]", "levels: [100]", ["x.yaml:15: design.levels", "2 items"]),
        ("factor: workload", "factr: workload", ["design.factor: is missing", "'factor'?"]),
        ("kind: compare", "kind: compair", ["x.yaml:12: design", "needs a kind", "'sweep'"]),
        ("name: first", "name: First Run", ["x.yaml:2: name", "lower-case", "'First Run'"]),
        ("version: 1", "version: 2", ["x.yaml:1: version", "reads version 1; given 2"]),
        ("version: 1\n", "", ["x.yaml:1: version: is missing"]),
        ("target:\n  engine: none\n", "", ["target: is missing"]),
        (
            "engine: none",
            "engine: postgresql\n  server: postgresql://me:secret@host/db",
            ["x.yaml:8: target.server", "holds a password"],
        ),
    ],
)  # fmt: skip
def test_a_wrong_field_is_answered_with_its_line(wrong: str, right: str, answers: list[str]):
    message = refusal(GOOD.replace(wrong, right))
    for answer in answers:
        assert answer in message


def test_a_password_in_an_address_is_not_repeated():
    text = GOOD.replace("engine: none", "engine: postgresql\n  server: postgresql://me:s3cret@h/d")
    assert "s3cret" not in refusal(text)


def test_a_password_in_a_file_is_refused_and_not_repeated():
    message = refusal(GOOD.replace("engine: none", "engine: none\n  password: s3cret"))
    assert message.startswith("x.yaml:8: target.password: a password is a reference")
    assert "s3cret" not in message


@pytest.mark.parametrize(
    ("price", "answer"),
    [
        ("{amount: 5, items: {server: 3}}", "price: the amount is the sum of the items"),
        ("{currency: EUR}", "price: a price needs an amount, or items"),
        ("{items: {}}", "price.items: should have at least 1 item"),
        ("{items: {server: -3}}", "price.items.server: should be greater than 0; given -3"),
        ("{amount: -3}", "price.amount: should be greater than 0; given -3"),
    ],
)
def test_a_wrong_price_is_answered_in_a_line(price: str, answer: str):
    assert refusal(f"{GOOD}price: {price}\n").startswith(f"x.yaml:16: {answer}")


def test_a_price_list_is_read_written_and_summed():
    text = f"{GOOD}price: {{currency: EUR, items: {{server: 4200, 'support, 3 years': 1500.1}}}}\n"
    experiment = parse_experiment(text, "x").experiment
    assert experiment.price is not None
    assert experiment.price.total == 5700.1
    assert parse_experiment(write_experiment(experiment), "x").experiment == experiment


def test_all_errors_are_listed_in_the_order_of_the_file():
    text = GOOD.replace("users: 4", "users: 0").replace("version: 1", "version: 9")
    lines = refusal(text + "repeats: none\n").splitlines()
    assert lines[0] == "x.yaml: 3 things are wrong"
    assert [line.split(":")[1] for line in lines[1:]] == ["1", "9", "16"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("name: a\nname: b\n", 'x.yaml:2: the YAML cannot be read: found duplicate key "name"'),
        ("a: [1, 2\nb: 3\n", "x.yaml:2: the YAML cannot be read"),
        ("a:\n\t- b\n", "x.yaml:2: the YAML cannot be read"),
        ("- a\n- b\n", "x.yaml:1: is not an experiment"),
        ("", "x.yaml:1: is not an experiment"),
        ("a: !!python/name:os.system x\n", "x.yaml:1: the YAML cannot be read"),
        ("when: 2024-99-99\n", "x.yaml:1: a value cannot be read"),
        ("[" * 1_000, "x.yaml:1: is nested too deeply"),
        ("version: 1\nworkload: &w\n  name: noop\n  parameters: *w\n", "x.yaml"),
    ],
)
def test_text_that_is_no_file_is_answered_with_its_line(text: str, answer: str):
    assert answer in refusal(text)


def test_a_file_that_cannot_be_read_is_answered(tmp_path: Path):
    with pytest.raises(WrongInputError, match="cannot be read: No such file"):
        load_experiment(tmp_path / "missing.yaml")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"a: 1\nb: \xe9\n")
    with pytest.raises(WrongInputError, match="line 2: byte 4 is not UTF-8"):
        load_experiment(binary)
    huge = tmp_path / "huge.yaml"
    huge.write_text("#" * 1_000_001)
    with pytest.raises(WrongInputError, match="larger than"):
        load_experiment(huge)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(string.printable, max_size=12),
    st.sampled_from(["30s", "1GB", "run", "ladder", "noop", "none", "off"]),
)
NAMES = st.sampled_from(
    [*Experiment.model_fields, "kind", "factor", "levels", "rungs", "change", "users", "measure"]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(NAMES | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(st.dictionaries(NAMES, VALUES, max_size=8))
def test_any_fields_are_read_or_answered(fields: dict[str, object]):
    text = json.dumps({"version": 1, **fields}, default=str)
    try:
        parse_experiment(text, "x.yaml")
    except WrongInputError as error:
        assert error.message.startswith("x.yaml")


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_answered(text: str):
    with pytest.raises(WrongInputError, match=r"^x\.yaml"):
        parse_experiment(text, "x.yaml")


@given(st.text(string.printable, max_size=80), st.integers(0, len(GOOD)))
def test_any_text_in_a_good_file_is_read_or_answered(text: str, place: int):
    try:
        parse_experiment(GOOD[:place] + text + GOOD[place:], "x.yaml")
    except WrongInputError as error:
        assert error.message.startswith("x.yaml")


@given(
    users=st.integers(1, 10_000),
    measure=st.floats(0.001, 100_000).map(lambda value: round(value, 6)),
    think=st.sampled_from(["none", "specified", 0.25, 12.0]),
    repeats=st.integers(1, 100),
)
def test_what_is_written_is_read_back(users: int, measure: float, think: str | float, repeats: int):
    think_text = think if isinstance(think, str) else f"{think}s"
    experiment = Experiment.model_validate(
        {
            "version": 1,
            "name": "x",
            "workload": {"name": "noop"},
            "target": {"engine": "none"},
            "profile": {"users": users, "measure": f"{measure:.6f}s", "think_time": think_text},
            "design": {"kind": "compare", "factor": "profile.users", "levels": ["off", "1"]},
            "repeats": repeats,
        }
    )
    assert parse_experiment(write_experiment(experiment), "x").experiment == experiment


def test_the_json_that_loadstone_writes_is_read_back():
    experiment = parse_experiment(GOOD, "x").experiment
    assert Experiment.model_validate_json(experiment.model_dump_json()) == experiment


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("8", 8),
        ("-1", -1),
        ("0.9", 0.9),
        ("1e3", 1000.0),
        ("true", True),
        ("off", "off"),
        ("1GB", "1GB"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("1_000", "1_000"),
        ("read committed", "read committed"),
    ],
)
def test_a_level_on_the_command_line_is_as_in_a_file(text: str, level: object):
    assert parse_level(text) == level
    assert type(parse_level(text)) is type(level)


# -- the schema and the examples ---------------------------------------------------------------


def test_the_schema_in_the_documents_is_up_to_date():
    path = ROOT / "docs" / "experiment.schema.json"
    told = "run: loadstone schema --output docs/experiment.schema.json"
    assert json.loads(path.read_text("utf-8")) == experiment_schema(), told


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(experiment_schema())


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda p: p.name)
def test_every_example_is_right_by_model_and_by_schema(path: Path, validator: Draft202012Validator):
    assert load_experiment(path).experiment.name == path.stem
    data = json.loads(json.dumps(YAML(typ="safe").load(path.read_text("utf-8"))))
    assert list(validator.iter_errors(data)) == []


def test_the_schema_knows_the_parameters_of_each_workload():
    data = {
        "version": 1,
        "name": "x",
        "workload": {"name": "noop", "parameters": {"no_such": 1}},
        "target": {"engine": "none"},
    }
    messages = [
        each.message for each in Draft202012Validator(experiment_schema()).iter_errors(data)
    ]
    assert any("no_such" in message for message in messages)


def test_defaults_are_a_run():
    text = GOOD[: GOOD.index("design:")]
    assert parse_experiment(text, "x").experiment.design == RunDesign()
