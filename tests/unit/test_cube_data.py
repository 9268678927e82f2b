"""The files of the cube hold what their manifest says, at any scale; parts make the whole again."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import WrongInputError
from loadstone.workloads.cube.data.cells import HEADER, LINES_PER_PAIR, Injected
from loadstone.workloads.cube.data.native import FILES
from loadstone.workloads.cube.data.provide import CubeData, provide
from loadstone.workloads.cube.data.split import split
from loadstone.workloads.cube.data.volume import LARGEST_SCALE, PAIRS_AT_1, volume_of
from loadstone.workloads.cube.outline.accounts import SOLD
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.outline import outline_of
from loadstone.workloads.cube.outline.sparse import CORPORATE, ENTITY, PRODUCT

SCALE = 0.01


@pytest.fixture(scope="module")
def outline() -> Outline:
    return outline_of(42)


@pytest.fixture(scope="module")
def data(outline: Outline, tmp_path_factory: pytest.TempPathFactory) -> CubeData:
    return provide(outline, SCALE, 42, tmp_path_factory.mktemp("cache"))


def _fault(outline: Outline, fields: list[str]) -> str | None:
    """What is wrong with a line of cells, found without the generator's help."""
    entity, product, year, scenario, version, currency, account, period, value = fields
    assert product in outline[PRODUCT].numbers
    assert (year, scenario, version, currency) in {
        (own, "Actual", "Final", "Local") for own in ("FY17", "FY18")
    }
    known = {"entity": ENTITY, "account": "Account", "period": "Period"}
    given = {"entity": entity, "account": account, "period": period}
    wrong = [kind for kind, name in known.items() if given[kind] not in outline[name].numbers]
    wrong += [] if value.isdigit() else ["number"]
    assert len(wrong) <= 1
    return wrong[0] if wrong else None


def test_cells_are_those_of_the_scale_with_the_faults_that_were_noted(
    outline: Outline, data: CubeData
) -> None:
    header, *lines = data.cells.read_text().splitlines()
    assert header == HEADER
    assert len(lines) == data.lines == round(SCALE * PAIRS_AT_1) * LINES_PER_PAIR
    rows = [line.split(",") for line in lines]
    faults = [
        Injected(line, fault)
        for line, fields in enumerate(rows, start=2)
        if (fault := _fault(outline, fields)) is not None
    ]
    assert faults == list(data.injected)
    assert len(faults) == round(data.lines / 10_000)
    assert Counter(own.fault for own in faults).keys() == {"entity", "account", "period", "number"}
    wrong = {own.line for own in faults}
    right = [fields for line, fields in enumerate(rows, start=2) if line not in wrong]
    assert sum(int(fields[-1]) for fields in right) == data.accepted_sum
    assert len({tuple(fields[:8]) for fields in right}) == len(right)
    assert {fields[6] for fields in right} == set(SOLD)


def test_native_files_hold_the_cells_and_sums_that_were_noted(
    outline: Outline, data: CubeData
) -> None:
    assert len(data.native) == FILES
    seen: Counter[tuple[str, ...]] = Counter()
    for path, noted in zip(data.native_files, data.native, strict=True):
        header, *lines = path.read_text().splitlines()
        assert header.split()[:2] == ['"BegBalance"', '"Jan"']
        cells, rows, view = [], 0, ()
        for line in lines:
            fields = line.split()
            if len(fields) == 6:
                view = tuple(fields)
                continue
            assert len(fields) == 14
            assert fields[0].strip('"') in outline["Account"].numbers
            seen[(*view, fields[0])] += 1
            cells += [int(field) for field in fields[1:] if field != "#Mi"]
            rows += 1
        assert (len(cells), sum(cells), rows) == (noted.cells, noted.sum, noted.rows)
    assert set(seen.values()) == {1}
    assert sum(view[0] == f'"{CORPORATE}"' for view in seen) == 2 * 4


def test_the_same_seed_writes_the_same_bytes(
    outline: Outline, data: CubeData, tmp_path: Path
) -> None:
    again, other = provide(outline, SCALE, 42, tmp_path), provide(outline, SCALE, 43, tmp_path)
    assert again.generated_s > 0.0
    assert provide(outline, SCALE, 42, tmp_path).generated_s == 0.0
    for path in (data.cells, *data.native_files):
        assert (again.folder / path.name).read_bytes() == path.read_bytes()
        assert (other.folder / path.name).read_bytes() != path.read_bytes()


