"""A JVM with the program of `ssj` and a small company, spoken to at its socket."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from packages import do_without

from loadstone.placements import programs
from loadstone.results.latency import merge

ROOT = Path(__file__).parent.parent
JARS = ROOT / "src" / "loadstone" / "workloads" / "ssj" / "jars"
JAR = JARS / "loadstone-ssj.jar"
CLASSES = ROOT / "java" / "target" / "tests"
SMALL = ("--districts", "2", "--customers", "50", "--items", "100", "--orders", "20")
FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx128m", "-Xshare:auto")
PATIENCE_S = 60.0

Frame = dict[str, Any]


def need_jar() -> None:
    """Does without the test where there is no Java, or the program was not built."""
    if reason := programs.absent("java"):
        do_without(reason)
    if not JAR.is_file():
        do_without(
            "loadstone-ssj.jar was not built: no JDK (Debian's package default-jdk-headless)"
        )


@contextmanager
def jvm(folder: Path, *, warehouses: int = 2, words: Sequence[str] = SMALL) -> Iterator[Path]:
    """A JVM that is ready; gives its socket, and leaves nothing."""
    at = folder / "jvm.sock"
    command = [
        "java",
        *FLAGS,
        "-jar",
        str(JAR),
        "--socket",
        str(at),
        "--warehouses",
        str(warehouses),
    ]
    process = subprocess.Popen([*command, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"loadstone-ssj: ready, {warehouses} warehouses\n"
        yield at
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 143
        process.stdout.close()
    assert not at.exists()


def talk(
    at: Path, first: object, answers: Callable[[Frame], Sequence[Frame]] | None = None
) -> list[Frame]:
    """Sends a first line, and to each frame what is answered to it; gives all that came."""
    found: list[Frame] = []
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE_S)
        client.connect(str(at))
        client.sendall(json.dumps(first).encode() + b"\n")
        for line in client.makefile("rb"):
            frame = json.loads(line)
            found.append(frame)
            for answer in answers(frame) if answers else ():
                client.sendall(json.dumps(answer).encode() + b"\n")
    return found


def plan(
    *phases: Mapping[str, Any], parameters: Mapping[str, Any] | None = None, **more: object
) -> Frame:
    """A plan with short ticks."""
    workload = {"name": "ssj", "parameters": dict(parameters or {})}
    return {"version": 4, "tick_s": 0.1, "workload": workload, "phases": list(phases), **more}


def closed(name: str, seconds: float, users: int = 2) -> Frame:
    """A phase in which workers make batch after batch."""
    load = {"model": "closed", "users": {"from": users, "to": users}}
    return {"name": name, "kind": "measure", "duration_s": seconds, "load": load}


def counted(name: str, iterations: int, users: int = 2) -> Frame:
    """A closed phase of so many operations, however long they take."""
    return {**closed(name, 1, users), "duration_s": None, "iterations": iterations}


def arriving(name: str, seconds: float, per_s: float, **more: object) -> Frame:
    """A phase in which batches become due."""
    rate = {"from": per_s, "to": per_s}
    load = {"model": "open", "rate_per_s": rate, "arrival": "poisson", "sessions": 2, **more}
    return {"name": name, "kind": "measure", "duration_s": seconds, "load": load}


def ticks(frames: Sequence[Frame], phase: str) -> list[Frame]:
    """Those of a phase, late ones too."""
    return [each for each in frames if each["frame"] == "tick" and each["phase"] == phase]


def events(frames: Sequence[Frame], kind: str) -> list[Frame]:
    """Those of a kind."""
    return [each for each in frames if each["frame"] == "event" and each["kind"] == kind]


def made(of: Sequence[Frame]) -> dict[str, int]:
    """Operations by name, of ticks."""
    names = of[0]["operations"]
    return {name: sum(tick["operations"][name]["count"] for tick in of) for name in names}


def recorded(of: Sequence[Frame], kind: str) -> int:
    """How many operations the histograms `response` or `service` of ticks have in them."""
    told = (each.get(kind) for tick in of for each in tick["operations"].values())
    return int(merge(text for text in told if text).get_total_count())
