"""The Java runtime: where it is, which version, and what it makes of flags before it runs anything.

It is asked by `-XX:+PrintFlagsFinal -version`, which is part of a runtime: no JDK is needed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError
from loadstone.placements.account import own_account
from loadstone.targets.jvm.flags import Flag

OLDEST = 17
"""The version that the program is compiled for (`javac --release`)."""
INHERITED = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
"""Variables of the environment from which every JVM takes options. None of them is handed on."""
JAR = "loadstone-ssj.jar"

_ANSWER_S = 60.0
_VERSION = re.compile(r'^(?:\w+ )?version "(?P<text>(?P<major>\d+)[^"]*)"', re.MULTILINE)
_FLAG = re.compile(
    r"\s*[\w ]+?\s+(?P<name>\w+)\s+[:+]?=(?P<value>.*?)\s*"
    r"\{[^{}]*\}\s+\{(?P<origin>[^{}]+)\}\s*"
)
_PICKED_UP = re.compile(r"^(?:NOTE: )?Picked up \S+:.*\n?", re.MULTILINE)
_EMPTY_WORDS = ("Error: Could not create", "Error: A fatal exception", "To see the")
"""Lines by which a JVM says no more than that it does not start."""


@dataclass(frozen=True)
class Started:
    """What a JVM said of itself when it was started with flags, and ended."""

    version: str
    """`17.0.15`."""
    name: str
    """`OpenJDK 64-Bit Server VM (build ...)`."""
    flags: Mapping[str, Flag]


def find_java(named: str | None) -> Path:
    """The program `java`.

    Args:
        named: Its path, or that of the folder of its runtime; None: that of `JAVA_HOME`, or the one
            on the `PATH`.

    Raises:
        WrongInputError: If there is none.
    """
    if named is not None:
        place = Path(named).expanduser()
        found = place / "bin" / "java" if place.is_dir() else place
        if not _runnable(found):
            raise WrongInputError(
                f"java = {named}: there is no program {found}",
                advice="write the path of the program java, or of the folder of its runtime",
            )
        return found.absolute()
    home = os.environ.get("JAVA_HOME")
    if home and _runnable(Path(home) / "bin" / "java"):
        return Path(home) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path is None:
        looked = f"none in JAVA_HOME ({home}), and none" if home else "none"
        raise WrongInputError(
            f"target jvm needs a Java runtime {OLDEST} or later: there is {looked} on the PATH",
            advice="install one (Debian: default-jre-headless), or write target.settings.java",
        )
    return Path(on_path)


def find_jar() -> Path:
    """The program that the JVMs run. It comes with Loadstone, beside the library that it needs.

    Raises:
        WrongInputError: If it was not built.
    """
    folder = Path(str(resources.files("loadstone"))) / "workloads" / "ssj" / "jars"
    jar = folder / JAR
    if not jar.is_file():
        raise WrongInputError(
            f"the program of the JVMs is missing: {jar}",
            advice="a wheel of Loadstone has it; in a checkout scripts/setup builds it with a JDK",
        )
    return jar


def started(java: Path, flags: Iterable[str]) -> Started:
    """Starts a JVM with flags and lets it say what it made of them; it runs no program.

    Raises:
        WrongInputError: If it does not start with them, in its own words, or is too old.
    """
    return _started(java, tuple(flags))


def environment() -> dict[str, str]:
    """The environment of a JVM: none of `INHERITED` is in it, nor much else."""
    options: dict[str, str] = own_account().process_options()["env"]
    return options


def inherited() -> list[str]:
    """The variables of this process from which a JVM would take options. Their text is not told."""
    return [name for name in INHERITED if os.environ.get(name)]


def version_in(said: str) -> tuple[int, str]:
    """The version in what `java -version` says, whatever stands before it.

    Returns:
        Its first number, and all of it.

    Raises:
        TargetError: If there is none.
    """
    found = _VERSION.search(_PICKED_UP.sub("", said))
    if found is None:
        raise TargetError(f"java -version does not tell its version: {_short(said)}")
    return int(found["major"]), found["text"]


def flags_in(printed: str) -> dict[str, Flag]:
    """The flags that `-XX:+PrintFlagsFinal` prints, with where each value comes from."""
    lines = (_FLAG.fullmatch(line) for line in printed.splitlines())
    return {
        found["name"]: Flag(found["value"].strip(), found["origin"].strip())
        for found in lines
        if found is not None
    }


# -- inside ------------------------------------------------------------------------------------
@cache
def _started(java: Path, flags: tuple[str, ...]) -> Started:
    command = [str(java), *flags, "-XX:+PrintFlagsFinal", "-version"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_S,
            env=environment(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WrongInputError(f"{java} does not run: {type(error).__name__}") from error
    if done.returncode != 0:
        raise WrongInputError(
            f"Java does not start with {' '.join(flags) or 'no flag at all'}; it says: "
            f"{_why(done.stderr + done.stdout)}"
        )
    major, text = version_in(done.stderr)
    if major < OLDEST:
        raise WrongInputError(
            f"{java} is Java {text}: {OLDEST} is the oldest that will do",
            advice="install a newer runtime, or write target.settings.java",
        )
    name = _PICKED_UP.sub("", done.stderr).strip().splitlines()[-1]
    return Started(text, name, flags_in(done.stdout))


def _why(said: str) -> str:
    """The lines that tell a cause, in one."""
    lines = [line.strip() for line in _PICKED_UP.sub("", said).splitlines() if line.strip()]
    causes = [line for line in lines if not line.startswith(_EMPTY_WORDS)]
    return _short(" | ".join(dict.fromkeys(causes or lines)) or "nothing")


def _short(text: str) -> str:
    return " ".join(text.split())[:300]


def _runnable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