@pytest.mark.parametrize("scale", [0.0001, 0.1, 1.0, 2.5])
def test_a_scale_multiplies_rows_and_never_members(outline: Outline, scale: float) -> None:
    found = volume_of(outline, scale, 7)
    assert len(found.entities) == round(scale * PAIRS_AT_1)
    keys = found.entities * len(outline[PRODUCT]) + found.products
    assert np.all(np.diff(keys) > 0)
    at_1 = 8249 * 45
    assert len(found.booked) * len(found.accounts) == pytest.approx(scale * at_1, rel=0.02, abs=45)


def test_the_largest_scale_fills_no_account_twice(outline: Outline) -> None:
    accounts = volume_of(outline, LARGEST_SCALE, 7).accounts
    assert len(accounts) == len(set(accounts)) <= 750


def test_entities_sell_mostly_two_lines_and_unequally(outline: Outline) -> None:
    found = volume_of(outline, 1.0, 7)
    many = np.sort(np.bincount(found.entities))
    assert many[-1] > 5 * np.median(many[many > 0])
    lines = np.searchsorted(outline[PRODUCT].children[0], found.products, side="right")
    largest = np.bincount(found.entities).argmax()
    own = np.bincount(lines[found.entities == largest])
    assert np.sort(own)[-2:].sum() > 0.5 * own.sum()


def test_a_full_disk_is_told_before_anything_is_written(
    outline: Outline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _path: type("Usage", (), {"free": 10**6}))
    with pytest.raises(WrongInputError, match=r"need 0\.0 GB in .*, which has 0\.0 GB"):
        provide(outline, SCALE, 42, tmp_path)
    assert not list((tmp_path / "cube").glob("scale*"))


@pytest.mark.parametrize("parts", [1, 2, 7, 64])
def test_parts_make_the_whole_again(data: CubeData, tmp_path: Path, parts: int) -> None:
    for path in (data.cells, data.native_files[0]):
        whole = path.read_text().splitlines()
        found = split(path, parts, tmp_path)
        assert 1 <= len(found) <= parts
        together = []
        for part in found:
            header, *lines = part.path.read_text().splitlines()
            assert header == whole[0]
            assert whole[part.first_line - 1] == lines[0]
            together += lines
        assert together == whole[1:]
        sizes = [part.path.stat().st_size for part in found]
        assert max(sizes) - min(sizes) < 30_000


def test_parts_of_a_native_file_begin_with_a_point_of_view(data: CubeData, tmp_path: Path) -> None:
    parts = split(data.native_files[0], 5, tmp_path)
    assert len(parts) == 5
    for part in parts:
        assert part.path.read_text().splitlines()[1].count('"') == 12


@given(
    lines=st.lists(st.text("ab,1", max_size=12), min_size=1, max_size=30),
    parts=st.integers(1, 12),
    ends=st.booleans(),
)
def test_any_file_is_cut_between_its_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], parts: int, *, ends: bool
) -> None:
    folder = tmp_path_factory.mktemp("split")
    lines = ["1", *lines, "2"]
    (folder / "f.csv").write_text("\n".join(["head", *lines]) + ("\n" if ends else ""))
    together = []
    for part in split(folder / "f.csv", parts, folder / "parts"):
        header, *own = part.path.read_text().removesuffix("\n").split("\n")
        assert header == "head"
        assert [*lines][part.first_line - 2 :][: len(own)] == own
        together += own
    assert together == lines


@pytest.mark.parametrize("header", ['"Entity","Data"', '"Entity", "Data"', '"Entity";"Data"'])
def test_a_csv_whose_header_is_quoted_is_cut_between_its_lines(tmp_path: Path, header: str) -> None:
    (tmp_path / "f.csv").write_text("\n".join([header, *(f"Dept_{n},{n}" for n in range(100))]))
    assert len(split(tmp_path / "f.csv", 4, tmp_path)) == 4


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("head\n")
    with pytest.raises(WrongInputError, match="has no rows below its header"):
        split(tmp_path / "f.csv", 2, tmp_path)
    with pytest.raises(WrongInputError, match="cannot be split"):
        split(tmp_path / "none.csv", 2, tmp_path)
