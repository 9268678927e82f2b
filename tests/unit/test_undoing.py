"""`loadstone recover` knows how to undo everything that any module can write into a journal."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import importlib, pkgutil
import loadstone
from loadstone.cli.recover import command
from loadstone import journal

assert command() == 0
known = set(journal._UNDO)
for module in pkgutil.walk_packages(loadstone.__path__, "loadstone."):
    importlib.import_module(module.name)
print(len(known), sorted(set(journal._UNDO) - known))
"""


def test_every_kind_of_change_can_be_undone_by_recover(tmp_path):
    """In a process of its own: here other tests have imported what they like."""
    environment = {"LOADSTONE_STATE": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count, missing = done.stdout.split(maxsplit=1)
    assert int(count) > 10
    assert missing.strip() == "[]"
