"""The outline has the published numbers of members, and survives a file."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import WrongInputError
from loadstone.workloads.cube.outline.accounts import ACCOUNT, POOLS, linear
from loadstone.workloads.cube.outline.exchange import (
    HEADER,
    read_dimension,
    write_dimension,
)
from loadstone.workloads.cube.outline.model import (
    Dimension,
    DimensionBuilder,
    Member,
    Outline,
    Ratio,
)
from loadstone.workloads.cube.outline.outline import outline_of
from loadstone.workloads.cube.outline.rejects import Reject, causes, write_rejects
from loadstone.workloads.cube.outline.sparse import CORPORATE, ENTITY, PRODUCT

PUBLISHED = {
    "Account": (1025, 838),
    "Period": (19, 14),
    "Years": (6, 6),
    "Scenario": (3, 3),
    "Version": (4, 4),
    "Currency": (3, 3),
    "Entity": (8767, 8709),
    "Product": (8639, 8639),
}


@pytest.fixture(scope="module")
def outline() -> Outline:
    return outline_of(42)


@pytest.mark.parametrize("seed", [0, 42, 2**63])
def test_members_and_stored_members_are_as_many_as_published(seed: int) -> None:
    found = {own.name: (len(own), own.stored) for own in outline_of(seed).dimensions}
    assert found == PUBLISHED


def test_a_block_and_the_potential_blocks_are_as_large_as_published(outline: Outline) -> None:
    assert outline.cells_per_block == 11_732
    assert outline.potential_blocks == 16_251_203_016


def test_a_seed_makes_the_same_outline_again(outline: Outline) -> None:
    assert outline_of(42) == outline
    assert outline_of(43)[ENTITY] != outline[ENTITY]
    assert outline_of(43)[ACCOUNT] == outline[ACCOUNT]


def test_names_are_unique_but_for_shared_members(outline: Outline) -> None:
    for own in outline.dimensions:
        names = [member.name for member in own.members if member.storage != "shared"]
        assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "per_generation", "ragged"),
    [(ENTITY, [1, 9, 50, 400, 8249], 2), (PRODUCT, [1, 10, 72, 520, 8036], 1)],
)
def test_large_dimensions_have_five_generations_and_a_ragged_branch(
    outline: Outline, name: str, per_generation: list[int], ragged: int
) -> None:
    own = outline[name]
    stored = [member.storage == "stored" for member in own.members]
    counts = [
        sum(1 for at, generation in enumerate(own.generations) if stored[at] and generation == nth)
        for nth in range(1, 6)
    ]
    assert counts == per_generation
    assert sum(int(own.generations[leaf]) == 2 for leaf in own.leaves()) == ragged


def test_the_fan_out_is_skewed(outline: Outline) -> None:
    many = sorted(len(children) for children in outline[PRODUCT].children if children)
    assert many[0] >= 1
    assert many[-1] > 4 * many[len(many) // 2]


def test_another_roll_up_shares_each_country_once(outline: Outline) -> None:
    own = outline[ENTITY]
    kinds = [member.storage for member in own.members]
    assert [kinds.count(kind) for kind in ("label-only", "dynamic", "shared")] == [1, 7, 50]
    shared = {member.name for member in own.members if member.storage == "shared"}
    assert shared == {f"Country_{number:02d}" for number in range(1, 51)}


def test_a_subtree_is_a_range_of_numbers(outline: Outline) -> None:
    own = outline[ENTITY]
    for number in (0, 1, own.numbers["Country_07"], own.numbers[CORPORATE]):
        expected, waiting = set(), [number]
        while waiting:
            expected.add(waiting[-1])
            waiting += own.children[waiting.pop()]
        assert expected == set(range(number, own.last[number] + 1))


def test_totals_of_accounts_follow_the_consolidations(outline: Outline) -> None:
    own = outline[ACCOUNT]
    made_of: dict[str, dict[str, int]] = {}
    for total, leaf, sign in linear(own):
        made_of.setdefault(own.members[total].name, {})[own.members[leaf].name] = sign
    assert made_of["NetRevenue"] == {"GrossRevenue": 1, "Discounts": -1}
    assert made_of["GrossMargin"] == {"GrossRevenue": 1, "Discounts": -1, "COGS": -1}
    assert len(made_of["TotalExpenses"]) == 400
    assert made_of["OperatingIncome"]["OPX_001"] == -1
    assert made_of["OperatingIncome"]["ALC_01"] == -1
    assert made_of["NetIncome"] == made_of["OperatingIncome"]
    assert made_of["PooledCosts"] == dict.fromkeys(POOLS, 1)


def test_hybrid_parents_are_dynamic_and_leaves_stay(outline: Outline) -> None:
    own = outline[PRODUCT].hybrid()
    assert own.stored == 8037
    assert len(own.with_children()) == 602
    assert {member.storage for member in own.with_children()} == {"dynamic"}
    assert own.leaves() == outline[PRODUCT].leaves()
    assert outline.with_dimension(own).potential_blocks < outline.potential_blocks


def test_members_out_of_order_are_refused() -> None:
    members = (Member("R", None), Member("A", 0), Member("B", 0), Member("A1", 1))
    with pytest.raises(ValueError, match="A1 does not follow"):
        Dimension("R", dense=False, members=members)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_dimension_comes_back_from_its_file(outline: Outline, name: str, tmp_path: Path) -> None:
    own = outline[name]
    write_dimension(own, tmp_path / "d.csv")
    found, rejects = read_dimension(tmp_path / "d.csv", own.members[0], dense=own.dense)
    assert found == own
    assert [(reject.line, reject.reason) for reject in rejects] == [(2, "no valid parent")]


def test_wrong_lines_are_rejected_with_their_reason(tmp_path: Path) -> None:
    lines = [
        ["", "Account", "+ N", "", ""],
        ["Account", "Sales", "+ S", "Rate:average", ""],
        ["Acount", "Costs", "- S", "", ""],
        ["Account", "Sales", "- S", "", ""],
        ["Account", "Costs", "* S", "", ""],
        ["Account", "Costs", "- S", "Rate:daily", ""],
        ["Account", "Costs", "- S"],
        ["Account", "Share", "~ X", "", '"Sales" / "Total";'],
        ["Account", "Half", "~ X", "", "Sales / 2;"],
        ["Account", "", "+ S", "", ""],
    ]
    path = tmp_path / "account.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([HEADER, *lines])
    found, rejects = read_dimension(path, Member("Account", None), dense=True)
    assert [member.name for member in found.members] == ["Account", "Sales"]
    assert {reject.line: reject.reason for reject in rejects} == {
        2: "no valid parent",
        4: "no valid parent: 'Acount'",
        5: "Sales is a child of Account already",
        6: "no property '*'",
        7: "no attribute 'Rate:daily'",
        8: "3 fields, not 5",
        9: "its formula names Total, which is no member",
        10: "no ratio of two members: 'Sales / 2;'",
        11: "no name",
    }
    write_rejects(rejects, tmp_path / "rejects.txt")
    assert "line 4: no valid parent: 'Acount'" in (tmp_path / "rejects.txt").read_text()


def read(path: Path, *lines: str) -> tuple[list[str], dict[int, str]]:
    path.write_text("\n".join([",".join(HEADER), *lines]) + "\n")
    found, rejects = read_dimension(path, Member("R", None), dense=False)
    return [own.name for own in found.members], {own.line: own.reason for own in rejects}


def test_a_rejected_line_takes_its_subtree_with_it(tmp_path: Path) -> None:
    members, rejects = read(
        tmp_path / "d.csv",
        "R,A,+ S,,",
        'R,B,~ X,,"""A"" / ""None"";"',
        "B,B1,+ S,,",
        "B1,B2,+ S,,",
        "A,B2,+ S,,",
        'R,C,~ X,,"""A"" / ""B1"";"',
    )
    assert members == ["R", "A"]
    assert rejects == {
        3: "its formula names None, which is no member",
        4: "its parent B is rejected",
        5: "its parent B1 is rejected",
        6: "B2, which it shares, is rejected",
        7: "its formula names B1, which is no member",
    }


