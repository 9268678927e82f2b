"""An import points down, never up, in the order that docs/architecture.md shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from layers import LAYERS, Arrow, arrows, back, drawing, modules

PAGE = Path(__file__).parent.parent.parent / "docs" / "architecture.md"


@pytest.fixture(scope="module")
def found() -> list[Arrow]:
    """All that is there. Reading every module takes seconds."""
    return list(arrows(modules()))


def test_every_import_points_down(found: list[Arrow]) -> None:
    assert len(found) > 1000
    assert [str(each) for each in back(found)] == []


def test_every_package_is_a_layer() -> None:
    assert {name.split(".")[1] for name in modules()} == set(LAYERS)


@pytest.mark.parametrize(
    "line",
    [
        "import loadstone.report.html",
        "from loadstone.report.html import write",
        "from loadstone import report",
        "def late() -> None:\n    from loadstone.report.html import write",
    ],
)
def test_an_arrow_back_is_named(line: str) -> None:
    (planted,) = back(arrows({"loadstone.spec.model": line}))
    assert str(planted).startswith("loadstone.spec.model, line ")
    assert "imports loadstone.report" in str(planted)


def test_the_drawing_is_of_the_packages_as_they_are(found: list[Arrow]) -> None:
    drawn = drawing(found)
    assert drawn in PAGE.read_text(), "run `python tests/layers.py` and put it on the page"
