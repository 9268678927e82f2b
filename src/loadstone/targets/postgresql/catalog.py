"""What a PostgreSQL that does not run knows about its settings.

`postgres --describe-config` lists them; `postgres -C name -c name=value` has the value read, and
refused, by the very code that reads it from the configuration file. Neither needs a data folder.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cache

from loadstone.errors import WrongInputError
from loadstone.spec.base import Level
from loadstone.targets.base import SettingInfo
from loadstone.targets.postgresql import settings, values
from loadstone.targets.postgresql.binaries import Binaries
from loadstone.targets.risks import is_unsafe

_SCALES = (("memory", "GB", 1024**3), ("time", "d", 86_400_000_000))
_BASE_UNITS = {
    "memory": {1: "B", 1024: "kB", 8192: "8kB", 1024**2: "MB", 16 * 1024**2: "16MB"},
    "time": {1: "us", 1000: "ms", 1_000_000: "s", 60_000_000: "min"},
}
_CONTEXT_OF_HIDDEN = {
    "debug_io_direct": "postmaster",
    "ignore_invalid_pages": "postmaster",
    "data_directory_mode": "internal",
}
"""Settings that PostgreSQL leaves out of its list; the rest of those need no restart."""


@dataclass(frozen=True)
class _Answer:
    value: str | None
    problem: str
    hint: str


def info(binaries: Binaries, name: str, level: Level) -> SettingInfo:
    """What setting `name` to `level` would need on an owned server of these programs.

    Raises:
        WrongInputError: With PostgreSQL's own words, if it knows no such setting or refuses it.
    """
    present = _ask(binaries, name, None)
    if "unrecognized configuration parameter" in present.problem:
        raise WrongInputError(
            f"PostgreSQL {binaries.version} has no setting {name!r}",
            advice="see its names in the documentation of that version; settings of extensions "
            "cannot be set yet",
        )
    name = _spelling(binaries).get(name.lower(), name)
    context = _contexts(binaries).get(name) or _CONTEXT_OF_HIDDEN.get(name, "superuser")
    answer = _ask(binaries, name, level)
    if "cannot be changed" in answer.problem:
        context = "internal"
    refused = settings.why_refused(name, context)
    if name in settings.OWN:
        refused = "Loadstone sets it itself, to reach the server that it starts"
    if answer.value is None and refused is None:
        raise WrongInputError(
            f"{name} cannot be {values.text(level)!r}: {answer.problem}", advice=answer.hint or None
        )
    return SettingInfo(
        name=name,
        needs=settings.needs(context) if context != "internal" else "restart",
        unsafe=refused is None and is_unsafe(settings.RISKS, name, answer.value),
        default=present.value or "",
        unit=_unit(binaries, name) if refused is None and _is_number(present.value) else "",
        refused=refused,
    )


def default_of(binaries: Binaries, name: str) -> str | None:
    """The default of a setting in its base unit; None if this version has no such setting."""
    return _ask(binaries, name, None).value


def _ask(binaries: Binaries, name: str, level: Level | None) -> _Answer:
    """What the value would be, or what PostgreSQL has against it."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        return _Answer(None, f'unrecognized configuration parameter "{name}"', "")
    return _asked(binaries, name, None if level is None else values.text(level))


@cache
def _asked(binaries: Binaries, name: str, text: str | None) -> _Answer:
    """A plan asks it of each rung and trial."""
    assignment = [] if text is None else ["-c", f"{name}={text}"]
    done = subprocess.run(
        # -C comes first: only then may root ask.
        [
            str(binaries.program("postgres")),
            *("-C", name, "-D", "/", "-c", "config_file=/dev/null"),
            *assignment,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
        env={"LC_ALL": "C"},
        cwd="/",
    )
    if done.returncode == 0:
        return _Answer(done.stdout.removesuffix("\n"), "", "")
    problem = re.search(r"(?:FATAL|ERROR):\s+(.*)", done.stderr)
    hint = re.search(r"HINT:\s+(.*)", done.stderr)
    return _Answer(None, problem[1] if problem else done.stderr.strip(), hint[1] if hint else "")


@cache
def _contexts(binaries: Binaries) -> dict[str, str]:
    output = subprocess.run(
        [str(binaries.program("postgres")), "--describe-config"],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        env={"LC_ALL": "C"},
    ).stdout
    rows = (line.split("\t") for line in output.splitlines())
    return {row[0]: row[1] for row in rows if len(row) > 2}


def _spelling(binaries: Binaries) -> dict[str, str]:
    return {name.lower(): name for name in _contexts(binaries)}


def _is_number(value: str | None) -> bool:
    return value is not None and re.fullmatch(r"-?\d+(\.\d+)?", value) is not None


def _unit(binaries: Binaries, name: str) -> str:
    """The base unit: PostgreSQL says what 1 GB, or 1 d, are in it, if it is of that kind."""
    for kind, unit, size in _SCALES:
        for count in (1, 16, 0.01, 0.0001):
            answer = _ask(binaries, name, f"{count}{unit}")
            if answer.value is not None and _is_number(answer.value) and float(answer.value):
                ratio = count * size / float(answer.value)
                near = min(_BASE_UNITS[kind], key=lambda each, to=ratio: abs(each - to))  # type: ignore[misc]
                return _BASE_UNITS[kind][near]
    return ""
