"""Generated decks, before any simulator reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from loadstone.applications.flow.application import Flow
from loadstone.applications.flow.deck import COMPARED, read_deck
from loadstone.applications.flow.generator import deck_text, rock_text, wells_of
from loadstone.applications.flow.parameters import FlowParameters
from loadstone.applications.flow.physics import PHYSICS
from loadstone.applications.flow.tolerances import SMALLEST_POROSITY_CHANGE, TOLERANCES
from loadstone.errors import WrongInputError

SMALL = FlowParameters(size="6x5x3", report_steps=4, step_days=10)


def values(text: str, keyword: str) -> list[float]:
    body = text.split(f"{keyword}\n")[1].split("/", maxsplit=1)[0]
    return [float(each) for each in body.split()]


def test_the_same_seed_makes_the_same_rock_and_another_another() -> None:
    assert rock_text(SMALL, 7) == rock_text(SMALL, 7)
    assert rock_text(SMALL, 7) != rock_text(SMALL, 8)
    porosity = values(rock_text(SMALL, 7), "PORO")
    assert len(porosity) == len(values(rock_text(SMALL, 7), "PERMX")) == SMALL.cells == 90
    assert all(0.08 <= each <= 0.35 for each in porosity)


def test_the_planted_fault_changes_the_porosity_of_every_cell_and_nothing_else() -> None:
    right, wrong = rock_text(SMALL, 7), rock_text(SMALL, 7, 1 + SMALLEST_POROSITY_CHANGE)
    ratios = [a / b for a, b in zip(values(wrong, "PORO"), values(right, "PORO"), strict=True)]
    assert ratios == pytest.approx([1.01] * SMALL.cells, rel=1e-4)
    assert values(wrong, "PERMX") == values(right, "PERMX")


@pytest.mark.parametrize("physics", PHYSICS)
def test_the_reader_of_decks_reads_what_is_generated(tmp_path: Path, physics: str) -> None:
    flow = Flow(FlowParameters.model_validate({**SMALL.model_dump(), "physics": physics}))
    facts = flow.make_input(tmp_path, 3)
    deck = read_deck(tmp_path / "CASE.DATA")
    assert (deck.case, deck.report_steps) == ("CASE", 4)
    assert deck.compared == set(COMPARED) == set(TOLERANCES)
    assert [file.name for file in deck.files] == list(facts.sums) == ["CASE.DATA", "ROCK.INC"]
    assert all(len(line) < 130 for line in deck_text(flow.parameters).splitlines())


@pytest.mark.parametrize("wells", [2, 3, 4, 5, 9, 16])
def test_wells_stand_apart_and_there_are_both_kinds(wells: int) -> None:
    found = wells_of(FlowParameters(size="8x7x2", wells=wells))
    assert len(found) == len({(well.i, well.j) for well in found}) == wells
    assert len({well.name for well in found}) == wells
    assert sum(well.injects for well in found) == wells // 2
    assert all(1 <= well.i <= 8 and 1 <= well.j <= 7 for well in found)


def test_two_wells_stand_in_opposite_corners() -> None:
    assert [(well.i, well.j) for well in wells_of(SMALL)] == [(1, 1), (6, 5)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"size": "20x20"}, "pattern"),
        ({"size": "5000x5000x9"}, "too many"),
        ({"size": "2x2x1", "wells": 5}, "no room"),
        ({"deck": "a.DATA", "size": "4x4x4"}, "size is of a generated deck"),
        ({"physics": "compositional"}, "blackoil"),
        ({"tolerances": {"FPR": 1e-3}}, "of a deck of your own"),
        ({"deck": "a.DATA", "tolerances": {"FPRH": 1e-3}}, "FPRH is none of FOPT"),
        ({"deck": "a.DATA", "tolerances": {"FPR": 0.5}}, "FPR: 0.5 is not above 0"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(
    given: dict[str, object], said: str
) -> None:
    with pytest.raises(ValidationError, match=said):
        FlowParameters.model_validate(given)


def test_too_few_cells_for_the_ranks_are_refused() -> None:
    Flow(SMALL).fits(4)
    with pytest.raises(WrongInputError, match="90 cells are too few for 8 ranks"):
        Flow(SMALL).fits(8)


def test_the_reference_of_a_planted_fault_has_the_right_rock(tmp_path: Path) -> None:
    flow = Flow(FlowParameters(size="6x5x3", fault="porosity"))
    facts = flow.make_input(tmp_path, 7)
    staged = {file.name: file.path for file in facts.files}
    assert staged["ROCK.INC"].read_text() != (tmp_path / "ROCK.INC").read_text()
    assert (tmp_path / "ROCK.INC").read_text() == rock_text(flow.parameters, 7)
