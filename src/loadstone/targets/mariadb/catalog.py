"""What a MariaDB that does not run knows about its settings.

The list of settings is the server's own (`information_schema.SYSTEM_VARIABLES`). It is read once
for each build: a server without network starts in an empty folder of Loadstone's cache, writes the
list to a file there and ends itself, which takes a fraction of a second. Levels are given to
`mariadbd --verbose --help`, which reads them by the very code that reads the option file, and says
what it refuses or would change; nothing is started for that.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from loadstone.cache import cache_folder, locked
from loadstone.errors import TargetError
from loadstone.spec.base import Level
from loadstone.targets.mariadb import values
from loadstone.targets.mariadb.binaries import Binaries

COLUMNS = (
    "variable_name, variable_scope, variable_type, default_value, numeric_min_value, "
    "numeric_max_value, enum_value_list, read_only, command_line_argument"
)
OPTION_NAMES = {"log_bin": "log_bin", "tx_isolation": "transaction_isolation"}
"""Variables whose option has another name, or that the list does not show to have one."""
_ALIASES = {option: name for name, option in OPTION_NAMES.items()}
_TINY = (
    "--innodb-buffer-pool-size=8M",
    "--innodb-log-file-size=4M",
    "--innodb-fast-shutdown=2",
    "--skip-grant-tables",
    "--skip-networking",
    "--skip-log-bin",
)


@dataclass(frozen=True)
class Variable:
    """A row of SYSTEM_VARIABLES."""

    name: str
    scope: str
    kind: str
    default: str
    least: str | None
    greatest: str | None
    choices: tuple[str, ...]
    read_only: bool
    has_option: bool

    @property
    def option(self) -> str:
        """Its name in an option file."""
        return OPTION_NAMES.get(self.name, self.name)

    def text(self, level: Level) -> str:
        """A level as the server reads it."""
        return values.text(level, self.kind)

    def plain(self, value: str) -> str:
        """The one spelling of a value.

        Raises:
            ValueError: If it is not one of its values.
        """
        return values.normalised(value, self.kind, self.choices)

    def same(self, one: str, other: str) -> bool:
        """Whether two of its values mean the same."""
        return values.same(one, other, self.kind, self.choices)


def plain_name(name: str) -> str:
    """The variable's name: dashes, case and the names of options do not matter."""
    lower = name.strip().lower().replace("-", "_")
    return _ALIASES.get(lower, lower)


def from_row(row: tuple[str | None, ...]) -> Variable:
    """A variable from the columns of `COLUMNS`."""
    name, scope, kind, default, least, greatest, choices, read_only, argument = row
    plain = str(name).lower()
    return Variable(
        name=plain,
        scope=str(scope),
        kind=str(kind),
        default=default or "",
        least=least,
        greatest=greatest,
        choices=tuple(choices.split(",")) if choices else (),
        read_only=read_only == "YES",
        has_option=argument is not None or plain in OPTION_NAMES,
    )


@cache
def variables(binaries: Binaries) -> Mapping[str, Variable]:
    """Every variable of the server, by name; kept in the cache folder for the next time.

    Raises:
        TargetError: If the server cannot be started to ask it.
    """
    build = f"{binaries.server}{binaries.version}{binaries.server.stat().st_mtime_ns}"
    digest = hashlib.sha256(build.encode()).hexdigest()[:12]
    kept = cache_folder() / f"mariadb-{binaries.short_version}-{digest}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with locked(kept.parent / "asking.lock"):
            if not kept.exists():
                rows = _ask(binaries, kept.parent)
                draft = kept.with_suffix(".draft")
                draft.write_text(json.dumps([asdict(each) for each in rows], indent=1))
                draft.replace(kept)
    found = [
        Variable(**{**each, "choices": tuple(each["choices"])})
        for each in json.loads(kept.read_text())
    ]
    return {each.name: each for each in found}


def objection(binaries: Binaries, variable: Variable, level: Level) -> str | None:
    """What the server has against a level, in its own words, or None."""
    said = _read(binaries, variable.option, variable.text(level)).stderr
    spellings = (variable.option, variable.option.replace("_", "-"))
    for line in said.splitlines():
        _, bracket, problem = line.partition("[ERROR] ")
        if bracket:
            return problem.removeprefix(f"{binaries.server}: ").removeprefix("mariadbd: ")
        _, bracket, problem = line.partition("[Warning] ")
        if bracket and any(each in problem for each in spellings) and "deprecated" not in problem:
            return problem
    return None


def made_of(binaries: Binaries, variable: Variable, level: Level) -> str | None:
    """What the server makes of a level, as it lists its options; None if it does not list this."""
    name = re.escape(variable.option.replace("_", "-"))
    listed = _read(binaries, variable.option, variable.text(level)).stdout
    line = re.search(rf"^{name} +(\S.*)$", listed, re.MULTILINE)
    return None if line is None else line[1].strip()


@cache
def _read(binaries: Binaries, name: str, value: str) -> subprocess.CompletedProcess[str]:
    """The server's list of its options with one of them set; a plan asks it of each trial."""
    return subprocess.run(
        [
            str(binaries.server),
            "--no-defaults",
            f"--{name}={value}",
            "--verbose",
            "--help",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
        env={"LC_ALL": "C"},
        cwd="/",
    )


def _ask(binaries: Binaries, folder: Path) -> list[Variable]:
    """Starts the server in a folder of its own; what one that was killed left is removed."""
    for stale in folder.glob("asking-*"):
        shutil.rmtree(stale, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix="asking-", dir=folder))
    answer, script = work / "answer", work / "ask.sql"
    script.write_text(
        f"SELECT {COLUMNS} FROM information_schema.SYSTEM_VARIABLES "
        f"INTO OUTFILE {values.quoted(str(answer))};\nSHUTDOWN;\n"
    )
    try:
        done = subprocess.run(
            [
                str(binaries.server),
                "--no-defaults",
                f"--datadir={work}",
                "--socket=s",  # in the data folder: a path from the root may be too long
                f"--pid-file={work / 'p'}",
                f"--init-file={script}",
                f"--tmpdir={work}",
                *_TINY,
                *(["--user=root"] if os.geteuid() == 0 else []),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={"LC_ALL": "C"},
            cwd="/",
        )
        if not answer.exists():
            raise TargetError(
                f"{binaries.server} does not list its settings: "
                f"{' '.join(done.stderr.split())[-400:]}"
            )
        return [from_row(_fields(line)) for line in answer.read_text().splitlines()]
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _fields(line: str) -> tuple[str | None, ...]:
    """A line of `INTO OUTFILE`: fields between tabs; NULL and escapes by backslash."""
    return tuple(None if each == "\\N" else each.replace("\\\\", "\\") for each in line.split("\t"))