def test_no_member_is_below_itself(tmp_path: Path) -> None:
    members, rejects = read(
        tmp_path / "d.csv", "R,A,+,,", "A,B,+,,", "B,A,+,,", "B,B,+,,", "A,R,+,,", "R,C,+,,",
        "C,B,+,,", "B,C,+,,",
    )  # fmt: skip
    assert members == ["R", "A", "B", "C", "B"]
    assert rejects == {
        4: "A cannot be below itself",
        5: "B cannot be below itself",
        6: "R cannot be below itself",
        9: "C cannot be below itself",
    }


def test_names_are_the_same_in_any_case(tmp_path: Path) -> None:
    members, rejects = read(
        tmp_path / "d.csv", ",r,+ n,,", "r,Sales,+ s,Rate:Average,", "R,COGS,- S,,",
        "sales,Tea,+ S,,", 'R,Margin,~ x,,"""SALES"" / ""cogs"";"', "cogs,TEA,+,,", "r,sales,+,,",
    )  # fmt: skip
    assert members == ["R", "Sales", "Tea", "COGS", "Tea", "Margin"]
    assert rejects == {2: "no valid parent", 8: "Sales is a child of R already"}
    found, _ = read_dimension(tmp_path / "d.csv", Member("R", None), dense=True)
    assert found.members[5].formula == Ratio("Sales", "COGS")
    assert [own.storage for own in found.members if own.name == "Tea"] == ["stored", "shared"]


