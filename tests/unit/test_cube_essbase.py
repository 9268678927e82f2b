"""A kit for Essbase holds the outline and every cell, as a reader finds that knows no writer."""

import csv
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from essbase_reader import (
    Tree,
    expanded,
    read_cells,
    read_factors,
    read_native,
    read_tree,
    statements,
)

from loadstone.workloads.cube.cycle import STEPS
from loadstone.workloads.cube.data import values
from loadstone.workloads.cube.data.provide import CubeData, provide
from loadstone.workloads.cube.data.volume import Volume, volume_of
from loadstone.workloads.cube.essbase.kit import write_kit
from loadstone.workloads.cube.essbase.settings import KitSettings
from loadstone.workloads.cube.outline.model import Dimension, Outline
from loadstone.workloads.cube.outline.outline import outline_of
from loadstone.workloads.cube.outline.restructure import ADDED, BEFORE, DELETED, MOVED, TO
from loadstone.workloads.cube.outline.sparse import LOADED_PERIODS, MONTHS
from loadstone.workloads.cube.rates import rates_of

ROOT = Path(__file__).parents[2]
SCALE, SEED = 0.002, 42
SOLD = ("GrossRevenue", "Discounts", "COGS", "Units")
NAMES = ("Account", "Period", "Years", "Scenario", "Version", "Currency", "Entity", "Product")


@pytest.fixture(scope="module")
def outline() -> Outline:
    return outline_of(SEED)


