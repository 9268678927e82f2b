"""Where a file of cells may be cut so that each part means the same by itself.

* A CSV: between its records. One may go on over several lines, within quotes.
* A native export of a block-storage cube: a header of quoted members, the columns; then blocks.
  A block begins with lines of members alone. The rows below them have members of their own, and
  members of further dense dimensions may stand alone between them: what is not said again stays as
  it was. So it is cut only before lines that say as much as those of the first block.
* An export without such lines, in columns or of an aggregate-storage cube: a row may say only the
  members that are others than in the row before it. It is cut before rows that say as many as the
  first.
"""

from __future__ import annotations

import codecs
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

_MEMBERS = re.compile(rb'\s*"[^"]+"(?:\s+"[^"]+")*\s*')
_ROW = re.compile(rb'\s*(?:"[^"]+"\s+)+[-+.\d#][^,"]*')
_READ_BYTES = 1 << 20


class Borders(ABC):
    """Where one kind of file may be cut."""

    @abstractmethod
    def next(self, file: BinaryIO, about: int) -> int:
        """The first place to cut at, at this one or behind it; the end of the file if none is."""


def borders_of(file: BinaryIO) -> Borders:
    """The borders of a file, which is left behind its header.

    Args:
        file: At its beginning.
    """
    line = file.readline()
    first = line.removeprefix(codecs.BOM_UTF8)
    if _ROW.fullmatch(first):
        return _Export.begun(file, len(line) - len(first))
    if _MEMBERS.fullmatch(first):
        return _Export.begun(file, file.tell())
    while line.count(b'"') % 2 and (more := file.readline()):
        line += more
    return _Records(file.tell())


class _Records(Borders):
    """Ends of lines of a CSV that lie outside of quotes."""

    def __init__(self, begin: int) -> None:
        self._known = begin
        """A place outside of quotes."""

    def next(self, file: BinaryIO, about: int) -> int:
        file.seek(self._known)
        quotes, left = 0, max(0, about - 1 - self._known)
        while left and (data := file.read(min(_READ_BYTES, left))):
            quotes += data.count(b'"')
            left -= len(data)
        while line := file.readline():
            quotes += line.count(b'"')
            if quotes % 2 == 0:
                break
        self._known = file.tell()
        return self._known


@dataclass(frozen=True)
class _Line:
    """A line of an export that is not blank."""

    at: int
    members: int
    has_amounts: bool


@dataclass(frozen=True)
class _Export(Borders):
    """Lines of an export that say as much as its first ones, and depend on none before them."""

    views: int
    """Lines of members alone before the first row."""
    members: int
    """Of the first of them; without one, 0."""
    of_row: int
    """Members of the first row."""

    @classmethod
    def begun(cls, file: BinaryIO, begin: int) -> _Export:
        """An export whose first lines are there; leaves the file there."""
        views: list[_Line] = []
        of_row = 0
        for line in _lines(file, begin):
            if line.has_amounts:
                of_row = line.members
                break
            views.append(line)
        file.seek(begin)
        return cls(len(views), views[0].members if views else 0, of_row)

    def next(self, file: BinaryIO, about: int) -> int:
        file.seek(about - 1)
        before = file.readline()
        views: list[_Line] = []
        # Below a line without amounts, a block may have begun above.
        begun = not self.views or _has_amounts(before)
        for line in _lines(file, file.tell()):
            if not line.has_amounts:
                views.append(line)
                continue
            if begun and self._is_full(views, line):
                return (views or [line])[0].at
            begun, views = True, []
        return file.seek(0, 2)

    def _is_full(self, views: list[_Line], row: _Line) -> bool:
        members = views[0].members if views else 0
        return (len(views), members, row.members) == (self.views, self.members, self.of_row)


def _lines(file: BinaryIO, begin: int) -> Iterator[_Line]:
    file.seek(begin)
    at = begin
    for line in iter(file.readline, b""):
        if line.strip():
            yield _Line(at, line.count(b'"') // 2, _has_amounts(line))
        at += len(line)


def _has_amounts(line: bytes) -> bool:
    return bool(line.rpartition(b'"')[2].strip())
