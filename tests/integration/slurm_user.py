"""An ordinary user with a Slurm of his own, who runs `loadstone run jobs` on it.

He does so from a clean shell, and from within a job of his (`salloc`). Ranks are bound.

A program of its own, because the tests may run as root:

    python slurm_user.py FOLDER     the user's folder; it tells JSON on its standard output
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from slurm_by_hand import PARTITION, slurm_by_hand

_SHELLS: Mapping[str, list[str]] = {"clean": [], "salloc": ["salloc", "-n1"]}


def main(folder: Path) -> None:
    runner = folder / "loadstone-runner"
    runner.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m loadstone.runner.main "$@"\n'
    )
    runner.chmod(0o755)
    with slurm_by_hand("TaskPlugin=task/affinity") as slurm:
        kept = {"LOADSTONE_STATE": "state", "LOADSTONE_CACHE": "cache"}
        environment = {
            **os.environ,
            **{name: str(folder / word) for name, word in kept.items()},
            "LOADSTONE_RUNNER": str(runner),
            "SLURM_CONF": str(slurm.conf),
        }
        runs = {name: _run(folder / name, shell, environment) for name, shell in _SHELLS.items()}
        states = slurm.run("squeue", "--noheader", "--states=all", "--format=%U %j %T")
        told = {"uid": os.geteuid(), "runs": runs, "states": states.splitlines()}
    print(json.dumps(told))


def _run(folder: Path, shell: list[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """The command from a shell; what it says, and what its ranks and its inventory tell."""
    folder.mkdir()
    words = ["run", "jobs", "--target", "slurm", "--server", f"slurm://{PARTITION}", "--json"]
    for each in ("application=command", "command=sleep 1", "jobs=2", "poll=100ms"):
        words += ["--param", each]
    done = subprocess.run(
        [*shell, sys.executable, "-m", "loadstone.cli.main", *words, "--quiet"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    ranks = [json.loads(path.read_text()) for path in folder.glob("results/*/*/desk/*/ranks/*")]
    inventories = [
        json.loads(path.read_text()) for path in folder.glob("results/*/*/inventory.json")
    ]
    return {
        "out": done.stdout,
        "err": done.stderr,
        "masks": [len(rank["cpus"]) for rank in ranks],
        "removed": [each["target"]["variables_taken_out"] for each in inventories],
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