@pytest.mark.parametrize("lines", [[",Market,+ N,,"], []])
def test_the_root_may_have_another_name(tmp_path: Path, lines: list[str]) -> None:
    members, rejects = read(
        tmp_path / "d.csv", *lines, "Market,East,+ S,,", "east,NY,+ S,,", "MARKET,West,+ S,,"
    )
    assert members == ["Market", "East", "NY", "West"]
    assert rejects == dict.fromkeys([2] if lines else [], "no valid parent")


def test_what_hangs_on_a_rejected_line_is_counted_with_it(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    read(
        path, "R,A,* S,,", "a,B,+ S,,", "B,C,+ S,,", "R,C,+ S,,", 'R,D,~ X,,"""B"" / ""R"";"',
        'R,X,~ X,,"""Y"" / ""R"";"', 'R,Y,~ X,,"""X"" / ""None"";"', "Elsewhere,Z,+ S,,",
    )  # fmt: skip
    _, rejects = read_dimension(path, Member("R", None), dense=False)
    told = [(own.line, own.reason, hanging) for own, hanging in causes(rejects)]
    assert told == [
        (2, "no property '*'", 3),
        (8, "its formula names None, which is no member", 1),
        (9, "no valid parent: 'Elsewhere'", 0),
    ]
    assert len(rejects) == 7  # line 5 is taken: C is not there yet


def test_lines_that_lack_each_other_have_one_cause() -> None:
    rejects = [
        Reject(4, "lacks B", ["R", "A"], "B"),
        Reject(3, "lacks A", ["R", "b"], "a"),
        Reject(2, "lacks A", ["A", "C"], "A"),
    ]
    assert [(own.line, hanging) for own, hanging in causes(rejects)] == [(3, 2)]


_NAMES = st.sampled_from(["R", "A", "B", "C", "D", "r", "a", ""])


@given(
    st.lists(
        st.tuples(
            _NAMES,
            _NAMES,
            st.sampled_from(["+", "~ X", "*"]),
            st.none() | st.tuples(_NAMES, _NAMES),
        ),
        max_size=12,
    )
)
def test_every_line_is_a_member_or_a_reject(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[tuple[str, str, str, tuple[str, str] | None]],
) -> None:
    path = tmp_path_factory.mktemp("lines") / "d.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for parent, child, properties, terms in lines:
            formula = "" if terms is None else f'"{terms[0]}" / "{terms[1]}";'
            writer.writerow([parent, child, properties, "", formula])
    found, rejects = read_dimension(path, Member("R", None), dense=False)
    assert len(found) - 1 + len(rejects) == len(lines)
    assert len({reject.line for reject in rejects}) == len(rejects)
    faults = causes(rejects)
    assert len(faults) + sum(hanging for _, hanging in faults) == len(rejects)
    names = {member.name for member in found.members if member.storage != "shared"}
    assert all(member.name in names for member in found.members)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,b\n1,2\n")
    with pytest.raises(WrongInputError, match="begins with 'a,b'"):
        read_dimension(tmp_path / "d.csv", Member("D", None), dense=False)
    with pytest.raises(WrongInputError, match="cannot be read"):
        read_dimension(tmp_path / "none.csv", Member("D", None), dense=False)


@given(st.lists(st.integers(min_value=0, max_value=10**6), min_size=1, max_size=60))
def test_any_tree_comes_back_from_its_file(
    tmp_path_factory: pytest.TempPathFactory, places: list[int]
) -> None:
    builder = DimensionBuilder(Member("R", None))
    path = [0]
    for number, place in enumerate(places):
        path = path[: 1 + place % len(path)]
        path.append(builder.add(path[-1], Member(f"m{number}", 0)))
    own = builder.finished("R", dense=False)
    file = tmp_path_factory.mktemp("tree") / "d.csv"
    write_dimension(own, file)
    assert read_dimension(file, own.members[0], dense=False)[0] == own
