"""Files of cells in parts: each part by itself must mean what it meant in the whole."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.workloads.cube.data.split import split

ENTITIES, PRODUCTS = ("East", "West", "North"), ("Cola", "Tea")
SCENARIOS, ACCOUNTS = ("Actual", "Budget"), ("Sales", "COGS", "Misc")
MONTHS = ("Jan", "Feb", "Mar")
DIMENSION = {
    name: dimension
    for dimension, names in enumerate((ENTITIES, PRODUCTS, SCENARIOS, ACCOUNTS, MONTHS))
    for name in names
}


def _quoted(names: tuple[str, ...]) -> str:
    return " ".join(f'"{name}"' for name in names)


def _lines(form: str) -> Iterator[str]:
    """108 cells as Essbase exports them."""
    if form != "aggregate storage":
        yield _quoted(MONTHS)
    said: dict[int, str] = {}

    def changed(*names: str) -> str:
        """Only the members that are others than in the line before."""
        new = tuple(name for name in names if said.get(DIMENSION[name]) != name)
        said.update({DIMENSION[name]: name for name in new})
        return _quoted(new)

    number = 0
    for entity, article in product(ENTITIES, PRODUCTS):
        if form not in ("in columns", "aggregate storage"):
            view = (entity, article)
            yield changed(*view) if form == "sparse members that change" else _quoted(view)
        for scenario, account in product(SCENARIOS, ACCOUNTS):
            amounts = f"{number} #Mi {number + 2}.5"
            number += 3
            if form == "all dense members":
                yield f"{_quoted((scenario, account))} {amounts}"
            elif form == "dense members that change":
                yield f"{changed(scenario, account)} {amounts}"
            elif form == "dense members on lines of their own":
                if account == ACCOUNTS[0]:
                    yield _quoted((scenario,))
                yield f"{_quoted((account,))} {amounts}"
            elif form == "sparse members that change":
                yield f"{_quoted((scenario, account))} {amounts}"
            elif form == "in columns":
                yield f"{_quoted((entity, article, scenario, account))} {amounts}"
            else:
                for month in MONTHS:
                    yield f"{changed(entity, article, scenario, month, account)} {number}"
                    number += 1


FORMS = {
    "all dense members": 6,
    "dense members that change": 6,
    "dense members on lines of their own": 6,
    "sparse members that change": 3,
    "in columns": 36,
    "aggregate storage": 3,
}
"""How many parts there can be, with one block in each, or one row."""


def _cells(text: str) -> Counter[tuple[frozenset[str], str]]:
    """What a server loads: a member stays until another one of its dimension is named."""
    said: dict[int, str] = {}
    columns: list[str] = []
    found: Counter[tuple[frozenset[str], str]] = Counter()
    for number, line in enumerate(text.splitlines()):
        names, amounts = re.findall(r'"([^"]+)"', line), re.sub(r'"[^"]+"', "", line).split()
        if number == 0 and not amounts:
            columns = names
            continue
        said.update({DIMENSION[name]: name for name in names})
        if not amounts:
            continue
        for column, amount in zip(columns or [""], amounts, strict=True):
            found[frozenset([*said.values(), column]), amount] += 1
    return found


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("form", FORMS)
def test_parts_of_an_export_hold_the_cells_of_the_whole(
    form: str, encoding: str, end: str, tmp_path: Path
) -> None:
    text = "".join(f"{line}{end}" for line in _lines(form))
    path = tmp_path / "export.txt"
    path.write_bytes(text.encode(encoding))
    assert sum(_cells(text).values()) == 108
    most = 0
    for many in (2, 3, 5, 7, 200):
        parts = split(path, many, tmp_path / str(many))
        together: Counter[tuple[frozenset[str], str]] = Counter()
        for part in parts:
            own = part.path.read_bytes().decode("utf-8-sig")
            first = own.splitlines()[form != "aggregate storage"]
            assert text.splitlines()[part.first_line - 1] == first
            together += _cells(own)
        assert together == _cells(text)
        most = max(most, len(parts))
    assert most == FORMS[form]


@given(
    rows=st.lists(
        st.lists(st.text('ab,"\n ', max_size=6), min_size=2, max_size=2), min_size=1, max_size=20
    ),
    parts=st.integers(2, 9),
    encoding=st.sampled_from(["utf-8", "utf-8-sig"]),
)
def test_parts_of_a_csv_hold_its_records(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], parts: int, encoding: str
) -> None:
    folder = tmp_path_factory.mktemp("split")
    header = ["a\nname", "b"]
    with (folder / "f.csv").open("w", newline="", encoding=encoding) as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([header, *rows])
    together = []
    for part in split(folder / "f.csv", parts, folder / "parts"):
        with part.path.open(newline="", encoding="utf-8") as file:
            first, *own = csv.reader(file)
        assert first == header
        together += own
    assert together == rows
