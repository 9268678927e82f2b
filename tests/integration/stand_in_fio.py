"""A script that is called fio: it answers as fio does, and then says what a test wants."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

SCRIPT = """#!{python} -IS
import os, sys, time
if "--version" in sys.argv:
    print("fio-3.33")
elif "--enghelp" in sys.argv:
    print("Available IO engines:\\n\\tpsync\\n\\tio_uring")
else:
{body}
"""


def document(**changes: Any) -> str:
    """What fio says of a job that read 1000 blocks in half a second; with these figures changed."""
    read = {
        "io_bytes": 4_096_000, "total_ios": 1000, "runtime": 500,
        "clat_ns": {"min": 90_000, "max": 2_000_000, "bins": {"100864": 990, "1990656": 10}},
        "lat_ns": {"mean": 120_000.0},
    } | changes  # fmt: skip
    job = {"jobname": "job0", "error": 0, "read": read}
    job |= {"job_runtime": 500, "usr_cpu": 10.0, "sys_cpu": 20.0}
    return json.dumps({"fio version": "fio-3.33", "jobs": [job]}, indent=2)


def saying(folder: Path, text: str, code: int = 0, *, to_file: bool = True) -> Path:
    """One that says a text, to the file of its option `--output` or to its standard output."""
    body = f"""
    text = {text!r}
    name = next((each[9:] for each in sys.argv if each.startswith("--output=")), None)
    out = open(name, "w") if {to_file} and name else sys.stdout
    out.write(text)
    out.flush()
    if {code} < 0:
        os.kill(os.getpid(), -{code})
    sys.exit({code})
"""
    return doing(folder, body)


def doing(folder: Path, body: str) -> Path:
    """One that does something else than to answer questions; `body` is indented by four."""
    path = folder / "fio"
    path.write_text(SCRIPT.format(python=sys.executable, body=body))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
