"""A job file resolved by fio's own parser: what holds for each job, and for no other."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.workloads.storage.fio_binary import find_fio
from loadstone.workloads.storage.jobs.reading import (
    NAMED,
    JobFile,
    Line,
    Section,
    is_text,
    read_job_file,
    read_job_text,
)

_PARSE_S = 60.0
_QUOTED = re.compile(r'--description=("[^"]*"|\S*)')
_OPTION = re.compile(r"--(?P<option>[a-z0-9_-]+)(?:=\s*(?P<value>\S*))?(?=\s|$)")
_SPACES = re.compile(r"\s")


@dataclass(frozen=True)
class ResolvedJob:
    """A job with all that holds for it: its globals, its variables, its included files.

    Attributes:
        name: Of its section.
        options: As fio calls them, with their values.
    """

    name: str
    options: tuple[tuple[str, str], ...]


def jobs_of(said: str) -> tuple[ResolvedJob, ...]:
    """The jobs of a job file, or of the text that was made of one (`in_full`).

    Args:
        said: Path of a file, or the text.

    Raises:
        WrongInputError: If a line may not be, or fio does not take the file.
    """
    if is_text(said):
        return tuple(_jobs(read_job_text(said)))
    return resolved(read_job_file(Path(said)))


def in_full(path: Path) -> str:
    """A job file as one text that means the same anywhere: no includes, globals or variables.

    Raises:
        WrongInputError: As `jobs_of`.
    """
    lines = [NAMED + path.name]
    for job in jobs_of(str(path)):
        lines.append(f"[{job.name}]")
        lines += [f"{option}={value}" if value else option for option, value in job.options]
    return "\n".join([*lines, ""])


@lru_cache(maxsize=8)
def resolved(file: JobFile) -> tuple[ResolvedJob, ...]:
    """The jobs of a file, if fio's parser makes the same of it as was looked at.

    Args:
        file: Each line of which was looked at before.

    Raises:
        WrongInputError: If fio does not take it, or reads it otherwise.
    """
    spaced = next((each for each in _told_in(file) if _SPACES.search(each.value)), None)
    if spaced is not None:
        raise WrongInputError(
            f"{spaced.file}:{spaced.number}: option {spaced.option} in section [{spaced.section}] "
            "has spaces in its value: write it without"
        )
    if _parts_of(_asked(file)) != _expected(file):
        raise WrongInputError(
            f"fio reads {file.path} otherwise than it is written",
            advice="write one option a line, in plain ASCII, without a byte order mark",
        )
    return tuple(_jobs(file))


def _told_in(file: JobFile) -> list[Line]:
    return [line for section in file.sections for line in _told(section)]


def _jobs(file: JobFile) -> list[ResolvedJob]:
    """Each job with the globals before it; a later line replaces an earlier one."""
    shared: dict[str, str] = {}
    jobs = []
    for section in file.sections:
        own = {line.option: line.value for line in _told(section)}
        if section.is_global:
            shared |= own
        else:
            jobs.append(ResolvedJob(section.name, tuple((shared | own).items())))
    return jobs


def _told(section: Section) -> list[Line]:
    return [line for line in section.lines if line.option != "description"]


def _asked(file: JobFile) -> str:
    """What fio makes of it: its parser alone runs, and sees no variables but those of the file."""
    command = [str(find_fio().path), "--parse-only", "--showcmd", file.path]
    environment = {"PATH": os.environ.get("PATH", os.defpath), **dict(file.variables)}
    try:
        answer = subprocess.run(
            command,
            cwd=Path(file.path).parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PARSE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WrongInputError(f"fio cannot read {file.path}: {error}") from error
    if answer.returncode != 0:
        notes = [line.removeprefix("fio: ") for line in answer.stderr.splitlines() if line.strip()]
        raise WrongInputError(
            f"fio does not take {file.path}: {'; '.join(notes[:3]) or 'it says no more'}"
        )
    return answer.stdout


_Part = tuple[str, list[tuple[str, str]]]
"""Name of a job, empty of what stands before the first; sorted options up to the next one."""


def _parts_of(text: str) -> list[_Part]:
    """Fio prints `fio --GLOBAL=... --name=JOB --OPTION=... --name=JOB ...`."""
    parts: list[_Part] = [("", [])]
    for match in _OPTION.finditer(_QUOTED.sub("", text)):
        option, value = match["option"], match["value"] or ""
        if option == "name":
            parts.append((value, []))
        else:
            parts[-1][1].append((option, value))
    return [(name, sorted(options)) for name, options in parts]


def _expected(file: JobFile) -> list[_Part]:
    """The same of the lines; fio prints all globals so far wherever further ones stand."""
    shared: list[tuple[str, str]] = []
    parts: list[_Part] = [("", [])]
    for section in file.sections:
        own = [(line.option, line.value) for line in _told(section)]
        if section.is_global:
            shared += own
            parts[-1][1].extend(shared)
        else:
            parts.append((section.name.split()[0], own))
    return [(name, sorted(options)) for name, options in parts]
