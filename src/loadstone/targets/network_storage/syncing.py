"""A short load of writes with a flush after each, to count what a server does with flushes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from loadstone.errors import TargetError

_WRITES = 9
"""fio makes no flush after the last."""
_BLOCK = 4096
_PATIENCE_S = 60.0


def sync_some(fio: Path, engine: str, url: str) -> int:
    """Writes some blocks at the begin of a disk, with a flush after each.

    Args:
        fio: That has the engine.
        engine: `nbd` or `libiscsi`.
        url: Of the disk.

    Returns:
        How many flushes were answered, as fio counts them.

    Raises:
        TargetError: If it fails, with what fio said.
    """
    access = ["--rw=write", f"--bs={_BLOCK}", f"--size={_WRITES * _BLOCK}", "--fsync=1"]
    place = f"--uri={url}" if engine == "nbd" else "--filename=" + url.replace(":", "\\:")
    command = [str(fio), "--name=syncs", f"--ioengine={engine}", *access, place]
    command += ["--thread", "--output-format=json"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False, cwd="/"
        )
    except subprocess.TimeoutExpired as error:
        raise TargetError(f"{url} did not answer within {_PATIENCE_S:g} s") from error
    text = done.stdout
    if done.returncode != 0 or "{" not in text:
        said = " ".join(f"{done.stderr} {text}".split())[:300]
        raise TargetError(f"flushes could not be counted: fio ended with {done.returncode}: {said}")
    document, _ = json.JSONDecoder().raw_decode(text[text.index("{\n") :])
    return int(document["jobs"][0]["sync"]["total_ios"])
