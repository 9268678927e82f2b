"""The catalogue of Superset: a database beside the warehouse, made and filled by its own commands.

`superset db upgrade`, `superset init` and `superset fab create-admin` load the application once
each, some 9 s of processor time. Here one process runs all three.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from loadstone.errors import DiskFullError, TargetError
from loadstone.host.processes import kill_all, matching
from loadstone.journal import Journal, undoes
from loadstone.targets.connection import ServerConnection
from loadstone.targets.postgresql.client import Client
from loadstone.targets.superset import configuration
from loadstone.targets.superset.configuration import Surroundings
from loadstone.targets.superset.installation import Environment
from loadstone.targets.superset.part import write_private
from loadstone.targets.superset.runs_as import runs_as
from loadstone.targets.superset.settings import Settings

DATABASE = "superset"
ADMIN = "loadstone"
_PASSWORD_NAME = "admin-password"  # noqa: S105 - of a file
_UNDO = "superset-end-preparation"
_SHOWN = 300
_CAUSE = re.compile(r"^(?!.*\b(?:DEBUG|INFO|WARNING)\b).*(?:Error|error|denied|refused)")
_SCRIPT = """\
import pathlib, sys
from flask.cli import ScriptInfo
from superset.app import create_app
from superset.cli.main import superset
app = create_app()
password = pathlib.Path(sys.argv[2]).read_text()
for words in (
    ["db", "upgrade"],
    ["init"],
    ["fab", "create-admin", "--username", sys.argv[3], "--firstname", "Load", "--lastname", "Stone",
     "--email", "loadstone@localhost", "--password", password],
):
    info = ScriptInfo(create_app=lambda *_: app)
    superset.main(words, prog_name="superset", obj=info, standalone_mode=False)
"""
"""The password comes from a file: a command line is everybody's to read."""


def create(maintenance: ServerConnection) -> None:
    """Makes the empty database, unless it is there.

    Args:
        maintenance: To another database of the server.
    """
    with closing(Client(maintenance)) as client:
        if not client.query("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)):
            client.query(f"CREATE DATABASE {DATABASE}")


def fill(
    environment: Environment, around: Surroundings, password: str, folder: Path, journal: Journal
) -> None:
    """Makes the tables of the catalogue, the roles and permissions, and the administrator.

    Args:
        environment: With the programs.
        around: With the catalogue.
        password: Of the administrator.
        folder: To work in; it is of no use afterwards.
        journal: Told before it is begun.

    Raises:
        TargetError: With what Superset says.
        DiskFullError: If the disk of the database is full.
    """
    config, secret = folder / configuration.CONFIG_NAME, folder / _PASSWORD_NAME
    said, account = folder / "said", runs_as().account
    said.mkdir(exist_ok=True)
    account.own(said)
    write_private(config, configuration.text(Settings(), around, said), account)
    write_private(secret, password, account)
    what = f"prepare the catalogue of Superset in {folder}"
    entry = journal.before(what, _UNDO, mark=str(secret))
    variables: list[str | Path] = [
        *configuration.ENVIRONMENT,
        *(f"SUPERSET_CONFIG_PATH={config}", f"SUPERSET_HOME={folder}", f"HOME={folder}"),
    ]
    command = ["env", *variables, environment.python, "-c", _SCRIPT, config, secret, ADMIN]
    try:
        _run(command, folder)
    finally:
        secret.unlink(missing_ok=True)
        journal.undo(entry)


# -- inside ------------------------------------------------------------------------------------
def _run(command: Sequence[str | Path], folder: Path) -> None:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        **runs_as().account.process_options(),
    )
    if done.returncode != 0:
        raise _not_filled(done.stderr + done.stdout)


def _not_filled(said: str) -> TargetError:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    told = ([line for line in lines if _CAUSE.search(line)] or lines or ["nothing"])[-1][:_SHOWN]
    if "No space left on device" in said:
        return DiskFullError(
            f"the catalogue of Superset could not be made: the disk is full: {told}",
            advice="free some space, or name another data folder",
        )
    return TargetError(f"the catalogue of Superset could not be made; it says: {told}")


@undoes(_UNDO)
def _end(data: dict[str, str]) -> None:
    """Ends a preparation that a killed run left."""
    kill_all(lambda: matching(lambda words: data["mark"] in words), "the preparation of Superset")
