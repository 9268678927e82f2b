"""A dimension as a file of parents and children, as Essbase builds dimensions from.

A line is a member: `parent,child,properties,uda,formula`. Properties are Essbase's codes, with
blanks between them: the consolidation (`+`, `-`, `~`), the storage (`S` stored, `N` stored and
never shared by implication, `X` dynamic, `O` label-only), `L` for accounts of which a period of
periods shows the last, and `T` for formulas that need a second pass, behind the totals of periods.
A member that comes again below another parent is shared there. User-defined attributes tell what
Loadstone needs besides: `Rate:average`, `Currency:EUR`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from loadstone.errors import WrongInputError
from loadstone.text import read_lines
from loadstone.workloads.cube.outline.model import (
    Consolidation,
    Dimension,
    DimensionBuilder,
    Member,
    RateType,
    Ratio,
    Storage,
)
from loadstone.workloads.cube.outline.rejects import NotTakenError, Reject, folded

HEADER = ("parent", "child", "properties", "uda", "formula")
_STORAGES: Mapping[str, Storage] = {
    "S": "stored",
    "N": "stored",
    "X": "dynamic",
    "O": "label-only",
}
_CONSOLIDATIONS: Mapping[str, Consolidation] = {"+": "+", "-": "-", "~": "~"}
_LAST, _TWO_PASS = "L", "T"
_RATES: Mapping[str, RateType] = {rate: rate for rate in get_args(RateType)}


def write_dimension(dimension: Dimension, path: Path) -> None:
    """Writes all members of a dimension, the root first."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for number, member in enumerate(dimension.members):
            parent = "" if member.parent is None else dimension.members[member.parent].name
            writer.writerow((parent, member.name, *_told(member, bool(dimension.children[number]))))


def read_dimension(path: Path, root: Member, *, dense: bool) -> tuple[Dimension, list[Reject]]:
    """Builds a dimension below its root, which is there already.

    Names are compared as Essbase does, without regard to case; the first spelling of one stands.

    Args:
        path: Lines of members, each after its parent.
        root: Of the dimension, whose name it has; in the file it may have another. Its own line has
            no valid parent: it is always among the rejects, and nothing is lost by that.
        dense: Kind of the dimension.

    Returns:
        The dimension, with its members in the order of the outline, and the lines not taken.

    Raises:
        WrongInputError: If the file cannot be read, or is none of members.
    """
    rows = list(_rows(path))
    name, root = root.name, replace(root, name=_root_name(rows, root.name))
    accepted, rejects = _accepted(rows, root)
    accepted = _lasting(accepted, root, rejects)
    children: dict[str, list[Member]] = {own.member.name: [] for own in accepted}
    children[root.name] = []
    for own in accepted:
        children[own.parent].append(own.member)
    builder = DimensionBuilder(root)
    waiting = [(0, member) for member in reversed(children[root.name])]
    while waiting:
        parent_number, member = waiting.pop()
        number = builder.add(parent_number, member)
        if member.storage != "shared":
            waiting += [(number, below) for below in reversed(children[member.name])]
    return builder.finished(name, dense=dense), sorted(rejects, key=lambda own: own.line)


_Rows = list[tuple[int, list[str]]]
"""Each with its line."""


def _root_name(rows: _Rows, usual: str) -> str:
    """The name of the root: the usual one if lines name it as a parent.

    Else that of a line without a parent on which others hang, or else the first parent of all.
    """
    pairs = [(row[0], row[1]) for _, row in rows if len(row) > 1]
    parents = [parent for parent, _ in pairs if parent]
    known = {folded(parent) for parent in parents}
    if folded(usual) in known or not parents:
        return usual
    roots = [child for parent, child in pairs if not parent and folded(child) in known]
    return (roots or parents)[0]


@dataclass(frozen=True)
class _Line:
    """A line that is taken, as far as the lines before it show."""

    line: int
    row: list[str]
    parent: str
    member: Member


def _accepted(rows: _Rows, root: Member) -> tuple[list[_Line], list[Reject]]:
    accepted: list[_Line] = []
    rejects: list[Reject] = []
    spelt = {folded(root.name): root.name}
    above: dict[str, set[str]] = {root.name: set()}
    for line, row in rows:
        names = [spelt.get(folded(name), name) for name in row[:2]]
        try:
            parent, member = _member([*names, *row[2:]], above)
        except NotTakenError as error:
            rejects.append(Reject(line, str(error), row, error.lacks))
            continue
        accepted.append(_Line(line, row, parent, member))
        spelt.setdefault(folded(member.name), member.name)
        above.setdefault(member.name, set()).add(parent)
    return [replace(own, member=_respelt(own.member, spelt)) for own in accepted], rejects


