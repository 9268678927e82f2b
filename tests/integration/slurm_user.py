"""An ordinary user with a Slurm of his own, who runs `loadstone run jobs` on it.

A program of its own, because the tests may run as root:

    python slurm_user.py FOLDER     the user's folder; it tells JSON on its standard output
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from slurm_by_hand import PARTITION, slurm_by_hand


def main(folder: Path) -> None:
    runner = folder / "loadstone-runner"
    runner.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m loadstone.runner.main "$@"\n'
    )
    runner.chmod(0o755)
    with slurm_by_hand() as slurm:
        kept = {"LOADSTONE_STATE": "state", "LOADSTONE_CACHE": "cache"}
        environment = {
            **os.environ,
            **{name: str(folder / word) for name, word in kept.items()},
            "LOADSTONE_RUNNER": str(runner),
            "SLURM_CONF": str(slurm.conf),
        }
        words = ["run", "jobs", "--target", "slurm", "--server", f"slurm://{PARTITION}", "--json"]
        for each in ("application=command", "command=sleep 1", "jobs=4", "poll=100ms"):
            words += ["--param", each]
        done = subprocess.run(
            [sys.executable, "-m", "loadstone.cli.main", *words, "--quiet"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        states = slurm.run("squeue", "--noheader", "--states=all", "--format=%U %T").splitlines()
        told = {
            "uid": os.geteuid(),
            "code": done.returncode,
            "out": done.stdout,
            "err": done.stderr,
            "states": states,
        }
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
