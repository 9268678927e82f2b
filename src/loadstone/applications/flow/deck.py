"""A deck as far as a job needs to know it: its files, its report steps, what its summary has.

Only the keywords below are read; Flow judges the rest. The deck is staged with the files that it
includes, under its own name in capitals, because Flow writes its output in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from loadstone.applications.base import InputFile
from loadstone.errors import WrongInputError

COMPARED = ("FOPT", "FGPT", "FWIT", "FPR", "WBHP")
"""Vectors of the summary by which results are compared."""
_ALL = "ALL"
"""Asks for a set of vectors that holds the first four."""
_KEYWORD = re.compile(r"[A-Z][A-Z0-9_+-]{0,7}(?=$|\s)")
_TOKEN = re.compile(r"'[^']*'|[^\s/']+|/")
_INNER_SLASH = re.compile(r"(?<=[^\s'])/(?=[^\s/])")
"""Of a path without quotes: `include/grid.inc`."""
_REPEATED = re.compile(r"(\d+)\*(\S*)")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Deck:
    """What was found in a deck and in the files that it includes."""

    case: str
    """Name of the output: `SPE1` of `spe1.data`."""
    files: tuple[InputFile, ...]
    """The deck first, under its name in capitals."""
    report_steps: int
    compared: frozenset[str]
    """Of `COMPARED`, those that its summary will have."""


@dataclass
class _Found:
    files: dict[str, Path] = field(default_factory=dict)
    report_steps: int = 0
    compared: set[str] = field(default_factory=set)
    ended: bool = False


def read_deck(path: Path) -> Deck:
    """Reads a deck with its includes.

    Raises:
        WrongInputError: If a file is missing or lies elsewhere, the deck restarts another run, its
            name cannot be that of a case, it has no report step, or nothing to compare.
    """
    if not _NAME.fullmatch(path.stem):
        raise WrongInputError(
            f"the deck {path.name} cannot be the name of a case: a name begins with a letter and "
            "has letters, digits, dashes and underscores",
            advice="rename the deck, as MODEL_1.DATA",
        )
    found = _Found()
    _Reader(path.parent, found).read(path)
    if found.report_steps == 0:
        raise WrongInputError(
            f"the deck {path.name} has no report step",
            advice="give TSTEP or DATES in its SCHEDULE section",
        )
    if not found.compared:
        raise WrongInputError(
            f"the summary of the deck {path.name} has none of {', '.join(COMPARED)}, so no result "
            "of it can be compared",
            advice="name them in its SUMMARY section",
        )
    case = path.stem.upper()
    files = [InputFile(path, f"{case}.DATA")]
    files += [InputFile(each, name) for name, each in found.files.items()]
    return Deck(case, tuple(files), found.report_steps, frozenset(found.compared))


class _Reader:
    """Reads files of one deck, in the order in which Flow does."""

    def __init__(self, folder: Path, found: _Found) -> None:
        self._folder = folder
        self._found = found
        self._open: list[Path] = []

    def read(self, path: Path) -> None:
        """One file, and those that it includes."""
        if path in self._open:
            raise WrongInputError(f"{path.name} includes itself")
        self._open.append(path)
        lines = _lines(path)
        for line in lines:
            match = _KEYWORD.match(line)
            if match is not None:
                self._take(match.group(), line[match.end() :], lines, path)
            if self._found.ended:
                break
        self._open.pop()

    def _take(self, word: str, rest: str, lines: Iterator[str], path: Path) -> None:
        if word == "END":
            self._found.ended = True
        elif word == "TITLE":
            next(lines, None)
        elif word == "SKIP":
            _pass_over(lines)
        elif word in ("INCLUDE", "GDFILE", "IMPORT"):
            name, file = self._named(word, _record(rest, lines), path)
            self._found.files[name] = file
            if word == "INCLUDE":
                self.read(file)
        elif word == "TSTEP":
            self._found.report_steps += sum(_times(each) for each in _record(rest, lines))
        elif word == "DATES":
            while _record("", lines):
                self._found.report_steps += 1
        elif word == "PATHS":
            raise WrongInputError(
                f"{path.name} has PATHS, with which the files that it includes are not found here",
                advice="name the included files relative to the deck",
            )
        elif word == "RESTART":
            _refuse_restart(_record(rest, lines), path)
        elif word in COMPARED:
            self._found.compared.add(word)
        elif word == _ALL:
            self._found.compared.update(COMPARED[:4])

    def _named(self, word: str, record: list[str], by: Path) -> tuple[str, Path]:
        """The file that a record names, and its name in the working folder."""
        name = PurePosixPath(record[0].strip("'").replace("\\", "/")) if record else None
        if name is None or name.is_absolute() or ".." in name.parts:
            raise WrongInputError(
                f"{by.name}: {word} {name or 'without a file'}: it is not below the folder of the "
                "deck, so it cannot be staged with it",
                advice="copy the file beside the deck, and name it relative to it",
            )
        path = self._folder / name
        if not path.is_file():
            raise WrongInputError(f"{by.name}: {word} {name}: there is no file {path}")
        return str(name), path


def _lines(path: Path) -> Iterator[str]:
    """Lines without comments. Decks are ASCII; other bytes stand in comments and titles."""
    try:
        with path.open(encoding="latin-1") as file:
            for line in file:
                yield line.partition("--")[0].strip()
    except OSError as error:
        raise WrongInputError(f"{path} cannot be read: {error.strerror}") from error


def _refuse_restart(record: list[str], path: Path) -> None:
    """RESTART of the SOLUTION section has a name and a step; it is also a mnemonic elsewhere."""
    if len(record) > 1 and record[1].isdigit():
        raise WrongInputError(
            f"{path.name} restarts another run: values of that run may stand in its output",
            advice="give a deck that begins with its own equilibration",
        )


def _record(first: str, lines: Iterator[str]) -> list[str]:
    """The tokens up to the next slash that ends a record; slashes within paths end none."""
    tokens: list[str] = []
    line: str | None = first
    while line is not None:
        for token in _TOKEN.findall(_INNER_SLASH.sub("\0", line)):
            if token == "/":  # noqa: S105 - no secret
                return tokens
            tokens.append(token.replace("\0", "/"))
        line = next(lines, None)
    return tokens


def _times(token: str) -> int:
    match = _REPEATED.fullmatch(token)
    return int(match.group(1)) if match else 1


def _pass_over(lines: Iterator[str]) -> None:
    for line in lines:
        if line.startswith("ENDSKIP"):
            return
