"""A job file, read line by line as fio reads it, and refused at the first line that may not be.

fio's own parser is no safe place for a file of somebody: it loads an engine from a path while it
parses, and hands arithmetic with its keywords to a shell. So each line is looked at before fio sees
it. Of what is then left, fio makes the jobs (`resolving`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.secret import masked
from loadstone.text import read_text
from loadstone.workloads.storage.jobs.options import ALIASES, REFUSED, refusal

_LONGEST_LINE = 2000
_MOST_BYTES = 1 << 20
_DEEPEST = 8
_SECTION = re.compile(r"[A-Za-z0-9_. +-]{1,60}")
_OPTION = re.compile(r"[A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_COMMENT = re.compile("[;#]")
_GLOBAL = "global"
NAMED = "; resolved from "


@dataclass(frozen=True)
class Line:
    """An option of a section.

    Attributes:
        file: That it stands in, an included one as it may be.
        number: From 1.
        section: Whose option it is.
        option: As fio calls it, whatever alias was written.
        value: With its variables put in; empty where none is written.
    """

    file: str
    number: int
    section: str
    option: str
    value: str


@dataclass(frozen=True)
class Section:
    """A section: of a job, or one whose options hold for those after it.

    Attributes:
        name: In the brackets.
        lines: In order, those of included files among them.
    """

    name: str
    lines: tuple[Line, ...]

    @property
    def is_global(self) -> bool:
        """Whether it is no job; fio looks at how the name begins."""
        return self.name.startswith(_GLOBAL)


@dataclass(frozen=True)
class JobFile:
    """What a job file says, looked at and not yet resolved.

    Attributes:
        path: Of the file, from the root.
        sections: In order.
        variables: Of the environment that it uses, with their values.
    """

    path: str
    sections: tuple[Section, ...]
    variables: tuple[tuple[str, str], ...]


def read_job_file(path: Path, environment: Mapping[str, str] = os.environ) -> JobFile:
    """Reads a job file with all that it includes.

    Args:
        path: Of the file.
        environment: For its variables.

    Raises:
        WrongInputError: At the first line that may not be, with its option, section and file.
    """
    reader = _Reader(path.absolute(), environment)
    reader.read(_text_of(reader.path))
    if not any(not each.is_global for each in reader.sections):
        raise WrongInputError(f"{path} has no job: a section as [random-read] is one")
    return JobFile(
        str(reader.path), tuple(reader.sections), tuple(sorted(reader.variables.items()))
    )


def read_job_text(text: str) -> JobFile:
    """Reads what `resolving.in_full` wrote: a job file without includes and variables.

    Raises:
        WrongInputError: As `read_job_file`.
    """
    reader = _Reader(Path(name_in(text)), {})
    reader.read(text)
    return JobFile(str(reader.path), tuple(reader.sections), ())


def is_text(said: str) -> bool:
    """Whether a word is the text of a job file, and not the path of one."""
    return "\n" in said


def name_in(text: str) -> str:
    """Name of the file of which a text was made; its first line has it."""
    first = text.partition("\n")[0]
    return first.removeprefix(NAMED).strip() if first.startswith(NAMED) else "the job file"


class _Reader:
    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        self.path = path
        self.sections: list[Section] = []
        self.variables: dict[str, str] = {}
        self._environment = environment

    def read(self, whole: str) -> None:
        """Reads the text of the job file itself."""
        name: str | None = None
        lines: list[Line] = []
        for number, text in self._lines(self.path, whole):
            if text.startswith("["):
                self._end(name, lines)
                name, lines = self._section(self.path, number, text), []
            elif name is None:
                raise _wrong(self.path, number, f"{text!r} stands before the first section")
            else:
                lines += self._options(self.path, number, name, text)
        self._end(name, lines)

    def _end(self, name: str | None, lines: list[Line]) -> None:
        """Ends a section, in which each option stands once: fio does not keep their order."""
        if name is None:
            return
        seen: dict[str, Line] = {}
        for line in lines:
            before = seen.setdefault(line.option, line)
            if before is not line:
                raise WrongInputError(
                    f"{line.file}:{line.number}: option {line.option} in section [{name}] stands "
                    f"in {before.file}:{before.number} too: keep one"
                )
        self.sections.append(Section(name, tuple(lines)))

    def _lines(self, path: Path, text: str) -> Iterator[tuple[int, str]]:
        """Those that say something, without comments and spaces around them."""
        for number, line in enumerate(text.split("\n"), start=1):
            if len(line) > _LONGEST_LINE:
                raise _wrong(path, number, "too long for a line of a job file")
            if any(not each.isprintable() and each not in "\t\r" for each in line):
                raise _wrong(path, number, "a character that cannot be printed")
            said = _COMMENT.split(line)[0].strip()
            if not said.isascii():
                raise _wrong(path, number, "a character that is not ASCII")
            if said:
                yield number, said

    def _section(self, path: Path, number: int, text: str) -> str:
        name = text[1:-1]
        if not text.endswith("]") or not _SECTION.fullmatch(name):
            raise WrongInputError(
                f"{path}:{number}: section {text}: a name of letters, digits and . _ + - is "
                "expected: fio takes a section that is called like a device for that device",
                advice="call it by what it does; --on says where",
            )
        return name

    def _options(
        self, path: Path, number: int, section: str, text: str, depth: int = 0
    ) -> list[Line]:
        """The option of a line, or those of the file that it includes."""
        if text.startswith("include"):
            return self._included(path, number, section, text, depth)
        written, _, value = (each.strip() for each in text.partition("="))
        option = ALIASES.get(written, written)
        if not _OPTION.fullmatch(written):
            raise _wrong(path, number, f"{masked(text)!r} in section [{section}] is no option")
        reason = refusal(option, value) if option in REFUSED else None
        if reason is None:
            value = self._put_in(path, number, section, option, value)
            reason = "it uses a keyword of fio" if "$" in value else refusal(option, value)
        if reason is not None:
            raise WrongInputError(
                f"{path}:{number}: {masked(text)} in section [{section}] is refused: {reason}",
                advice="take the line out, or write it otherwise",
            )
        return [Line(str(path), number, section, option, value)]

    def _included(self, path: Path, number: int, section: str, text: str, depth: int) -> list[Line]:
        """As fio looks for it: from the folder of the job file, then from that of the includer."""
        name = text[len("include") + 1 :].strip()
        if depth >= _DEEPEST or not name or "$" in name:
            raise _wrong(path, number, f"{text!r} in section [{section}] cannot be followed")
        found = next(
            (each for each in (self.path.parent / name, path.parent / name) if each.exists()), None
        )
        if found is None or not found.is_file():
            raise _wrong(path, number, f"include {name!r} in section [{section}]: no such file")
        lines: list[Line] = []
        for at, line in self._lines(found, _text_of(found)):
            if line.startswith("["):
                raise _wrong(found, at, "an included file has no sections")
            lines += self._options(found, at, section, line, depth + 1)
        return lines

    def _put_in(self, path: Path, number: int, section: str, option: str, value: str) -> str:
        """The value with its variables."""

        def of(match: re.Match[str]) -> str:
            name = match[1]
            if name not in self._environment:
                raise WrongInputError(
                    f"{path}:{number}: option {option} in section [{section}] uses ${{{name}}}, "
                    "which is not set",
                    advice=f"set it: {name}=VALUE loadstone ...",
                )
            self.variables[name] = self._environment[name]
            return self.variables[name]

        return _VARIABLE.sub(of, value)


def _text_of(path: Path) -> str:
    if not path.is_file():
        raise WrongInputError(f"there is no file {str(path)!r}")
    return read_text(path, at_most_bytes=_MOST_BYTES)


def _wrong(path: Path, number: int, what: str) -> WrongInputError:
    return WrongInputError(f"{path}:{number}: {what}")
