"""The driver's parser of cells beside DuckDB's reader of CSV, and making files beside loading."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from benchmarks.server import memory_folder
from benchmarks.table import Aim, Report, median, spread
from loadstone.load.locate import find_driver
from loadstone.workloads.cube.data.provide import CubeData, provide, write_files
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.outline import outline_of
from loadstone.workloads.cube.sql.flavours import flavour_of
from loadstone.workloads.cube.sql.load import lines_loaded, types
from loadstone.workloads.cube.sql.tables import BASE

ROUNDS = 5
SCALE = 0.3
SEED = 42
_DUCKDB = """
import json, sys
import duckdb
with duckdb.connect() as connection:
    for statement in json.load(sys.stdin):
        connection.execute(statement)
"""


@dataclass(frozen=True)
class _Took:
    cpu_s: float
    wall_s: float


def measure() -> Report:
    """In each round all ways, one after the other."""
    outline = outline_of(SEED)
    took: dict[str, list[_Took]] = {}
    with tempfile.TemporaryDirectory(dir=memory_folder()) as name:
        data = provide(outline, SCALE, SEED, cache=Path(name))
        ways: dict[str, Callable[[], None]] = {
            "the driver's parser": lambda: _parse(data),
            "DuckDB's reader": lambda: _read(outline, data),
            "the files are made": lambda: _make(outline, Path(name)),
        }
        for _ in range(ROUNDS):
            for way, act in ways.items():
                took.setdefault(way, []).append(_timed(act))
    pairs = list(zip(took["the driver's parser"], took["DuckDB's reader"], strict=True))
    parsed = median([own.cpu_s / its.cpu_s for own, its in pairs])
    made = median(
        [
            own.wall_s / its.wall_s
            for own, its in zip(took["the files are made"], took["DuckDB's reader"], strict=True)
        ]
    )
    return Report(
        title="Files of the planning cube",
        how=f"The file of cells at scale {SCALE:g}, {data.lines:,} lines of which "
        f"{len(data.injected):,} are wrong: by `loadstone-driver cells`, which encodes rows and "
        "writes them nowhere, and by DuckDB's reader into a table in memory, names as `ENUM`, "
        "wrong lines kept, cells of an account together. Beside them the making of all files of "
        f"that scale. {ROUNDS} rounds, in turn; median and range.",
        header=("", "CPU, s", "s"),
        rows=[
            (way, spread([own.cpu_s for own in rounds]), spread([own.wall_s for own in rounds]))
            for way, rounds in took.items()
        ],
        aims=[
            Aim("the parser's CPU, of DuckDB's", parsed, "", "<= 0.5", parsed <= 0.5),
            Aim("time to make the files, of DuckDB's to read", made, "", "<= 1.0", made <= 1.0),
        ],
    )


def _timed(act: Callable[[], None]) -> _Took:
    before, begin = _cpu_s(), monotonic()
    act()
    return _Took(_cpu_s() - before, monotonic() - begin)


def _cpu_s() -> float:
    """Of this process and its ended children."""
    own, ended = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


def _parse(data: CubeData) -> None:
    with tempfile.NamedTemporaryFile() as rejects:
        options = ["--names", str(data.names), "--source", "lines", "--form", "fixed"]
        command = [str(find_driver()), "cells", *options, "--rejects", rejects.name]
        subprocess.run(
            [*command, str(data.cells)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )


def _read(outline: Outline, data: CubeData) -> None:
    flavour = flavour_of("duckdb")
    with tempfile.NamedTemporaryFile() as rejects:
        work = lines_loaded(flavour, [data.cells], data.names, Path(rejects.name), 2)
        statements = [*types(outline), flavour.cells(BASE)]
        statements += [str(action) for stage in work.stages for job in stage for action in job]
        subprocess.run(
            [sys.executable, "-c", _DUCKDB], input=json.dumps(statements), text=True, check=True
        )


def _make(outline: Outline, cache: Path) -> None:
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        write_files(Path(folder), outline, SCALE, SEED)
