"""What people type wrongly, for every option that the command line describes."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import wrong
from option_table import Option, distinct, options, words_before

from loadstone.cli.main import VERBS, build_app
from loadstone.cli.options import Whole

EVERY = options()
DISTINCT = distinct(EVERY)
WHOLE = [each for each in DISTINCT if each.kind is int]
DECIMAL = [each for each in DISTINCT if each.kind is float]
VALUED = [each for each in EVERY if not each.is_flag]
DURATIONS = ("--think-time", "--warm-up", "--ramp", "--measure", "--window", "--longest", "--soak")
LASTING = [each for each in DISTINCT if each.name in DURATIONS]


pytestmark = pytest.mark.usefixtures("own_places", "own_cache")


def refused(*words: str) -> str:
    """What is said to words that are wrong; nothing is made, nothing else is printed."""
    said = wrong(*words)
    assert list(Path().iterdir()) == []
    return said


def with_value(option: Option, value: str) -> list[str]:
    return [*words_before(option, EVERY), *([] if option.is_word else [option.name]), value]


def test_the_table_has_every_command_and_its_options():
    assert {each.command[0] for each in EVERY} == {verb for verb, _, _ in VERBS}
    assert len(EVERY) > 250


@pytest.mark.parametrize("option", WHOLE, ids=str)
@pytest.mark.parametrize("value", ["3.5", "1e3"])
def test_a_whole_number_is_a_whole_number(option: Option, value: str):
    said = refused(*with_value(option, value))
    assert option.name in said
    assert f"{value!r} is not a whole number" in said


@pytest.mark.parametrize("option", [each for each in EVERY if each.kind is int], ids=str)
def test_every_option_of_a_whole_number_is_read_as_one(option: Option):
    """An option that is added without its reader would be rounded by the library."""
    assert option.reader is Whole.converter


@pytest.mark.parametrize("option", DECIMAL, ids=str)
@pytest.mark.parametrize("value", ["-inf", "nan", "1e999"])
def test_a_number_is_finite(option: Option, value: str):
    assert option.name in refused(*with_value(option, value))


@pytest.mark.parametrize("option", VALUED, ids=str)
def test_a_value_that_is_empty_is_told(option: Option):
    assert "is empty" in refused(*with_value(option, ""))


@pytest.mark.parametrize("option", [*WHOLE, *DECIMAL, *LASTING], ids=str)
def test_a_negative_value_is_told_as_one(option: Option):
    """It is read as a value, never as an option that does not exist."""
    said = refused(*with_value(option, "-5s"))
    assert option.name in said
    assert "-5s" in said
    assert "requires an argument" not in said
    assert option not in LASTING or "is negative" in said


def test_an_option_that_rounds_would_be_found():
    app = build_app()

    def planted(*, many: int = 1) -> int:
        return many

    app["reindex"].command(planted)
    (found,) = [each for each in options(app) if each.name == "--many"]
    assert found.reader is not Whole.converter
