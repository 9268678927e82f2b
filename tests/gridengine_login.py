"""An ordinary user who is logged in on the submit host of a Grid Engine."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import loadstone as package
from loadstone.placements.account import Account, server_account
from loadstone.targets.gridengine import GridEngine

PACKAGES = (str(Path(package.__file__).parent.parent), sysconfig.get_path("purelib"))
"""Where Loadstone and what it needs are found: the interpreter of a user is another."""
_RUNNER = "loadstone-runner"
_NAME = "surveyor"
_UID = 64999


class Login:
    """An account with a home of its own, which all nodes see; nothing it does is root's."""

    def __init__(self, cluster: GridEngine, account: Account, home: Path, python: str) -> None:
        """Writes what a user has: the command of Loadstone.

        Args:
            cluster: The user is on its head, and knows it by variables alone.
            account: Of the user.
            home: Exists, is empty, and belongs to the account.
            python: That the account may run.
        """
        self.account = account
        self.name = account.name
        self.home = home
        self.python = python
        self.queue = cluster.scheduler_spec().queue
        self.environment = {
            **account.process_options()["env"],
            **cluster.scheduler_spec().environment,
            "PATH": f"{home}/bin{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "LOADSTONE_RUNNER": str(home / "bin" / _RUNNER),
            "PYTHONPATH": os.pathsep.join(PACKAGES),
            "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "100",
        }
        self._enter = cluster.nodes.head.enter()
        (home / "bin").mkdir()
        for name, module in ((_RUNNER, "runner.main"), ("loadstone", "cli.main")):
            self.write_command(name, f'exec {python} -m loadstone.{module} "$@"')

    def write_command(self, name: str, script: str) -> None:
        """Puts a script of the shell in front of the commands in PATH."""
        path = self.home / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Starts a command as the user, in the user's home."""
        switch = ["setpriv", f"--reuid={self.account.uid}", f"--regid={self.account.gid}"]
        return subprocess.Popen(
            [*self._enter, *switch, "--clear-groups", "env", f"--chdir={self.home}", *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        process = self.start(*words)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(words, process.returncode, out, err)


@contextmanager
def login(cluster: GridEngine) -> Iterator[Login]:
    """An account that only the nodes know, and that is logged in within the block.

    It has what `nobody` lacks and Grid Engine needs for ranks on other nodes: a login shell.
    """
    account = Account(_NAME, _UID, server_account("nobody").gid, switch=True)
    python = python_for(account)
    home = Path(tempfile.mkdtemp(prefix="user-"))
    try:
        accounts = home / "passwd"
        line = f"{_NAME}:x:{account.uid}:{account.gid}::{home}:/bin/sh\n"
        accounts.write_text(Path("/etc/passwd").read_text() + line)
        accounts.chmod(0o644)
        account.own(home)
        cluster.nodes.show(home)
        for node in cluster.nodes.every:
            node.run(["mount", "--bind", str(accounts), "/etc/passwd"], doing="mount")
        yield Login(cluster, account, home, python)
    finally:
        shutil.rmtree(home)


def python_for(account: Account) -> str:
    """An interpreter that the account may run, and that has what Loadstone needs."""
    options = account.process_options()
    options["env"]["PYTHONPATH"] = os.pathsep.join(PACKAGES)
    words = ["-c", "import loadstone.cli.main, psutil, pydantic_core"]
    for python in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            done = subprocess.run(
                [python, *words], **options, cwd="/", capture_output=True, check=False
            )
            if done.returncode == 0:
                return python
    pytest.skip("an ordinary user may run no interpreter that has Loadstone's packages")