def _respelt(member: Member, spelt: Mapping[str, str]) -> Member:
    """With the names of its formula as the lines of these members have them."""
    if member.formula is None:
        return member
    terms = (member.formula.numerator, member.formula.denominator)
    return replace(member, formula=Ratio(*(spelt.get(folded(term), term) for term in terms)))


def _lasting(accepted: list[_Line], root: Member, rejects: list[Reject]) -> list[_Line]:
    """Those whose formula, parent and shared member are there; the others are added to the rejects.

    A line that is rejected takes others with it, until nothing changes.
    """
    while True:
        names = {own.member.name for own in accepted if own.member.storage != "shared"}
        names.add(root.name)
        lasting = []
        for own in accepted:
            lacking = _lacking(own, names)
            if lacking is None:
                lasting.append(own)
            else:
                rejects.append(Reject(own.line, str(lacking), own.row, lacking.lacks))
        if len(lasting) == len(accepted):
            return lasting
        accepted = lasting


def _lacking(own: _Line, names: set[str]) -> NotTakenError | None:
    formula = own.member.formula
    unknown = {formula.numerator, formula.denominator} - names if formula else set()
    if unknown:
        name = min(unknown)
        return NotTakenError(f"its formula names {name}, which is no member", name)
    if own.parent not in names:
        return NotTakenError(f"its parent {own.parent} is rejected", own.parent)
    if own.member.name not in names:
        name = own.member.name
        return NotTakenError(f"{name}, which it shares, is rejected", name)
    return None


def _told(member: Member, has_children: bool) -> tuple[str, str, str]:
    codes = {"dynamic": "X", "label-only": "O"}
    storage = codes.get(member.storage, "N" if has_children else "S")
    properties = [member.consolidation, storage, *([_LAST] if member.balance == "last" else [])]
    properties += [_TWO_PASS] if member.two_pass else []
    attributes = {"Rate": member.rate, "Currency": member.currency}
    told = [f"{name}:{value}" for name, value in attributes.items() if value is not None]
    formula = "" if member.formula is None else f"{member.formula};"
    return " ".join(properties), " ".join(told), formula


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(read_lines(path))
    try:
        header = next(reader, [])
        if tuple(header) != HEADER:
            raise WrongInputError(
                f"{path} begins with {','.join(header)[:80]!r}, not with {','.join(HEADER)!r}",
                advice="give a file of parents and children with this header",
            )
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise WrongInputError(f"{path} cannot be read: {error}") from error


def _member(row: list[str], above: Mapping[str, set[str]]) -> tuple[str, Member]:
    """A line's member, and its parent's name.

    Args:
        row: The fields.
        above: The parents of each member so far; one that is shared has several.

    Raises:
        NotTakenError: It says why the line is not taken.
    """
    if len(row) != len(HEADER):
        raise NotTakenError(f"{len(row)} fields, not {len(HEADER)}")
    parent, child, properties, attributes, formula = row
    if parent not in above:
        told = f"no valid parent: {parent!r}" if parent else "no valid parent"
        raise NotTakenError(told, parent or None)
    if not child:
        raise NotTakenError("no name")
    member = Member(child, 0, rate=None, formula=_ratio(formula))
    member = _with_attributes(_with_properties(member, properties), attributes)
    if child in above:
        if parent in above[child]:
            raise NotTakenError(f"{child} is a child of {parent} already")
        if child == parent or child in _ancestors(parent, above):
            raise NotTakenError(f"{child} cannot be below itself")
        member = replace(member, storage="shared")
    return parent, member


def _ancestors(name: str, above: Mapping[str, set[str]]) -> set[str]:
    """All members above one, by way of shared members as well."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = above[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _with_properties(member: Member, properties: str) -> Member:
    for code in properties.upper().split():
        if code in _CONSOLIDATIONS:
            member = replace(member, consolidation=_CONSOLIDATIONS[code])
        elif code in _STORAGES:
            member = replace(member, storage=_STORAGES[code])
        elif code == _LAST:
            member = replace(member, balance="last")
        elif code == _TWO_PASS:
            member = replace(member, two_pass=True)
        else:
            raise NotTakenError(f"no property {code!r}")
    return member


def _with_attributes(member: Member, attributes: str) -> Member:
    for attribute in attributes.split():
        name, _, value = attribute.partition(":")
        if name.lower() == "rate" and value.lower() in _RATES:
            member = replace(member, rate=_RATES[value.lower()])
        elif name.lower() == "currency" and value:
            member = replace(member, currency=value)
        else:
            raise NotTakenError(f"no attribute {attribute!r}")
    return member


def _ratio(formula: str) -> Ratio | None:
    if not formula:
        return None
    parts = formula.removesuffix(";").split('"')
    if len(parts) != 5 or [part.strip() for part in parts[::2]] != ["", "/", ""]:
        raise NotTakenError(f"no ratio of two members: {formula!r}")
    return Ratio(parts[1], parts[3])
