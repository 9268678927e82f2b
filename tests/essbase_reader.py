"""Reads the files of an Essbase kit from their text alone, and knows nothing of who wrote them.

It follows the formats as Oracle documents them; nothing of Loadstone is imported.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

Cell = tuple[frozenset[str], str]
"""Members, in no order, and what stands in the cell."""


@dataclass(frozen=True)
class Line:
    """A line of a file of parents and children."""

    parent: str
    child: str
    codes: frozenset[str]
    attribute: str
    formula: str


@dataclass(frozen=True)
class Tree:
    """A dimension, as a server would build it from such a file."""

    root: str
    lines: tuple[Line, ...]
    """Without the root's, in their order."""

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset([self.root, *(line.child for line in self.lines)])

    @cached_property
    def below(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for line in self.lines:
            found.setdefault(line.parent, []).append(line.child)
        return found

    def leaves(self, name: str) -> list[str]:
        """What `@RELATIVE(name, 0)` gives."""
        below = self.below.get(name)
        if not below:
            return [name]
        return [leaf for child in below for leaf in self.leaves(child)]


def read_tree(path: Path) -> Tree:
    with path.open(newline="", encoding="utf-8") as file:
        header, first, *rows = csv.reader(file)
    assert header == ["parent", "child", "properties", "uda", "formula"]
    assert first[0] == ""
    known = {first[1]}
    lines = []
    for parent, child, properties, attribute, formula in rows:
        assert parent in known, f"{child} comes before its parent {parent}"
        known.add(child)
        lines.append(Line(parent, child, frozenset(properties.split()), attribute, formula))
    return Tree(first[1], tuple(lines))


def read_native(path: Path) -> Iterator[Cell]:
    """Each cell of a native file; what is missing is none."""
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    columns = re.findall(r'"([^"]*)"', header)
    assert re.sub(r'"[^"]*"', "", header).strip() == ""
    view: list[str] | None = None
    for line in lines:
        names, rest = re.findall(r'"([^"]*)"', line), re.sub(r'"[^"]*"', "", line).split()
        if not rest:
            view = names
            continue
        assert view is not None
        assert len(names) == 1
        for column, value in zip(columns, rest, strict=True):
            if value != "#Mi":
                yield frozenset([*view, names[0], column]), value


def read_cells(path: Path) -> Iterator[tuple[int, Cell]]:
    """Each line of the file of cells, with its number; the header is line 1."""
    with path.open(encoding="utf-8") as file:
        header = file.readline().rstrip("\n").split(",")
        assert header[-1] == "Data"
        assert len(header) == 9
        for number, line in enumerate(file, start=2):
            *members, value = line.rstrip("\n").split(",")
            yield number, (frozenset(members), value)


@dataclass(frozen=True)
class Factor:
    """A formula of the conversion, with all that it is fixed on."""

    fixed: tuple[str, ...]
    period: str
    factor: str


def read_factors(text: str) -> Iterator[Factor]:
    """The formulas `"P" = "P" * number;` of a calculation script, within their FIX blocks."""
    stack: list[list[str]] = []
    for line in re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).splitlines():
        words = line.strip()
        if words.startswith("FIX("):
            stack.append(_arguments(words.removeprefix("FIX(").removesuffix(")")))
        elif words == "ENDFIX":
            stack.pop()
        elif match := re.fullmatch(r'"([^"]+)" = "([^"]+)" \* ([0-9.]+);', words):
            assert match[1] == match[2]
            yield Factor(tuple(each for fixed in stack for each in fixed), match[1], match[3])
    assert not stack


def expanded(term: str, tree: Tree) -> list[str]:
    """The members of a dimension that a term of a FIX gives; none for one of another dimension."""
    if match := re.fullmatch(r'@RELATIVE\("([^"]+)", 0\)', term):
        return tree.leaves(match[1]) if match[1] in tree.names else []
    name = term.strip('"')
    return [name] if name in tree.names else []


def statements(text: str) -> list[str]:
    """The statements of a script for the MaxL shell, without comments."""
    plain = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return [" ".join(own.split()) for own in plain.split(";") if own.strip()]


def _arguments(text: str) -> list[str]:
    """Terms at commas that are in no bracket."""
    found, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [own.strip() for own in found]
