"""Decks of the user: what is staged with them, and what is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadstone.applications.flow.application import Flow
from loadstone.applications.flow.deck import read_deck
from loadstone.applications.flow.parameters import FlowParameters
from loadstone.errors import WrongInputError

BODY = """\
RUNSPEC
TITLE
 END of an era -- TSTEP
GRID
INCLUDE
  'include/GRID.INC' / -- of the grid
SUMMARY
FOPT
WBHP
 'P1' /
SCHEDULE
TSTEP
 2*30 1 0.5 / 17
-- TSTEP 99*1 /
SKIP
TSTEP
 7*1 /
ENDSKIP
DATES
 1 'JAN' 2021 /
 1 FEB 2021 /
/
INCLUDE
include/more.sch /
END
TSTEP
 50*1 /
"""


def write(folder: Path, body: str = BODY, name: str = "Case_a.data") -> Path:
    (folder / "include").mkdir(exist_ok=True)
    (folder / "include" / "GRID.INC").write_text("PORO\n 100*0.2 /\n")
    (folder / "include" / "more.sch").write_bytes(b"-- caf\xe9\nTSTEP\n3*10/\n")
    path = folder / name
    path.write_text(body)
    return path


def test_it_is_staged_under_capitals_with_all_that_it_includes(tmp_path: Path) -> None:
    deck = read_deck(write(tmp_path))
    assert deck.case == "CASE_A"
    names = [file.name for file in deck.files]
    assert names == ["CASE_A.DATA", "include/GRID.INC", "include/more.sch"]
    assert [file.path for file in deck.files[1:]] == [tmp_path / name for name in names[1:]]


def test_report_steps_are_those_of_all_files_up_to_the_end(tmp_path: Path) -> None:
    deck = read_deck(write(tmp_path))
    assert deck.report_steps == 2 + 1 + 1 + 2 + 3
    assert deck.compared == {"FOPT", "WBHP"}


def test_a_file_that_is_included_twice_counts_twice(tmp_path: Path) -> None:
    body = BODY.replace("END\nTSTEP", "INCLUDE\n'include/more.sch' /\nEND\nTSTEP")
    assert read_deck(write(tmp_path, body)).report_steps == 12


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("include/more.sch", "../more.sch", "not below the folder of the deck"),
        ("include/more.sch", "'/data/more.sch'", "not below the folder of the deck"),
        ("include/more.sch", "include/none.sch", "there is no file"),
        ("include/more.sch", "Case_a.data", "includes itself"),
        ("GRID\n", "PATHS\n 'A' '/data' /\n/\nGRID\n", "PATHS"),
        ("SUMMARY\n", "SOLUTION\nRESTART\n 'BASE' 12 /\nSUMMARY\n", "restarts another run"),
        ("FOPT\nWBHP\n", "FWCT\n", "none of FOPT, FGPT, FWIT, FPR, WBHP"),
    ],
)
def test_what_cannot_be_staged_or_compared_is_refused_in_one_line(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    path = write(tmp_path, BODY.replace(before, after))
    with pytest.raises(WrongInputError, match=said) as caught:
        read_deck(path)
    assert "\n" not in caught.value.message


def test_a_deck_without_report_steps_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match="has no report step"):
        read_deck(write(tmp_path, "RUNSPEC\nSUMMARY\nFOPT\nEND\n"))


@pytest.mark.parametrize("name", ["a b.DATA", "1.DATA", "ä.DATA", "run.1.DATA"])
def test_a_name_that_cannot_be_that_of_a_case_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(WrongInputError, match="cannot be the name of a case"):
        read_deck(write(tmp_path, name=name))


def test_a_mnemonic_of_the_same_name_restarts_nothing(tmp_path: Path) -> None:
    body = BODY.replace("SCHEDULE\n", "SCHEDULE\nRPTSCHED\n RESTART WELLS /\n")
    assert read_deck(write(tmp_path, body)).report_steps == 9


def test_windows_slashes_and_gdfile_are_staged(tmp_path: Path) -> None:
    body = BODY.replace("'include/GRID.INC'", "'include\\GRID.INC'")
    body = body.replace("SUMMARY\n", "GDFILE\n 'include/g.egrid' /\nSUMMARY\n")
    path = write(tmp_path, body)
    (tmp_path / "include" / "g.egrid").write_bytes(b"\0\1")
    names = [file.name for file in read_deck(path).files]
    assert names[1:] == ["include/GRID.INC", "include/g.egrid", "include/more.sch"]


def test_the_application_takes_a_deck_in_place_of_a_generated_one(tmp_path: Path) -> None:
    flow = Flow(FlowParameters(deck=str(write(tmp_path))))
    flow.examine()
    given = tmp_path / "given"
    given.mkdir()
    facts = flow.make_input(given, 1)
    assert set(facts.sums) == {"CASE_A.DATA", "include/GRID.INC", "include/more.sch"}
    assert flow.command(2, "python3") == ["flow", "CASE_A.DATA", "--output-dir=."]
    assert "CASE_A.UNSMRY" in flow.bring_back()
    assert flow.physics() == "deck Case_a.data; no equation-of-state model"


def test_a_deck_that_is_not_there_is_refused_before_anything(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match="there is no file"):
        Flow(FlowParameters(deck=str(tmp_path / "none.DATA"))).examine()
