"""fio as somebody runs it by hand: what it is told, and the figures of its own summary."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loadstone.workloads.storage.fio_binary import find_fio

Figures = dict[str, float]
FIGURES = {
    "ios_per_s": ("rate", "/s"),
    "service_p50_ms": ("p50", " ms"),
    "service_p99_ms": ("p99", " ms"),
    "cpu_us_per_io": ("CPU of an I/O", " us"),
}
"""As a trial names them: in short, and their unit."""
PLAIN = ("--output-format=json",)
AS_A_TRIAL = ("--output=output.json", "--output-format=json+", "--eta=never")


def without_logs(text: str) -> str:
    """A trial's job file as a user would write it: without logs of histograms."""
    return re.sub(r"(?m)^(write_hist_log|log_hist_msec)=.*\n", "", text)


def on_file(text: str, file: Path) -> str:
    """A trial's job file, for another file."""
    return re.sub(r"(?m)^filename=.*$", f"filename={file}", text)


def run_by_hand(text: str, folder: Path, arguments: Sequence[str]) -> Figures:
    """Runs fio on a job file of one job.

    Args:
        text: The job file.
        folder: That it runs in.
        arguments: About its output.
    """
    jobs, output = folder / "by-hand.fio", folder / "output.json"
    jobs.write_text(text)
    output.unlink(missing_ok=True)
    command = [str(find_fio().path), jobs.name, *arguments]
    said = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return _figures(json.loads(output.read_text() if output.exists() else said)["jobs"][0])


def _figures(job: dict[str, Any]) -> Figures:
    told = max((job["read"], job["write"]), key=lambda each: each["total_ios"])
    cpu_s = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1e3
    times = told["clat_ns"]["percentile"]
    return {
        "ios_per_s": told["total_ios"] / told["runtime"] * 1e3,
        "service_p50_ms": times["50.000000"] / 1e6,
        "service_p99_ms": times["99.000000"] / 1e6,
        "cpu_us_per_io": cpu_s / told["total_ios"] * 1e6,
    }
