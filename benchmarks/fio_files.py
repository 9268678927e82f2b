"""fio's engines of file calls: what a loop that does nothing else gets."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.workloads.storage.fio_binary import find_fio


@dataclass(frozen=True)
class FileCalls:
    """Calls of one kind by one thread.

    Attributes:
        count: How many.
        seconds: They took.
        cpu_s: Processor time of the thread.
    """

    count: int
    seconds: float
    cpu_s: float


def calls(engine: str, folder: Path, files: int) -> FileCalls:
    """Makes one call for each of so many files in a flat folder.

    Args:
        engine: `filecreate` (empty files), `filestat` or `filedelete` (of files that are there).
        folder: Where they are.
        files: How many.
    """
    # fio looks for its next file from the first one on unless they come in sequence.
    options = {
        "ioengine": engine,
        "directory": folder,
        "nrfiles": files,
        "file_service_type": "sequential",
        "openfiles": 1,
        "filesize": "4k",
        "bs": "4k",
        "rw": "read",
        "output-format": "json",
    }
    command = [str(find_fio(engine).path), "--name=files", "--thread"]
    command += [f"--{name}={value}" for name, value in options.items()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    job: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    seconds = job["job_runtime"] / 1e3
    busy = (job["usr_cpu"] + job["sys_cpu"]) / 100
    return FileCalls(job["read"]["total_ios"], seconds, busy * seconds)
