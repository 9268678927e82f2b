"""Jobs as plain processes, by an ordinary user: nothing of it is root's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from gridengine_login import PACKAGES, python_for
from lengths import LONG

from loadstone.placements.account import server_account


@LONG
def test_an_ordinary_user_gets_the_table_without_a_scheduler() -> None:
    account = server_account("nobody")
    python = python_for(account)
    home = Path(tempfile.mkdtemp(prefix="user-"))
    account.own(home)
    runner = home / "loadstone-runner"
    runner.write_text(f'#!/bin/sh\nexec {python} -m loadstone.runner.main "$@"\n')
    runner.chmod(0o755)
    options = account.process_options()
    options["env"] |= {
        "HOME": str(home),
        "LOADSTONE_RUNNER": str(runner),
        "PYTHONPATH": os.pathsep.join(PACKAGES),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    words = [python, "-m", "loadstone.cli.main", "run", "jobs", "--json", "--quiet"]
    for each in ("application=command", "command=id -u > own; sleep 1", "jobs=2"):
        words += ["--param", each]
    words += ["--param", "applications.command.output=own", "--set", "slots=2"]
    try:
        done = subprocess.run(
            words, **options, cwd=home, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.stdout, done.stderr
        assert {each.stat().st_uid for each in home.rglob("record.json")} == {account.uid}
        assert not list(home.glob(".local/state/loadstone/open/*.json"))
    finally:
        shutil.rmtree(home)
    (trial,) = json.loads(done.stdout)["trials"]
    told = trial["result"]["jobs"]
    assert ([job["state"] for job in told["jobs"]], told["placement_proved"]) == (
        ["ended", "ended"],
        True,
    )