@pytest.fixture(scope="module")
def data(outline: Outline, tmp_path_factory: pytest.TempPathFactory) -> CubeData:
    return provide(outline, SCALE, SEED, tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def volume(outline: Outline) -> Volume:
    return volume_of(outline, SCALE, SEED)


@pytest.fixture(scope="module")
def kit(outline: Outline, data: CubeData, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kit")
    write_kit(folder, outline, data, rates_of(outline, SEED), KitSettings(SCALE, SEED))
    return folder


@pytest.fixture(scope="module")
def trees(kit: Path) -> dict[str, Tree]:
    return {name: read_tree(kit / "outline" / f"{name.lower()}.csv") for name in NAMES}


# -- the outline -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_outline_is_there_member_by_member(
    outline: Outline, trees: dict[str, Tree], name: str
) -> None:
    own, tree = outline[name], trees[name]
    assert tree.root == own.members[0].name == name
    assert len(tree.lines) == len(own) - 1
    seen: set[str] = set()
    for number, (line, member) in enumerate(zip(tree.lines, own.members[1:], strict=True), start=1):
        assert member.parent is not None
        assert (line.parent, line.child) == (own.members[member.parent].name, member.name)
        assert (line.child in seen) == (member.storage == "shared")
        seen.add(line.child)
        expected = {member.consolidation, _storage(own, number)}
        expected |= {"L"} if member.balance == "last" else set()
        # Without a second pass, a quarter shows the sum of its months' ratios.
        assert line.codes == expected | ({"T"} if line.formula else set())
        told = {"Rate": member.rate, "Currency": member.currency}
        attributes = [f"{kind}:{value}" for kind, value in told.items() if value is not None]
        assert line.attribute == " ".join(attributes)
        ratio = member.formula
        assert line.formula == (
            f'"{ratio.numerator}" / "{ratio.denominator}";' if ratio is not None else ""
        )


def test_29_ratios_are_two_pass_and_the_pages_say_what_periods_show(
    trees: dict[str, Tree], kit: Path
) -> None:
    assert sum("T" in line.codes for line in trees["Account"].lines) == 29
    readme = (kit / "README.md").read_text()
    assert "The 29 ratios are two-pass (`T`)" in readme
    for account in (ADDED.name, BEFORE, MOVED, TO, DELETED):
        for page in (readme, (ROOT / "docs" / "cube.md").read_text()):
            assert f"`{account}`" in page


def _storage(own: Dimension, number: int) -> str:
    if own.members[number].storage == "stored":
        return "N" if own.children[number] else "S"
    return {"dynamic": "X", "label-only": "O", "shared": "S"}[own.members[number].storage]


def test_no_name_is_in_two_dimensions_whatever_the_case(trees: dict[str, Tree]) -> None:
    names = {
        name: {tree.root.lower(), *(line.child.lower() for line in tree.lines)}
        for name, tree in trees.items()
    }
    assert max(Counter(each for own in names.values() for each in own).values()) == 1
    for tree in trees.values():
        stored = Counter(line.child for line in tree.lines)
        assert {name for name, many in stored.items() if many > 1} <= {
            line.child for line in tree.lines if line.parent.startswith("Manager_")
        }


@pytest.mark.parametrize("name", ["Account", "Entity", "Product"])
def test_planning_gets_the_same_members_by_its_own_words(
    outline: Outline, kit: Path, name: str
) -> None:
    with (kit / "planning" / f"{name.lower()}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    own = outline[name]
    words = {
        "dynamic calc": "dynamic",
        "label only": "label-only",
        "never share": "stored",
        "store": "stored",
        "shared": "shared",
    }
    assert len(rows) == len(own)
    assert rows[0]["Parent"] == ""
    for row, member in zip(rows, own.members, strict=True):
        parent = "" if member.parent is None else own.members[member.parent].name
        assert (row[name], row["Parent"]) == (member.name, parent)
        assert words[row["Data Storage (Plan1)"]] == member.storage
        assert row["Aggregation (Plan1)"] == member.consolidation
        if name == "Account":
            assert row["Exchange Rate Type"] == member.rate
            assert (row["Account Type"] == "asset") == (member.balance == "last")
            assert (row["Two Pass Calculation"] == "1") == bool(row["Formula (Plan1)"])
        if name == "Entity":
            assert row["Base Currency"] == (member.currency or "")


@pytest.mark.parametrize("name", ["Entity", "Product"])
def test_a_hybrid_cube_is_the_list_of_stored_parents(
    outline: Outline, kit: Path, name: str
) -> None:
    with (kit / "planning" / f"hybrid_{name.lower()}.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == [name, "Parent", "Data Storage (Plan1)"]
    assert {row[2] for row in rows} == {"dynamic calc"}
    stored, hybrid = outline[name], outline[name].hybrid()
    changed = [
        new.name
        for old, new in zip(stored.members, hybrid.members, strict=True)
        if old.storage != new.storage
    ]
    assert [row[0] for row in rows] == changed


# -- the data ----------------------------------------------------------------------------------


def test_every_cell_of_the_csv_is_the_generators(
    outline: Outline, volume: Volume, data: CubeData, kit: Path
) -> None:
    draw = np.random.default_rng(np.random.SeedSequence([SEED, 3, 0]))
    amounts = values.sales(len(volume.entities), draw)
    expected = {
        frozenset(
            [
                outline["Entity"].members[entity].name,
                outline["Product"].members[product].name,
                *("Actual", "Final", "Local"),
                *(year, account, month),
            ]
        ): amounts[pair, y, a, m]
        for pair, (entity, product) in enumerate(
            zip(volume.entities.tolist(), volume.products.tolist(), strict=True)
        )
        for y, year in enumerate(("FY17", "FY18"))
        for a, account in enumerate(SOLD)
        for m, month in enumerate(MONTHS)
    }
    wrong = {own.line: own.fault for own in data.injected}
    lines = dict(read_cells(kit / "data" / "cells.csv"))
    assert len(lines) == data.lines == len(expected)
    right = {cell[0]: cell[1] for line, cell in lines.items() if line not in wrong}
    assert len(right) == data.lines - len(wrong)
    assert all(int(value) == expected[cell] for cell, value in right.items())
    for line, fault in wrong.items():
        cell, value = lines[line]
        assert (cell not in expected) == (fault != "number")
        assert value.isdigit() == (fault != "number")


def test_every_cell_of_the_native_files_is_the_generators(
    outline: Outline, volume: Volume, data: CubeData, kit: Path
) -> None:
    found: dict[frozenset[str], int] = {}
    for noted in data.native:
        own = {cell: int(value) for cell, value in read_native(kit / "data" / noted.name)}
        assert (len(own), sum(own.values())) == (noted.cells, noted.sum)
        assert not own.keys() & found.keys()
        found |= own
    blocks = [(entity, year) for entity in volume.booked.tolist() for year in ("FY17", "FY18")]
    flows = sum(account.startswith("OPX_") for account in volume.accounts)
    cuts = np.linspace(0, len(blocks), 9).astype(int)
    many = 0
    for number in range(8):
        draw = np.random.default_rng(np.random.SeedSequence([SEED, 4, number]))
        own_blocks = blocks[cuts[number] : cuts[number + 1]]
        amounts = values.booked(len(own_blocks), flows, len(volume.accounts) - flows, draw)
        views = [(outline["Entity"].members[entity].name, year) for entity, year in own_blocks]
        many += _all_there(found, views, volume.accounts, LOADED_PERIODS, amounts)
        if number == 7:
            pools = tuple(f"POOL_{nth:02d}" for nth in range(1, 5))
            views = [("Corporate", "FY17"), ("Corporate", "FY18")]
            many += _all_there(found, views, pools, MONTHS, values.pooled(4, draw))
    assert many == len(found) == sum(noted.cells for noted in data.native)


def _all_there(
    found: dict[frozenset[str], int],
    views: list[tuple[str, str]],
    accounts: tuple[str, ...],
    periods: tuple[str, ...],
    amounts: values.Amounts,
) -> int:
    """Compares cell by cell; returns how many are not missing."""
    many = 0
    for block, (entity, year) in enumerate(views):
        view = (entity, year, "NoProduct", "Actual", "Final", "Local")
        for a, account in enumerate(accounts):
            for p, period in enumerate(periods):
                amount = int(amounts[block, a, p])
                there = found.get(frozenset([*view, account, period]), values.MISSING)
                assert there == amount
                many += amount != values.MISSING
    return many


def test_a_kits_files_are_its_own(kit: Path, data: CubeData) -> None:
    for path in (data.cells, *data.native_files):
        assert not (kit / "data" / path.name).samefile(path)


def test_what_to_expect_is_what_is_in_the_files(kit: Path, data: CubeData) -> None:
    expected = json.loads((kit / "expected.json").read_text())
    wrong = {own["line"] for own in expected["cells"]["wrong"]}
    right = [
        int(value)
        for line, (_, value) in read_cells(kit / "data" / "cells.csv")
        if line not in wrong
    ]
    assert (len(right), sum(right)) == (expected["cells"]["right"], expected["cells"]["sum"])
    assert [own["name"] for own in expected["native"]] == [own.name for own in data.native]
    assert (expected["scale"], expected["seed"]) == (SCALE, SEED)


# -- rates and calculations --------------------------------------------------------------------


def test_each_entity_of_level_0_is_converted_once_by_its_own_rates(
    kit: Path, trees: dict[str, Tree]
) -> None:
    with (kit / "rates.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    rates = {(row["Currency"], row["Rate"], row["Years"]): row for row in rows}
    assert len(rates) == 7 * 2 * 5
    entities = trees["Entity"]
    currency = {line.child: line.attribute.removeprefix("Currency:") for line in entities.lines}
    times: Counter[tuple[str, str, str, str]] = Counter()
    branches: dict[str, list[str]] = {}
    for own in read_factors((kit / "calc" / "convert.csc").read_text()):
        assert {'"Actual"', '"Final"', '"USD"'} <= set(own.fixed)
        (year,) = {term.strip('"') for term in own.fixed} & {"FY17", "FY18"}
        (kind,) = {word for term in own.fixed for word in re.findall(r'"Rate:(\w+)"', term)}
        for term in own.fixed:
            if term not in branches:
                branches[term] = expanded(term, entities)
            for entity in branches[term]:
                assert own.factor == rates[currency[entity], kind, year][own.period]
                times[entity, year, kind, own.period] += 1
    assert set(times.values()) == {1}
    base = {line.child for line in entities.lines if line.child not in entities.below}
    foreign = {name for name in base if currency[name] not in ("USD", "")}
    assert {entity for entity, *_ in times} == foreign
    assert len(times) == len(foreign) * 2 * 2 * len(LOADED_PERIODS)


def test_the_copy_before_a_conversion_takes_each_entity_of_level_0_once(
    kit: Path, trees: dict[str, Tree]
) -> None:
    text = (kit / "calc" / "convert.csc").read_text()
    (view,) = re.findall(r'FIX\(("FY17", "FY18", .*)\)\n  DATACOPY "Local" TO "USD";\nENDFIX', text)
    terms = re.findall(r'@RELATIVE\("[^"]+", 0\)|"[^"]+"', view)
    taken = Counter(entity for term in terms for entity in expanded(term, trees["Entity"]))
    shared = {line.child for line in trees["Entity"].lines if line.parent.startswith("Manager_")}
    leaves = set(trees["Entity"].leaves("Entity")) - shared
    assert set(taken) == leaves
    assert set(taken.values()) == {1}
    assert len(leaves) == 8249 + 2


def test_only_money_is_multiplied_and_no_dynamic_account(kit: Path, trees: dict[str, Tree]) -> None:
    text = (kit / "calc" / "convert.csc").read_text()
    fixed = set(re.findall(r'@UDA\("Account", "(\w+:\w+)"\) AND @LEVMBRS\("Account", 0\)', text))
    assert fixed == {"Rate:average", "Rate:ending"}
    accounts = trees["Account"]
    parents = {line.parent for line in accounts.lines}
    hit = [own for own in accounts.lines if own.attribute in fixed and own.child not in parents]
    assert all("S" in own.codes for own in hit)
    assert "Units" not in {own.child for own in hit}
    assert len(hit) == 4 - 1 + 400 + 8 + 350


def test_the_allocation_is_of_each_pool_by_units(kit: Path, trees: dict[str, Tree]) -> None:
    text = (kit / "calc" / "allocate.csc").read_text()
    formulas = re.findall(r'"(ALC_0\d)" = "(POOL_0\d)"->"Corporate"->"NoProduct" \* "Units"', text)
    assert formulas == [(f"ALC_0{nth}", f"POOL_0{nth}") for nth in range(1, 5)]
    (parts,) = re.findall(r"FIXPARALLEL\(8, (.*)\)\n", text)
    terms = re.findall(r'@RELATIVE\("[^"]+", 0\)|"[^"]+"', parts)
    taken = Counter(entity for term in terms for entity in expanded(term, trees["Entity"]))
    shared = {line.child for line in trees["Entity"].lines if line.parent.startswith("Manager_")}
    assert set(taken) == set(trees["Entity"].leaves("Entity")) - shared
    assert set(taken.values()) == {1}
    assert text.count("FIX(") == 1
    for name in ("aggreg", "aggralc", "aggrconv"):
        script = (kit / "calc" / f"{name}.csc").read_text()
        assert 'AGG("Product", "Entity");' in script
        assert "SET CALCPARALLEL 4;" in script
        assert ('"ALC_04"' in script) == (name == "aggralc")
        assert ('"USD"' in script) == (name == "aggrconv")


# -- the scripts -------------------------------------------------------------------------------


def test_the_script_runs_nine_steps_three_times_between_marks(kit: Path) -> None:
    lines = statements((kit / "cycle.mxl").read_text())
    assert lines[0] == "spool on to 'cycle.log'"
    assert lines.index("set timestamp on") < next(
        number for number, line in enumerate(lines) if "begins" in line
    )
    done = []
    for number, line in enumerate(lines):
        if match := re.fullmatch(r'echo "loadstone: cycle (\d) step ([\w-]+) begins"', line):
            done.append((int(match[1]), match[2]))
            end = lines.index(f'echo "loadstone: cycle {match[1]} step {match[2]} ends"')
            within = [each for each in lines[number + 1 : end] if each != "iferror 'failed'"]
            assert len(within) == 1
            assert within[0].startswith(("alter database", "import database", "execute calc"))
    assert done == [(cycle, step) for cycle in (1, 2, 3) for step in STEPS]
    used = {re.search(r"'(\w+)'$", line)[1] for line in lines if "execute calculation" in line}
    assert used == {path.stem for path in (kit / "calc").iterdir()}
    assert not [name for name in used if len(name) > 8]


def test_a_hybrid_kit_aggregates_nothing_and_builds_dynamic_parents(
    outline: Outline, data: CubeData, tmp_path: Path
) -> None:
    settings = KitSettings(SCALE, SEED, hybrid=True)
    write_kit(tmp_path / "kit", outline, data, rates_of(outline, SEED), settings)
    text = (tmp_path / "kit" / "cycle.mxl").read_text()
    begun = re.findall(r"cycle 1 step ([\w-]+) begins", text)
    assert begun == [step for step in STEPS if not step.startswith("aggregate")]
    scripts = {path.stem for path in (tmp_path / "kit" / "calc").iterdir()}
    assert scripts == {"allocate", "convert"}
    lines = (tmp_path / "kit" / "outline" / "product.csv").read_text().splitlines()
    assert "Product,Line_1,+ X,," in lines
    assert "six timed steps" in (tmp_path / "kit" / "README.md").read_text()


def test_the_readme_names_steps_as_the_log_does(kit: Path) -> None:
    text = (kit / "README.md").read_text()
    for step in STEPS:
        assert f"| `{step}` |" in text


def test_the_build_imports_each_dimension_by_the_rule_of_its_name(kit: Path) -> None:
    lines = statements((kit / "build.mxl").read_text())
    imported = [
        re.search(r"data_file '(\w+)\.csv' using server rules_file '(\w+)'", line)
        for line in lines
        if line.startswith("import")
    ]
    assert [(match[1], match[2]) for match in imported] == [(n.lower(), n.lower()) for n in NAMES]


def test_the_readme_says_what_is_left_and_that_nothing_was_validated(kit: Path) -> None:
    text = (kit / "README.md").read_text()
    assert "**This kit was never validated against a live Essbase server.**" in text
    assert "{" not in text
    for path in kit.rglob("*"):
        if path.is_file() and path.suffix in (".mxl", ".json"):
            assert path.name in text
    assert not re.search(r"password|identified by", (kit / "cycle.mxl").read_text())
