"""What Loadstone adds to the times of queries and to making their data, beside other clients."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from benchmarks.driving import closed
from benchmarks.server import SETTINGS, memory_folder
from benchmarks.table import Aim, Report, median, spread
from loadstone.journal import Journal
from loadstone.load.driver import Driver
from loadstone.protocol.frames import PROTOCOL_VERSION, Event, parse_frame
from loadstone.protocol.steps import steps_of
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.database import Database
from loadstone.targets.postgresql import binaries
from loadstone.targets.registry import target_for
from loadstone.workloads.dss.data import PROGRAM, generate, provide
from loadstone.workloads.dss.parameters import DecisionSupportParameters
from loadstone.workloads.dss.queries import NUMBERS, operation, text
from loadstone.workloads.dss.substitution import VALIDATION
from loadstone.workloads.dss.workload import DecisionSupport

ROUNDS = 12
GENERATIONS = 6
SCALE = 1.0
_QUERIES = {operation(number): text(number, VALIDATION[number]) for number in NUMBERS}
_DUCKDB = """
import json, sys, time
import duckdb
path, config, queries, passes = json.load(sys.stdin)
with duckdb.connect(path, config=config) as connection:
    least = {}
    for _ in range(passes):
        for name, sql in queries.items():
            begin = time.monotonic()
            connection.execute(sql).fetchall()
            took = time.monotonic() - begin
            least[name] = min(took, least.get(name, took))
    print(json.dumps(least))
"""
_TIMING = re.compile(r"^Time: ([\d.]+) ms", re.MULTILINE)
_LONGEST_S = 3600.0

Times = Mapping[str, float]
"""Seconds of each query."""
Client = Callable[[Database, int], Times]


@dataclass(frozen=True)
class _Engine:
    """An engine, and its own client."""

    spec: TargetSpec
    client: Client
    name: str
    passes: int
    """How often the queries are sent in a round: the least time of each counts."""


def measure() -> Report:
    """Interleaved: in each round both send the 22 queries.

    An engine in the process has cold caches at first, a server has not, and its queries are short:
    they are sent several times.
    """
    engines = [
        _Engine(TargetSpec(engine="duckdb", data=memory_folder()), _by_duckdb, "Python script", 6),
        _Engine(
            TargetSpec(engine="postgresql", data=memory_folder(), settings=SETTINGS["postgresql"]),
            _by_psql,
            "psql",
            1,
        ),
    ]
    rows: list[tuple[str, str, str, str]] = []
    aims: list[Aim] = []
    for engine in engines:
        own, peer = _interleaved(engine)
        more = _least(own) / _least(peer)
        title = engine.spec.engine
        rows += [
            (f"{title}, {name}", f"{_least(rounds):.3g}", spread(list(map(_sum, rounds))), "")
            for name, rounds in (("Loadstone", own), (engine.name, peer))
        ]
        aims.append(
            Aim(f"{title}: sum of the 22 times, of its client's", more, "", "<= 1.01", more <= 1.01)
        )
    took = _generations()
    rows += [(f"generation, {name}", "", "", spread(times)) for name, times in took.items()]
    pairs = zip(took["Loadstone"], took["tpchgen-cli"], strict=True)
    ratio = median([mine / theirs for mine, theirs in pairs])
    aims.append(Aim("generation, of tpchgen-cli's", ratio, "", "<= 1.05", ratio <= 1.05))
    return Report(
        title="Decision support beside the engines' own clients",
        how=f"The 22 queries with the parameters of the validation at scale {SCALE:g}, one after "
        "the other in one session, by Loadstone's runner and by the client, each in a new process; "
        "with DuckDB, whose caches are then empty, six times. A time is from sending a query to "
        "its last row. "
        f"{ROUNDS} rounds of queries and {GENERATIONS} of making data, in turn. The ratio is that "
        "of the least times of each query, which other work on the machine does not lengthen; "
        "beside them median and range of the sums. "
        "Data on a memory file system. The generation "
        f"makes the eight tables as Parquet in {os.cpu_count()} parts; what comes after it in "
        "Loadstone are counts and sums of all tables, and the rows of refreshes.",
        header=("", "sum of the least times, s", "of each round, s", "generation, s"),
        rows=rows,
        aims=aims,
    )


def _least(rounds: Sequence[Times]) -> float:
    """The sum of the least time of each query."""
    return sum(min(times[name] for times in rounds) for name in _QUERIES)


def _sum(times: Times) -> float:
    return sum(times.values())


def _interleaved(engine: _Engine) -> tuple[list[Times], list[Times]]:
    own: list[Times] = []
    peer: list[Times] = []
    with (
        tempfile.TemporaryDirectory(prefix="loadstone-benchmark-") as notes,
        Journal(Path(notes) / "journal.jsonl", "python -m benchmarks") as journal,
    ):
        target = target_for(engine.spec)(engine.spec, TargetContext(journal, "benchmark"))
        try:
            target.open()
            target.empty(engine.spec)
            workload = DecisionSupport(DecisionSupportParameters(scale=SCALE))
            workload.build(target, _no_driver, seed=42)
            target.settle("warm")
            target.make_way()
            for number in range(ROUNDS):
                turns = [(own, _by_runner), (peer, engine.client)]
                for rounds, client in turns if number % 2 == 0 else reversed(turns):
                    rounds.append(client(target, engine.passes))
        finally:
            target.close()
    return own, peer


def _no_driver(_request: object) -> Mapping[str, float]:
    raise AssertionError("the data are loaded from files")


def _by_runner(target: Database, passes: int) -> Times:
    steps = [
        {"operation": name, "kind": "query", "statements": [sql]} for name, sql in _QUERIES.items()
    ]
    phases = [f"pass-{number}" for number in range(passes)]
    events: list[Event] = []

    def take(frame: dict[str, Any]) -> None:
        value = parse_frame(frame)
        if isinstance(value, Event):
            events.append(value)

    with tempfile.TemporaryDirectory(prefix="loadstone-benchmark-") as folder:
        plan = {
            "version": PROTOCOL_VERSION,
            "workload": {
                "name": "dss",
                "parameters": {
                    "rounds": [[{"name": phase, "steps": steps}] for phase in phases],
                    "time_limit_s": _LONGEST_S,
                    "folder": folder,
                    "server_pid": target.server_pid(),
                },
            },
            "connection": target.connection().plan(),
            "phases": [
                {"name": name, "kind": "measure", "duration_s": _LONGEST_S, "load": closed(1)}
                for name in phases
            ],
        }
        with Driver(plan, take) as driver:
            driver.wait()
    least: dict[str, float] = {}
    for step in steps_of(events):
        least[step.operation] = min(step.seconds, least.get(step.operation, step.seconds))
    return least


def _by_duckdb(target: Database, passes: int) -> Times:
    to = target.connection()
    config = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        **to.settings,
    }
    ended = subprocess.run(
        [sys.executable, "-c", _DUCKDB],
        input=json.dumps([to.database, config, _QUERIES, passes]),
        capture_output=True,
        text=True,
        check=True,
    )
    times: Times = json.loads(ended.stdout)
    return times


def _by_psql(target: Database, passes: int) -> Times:
    to = target.connection()
    program = binaries.find("embedded").folder / "psql"
    address = ["-h", to.host, "-p", str(to.port), "-U", to.user, "-d", to.database]
    queries = "".join(f"{sql};\n" for sql in _QUERIES.values())
    script = f"\\timing on\n\\o /dev/null\n{queries * passes}"
    ended = subprocess.run(
        [str(program), *address, "-X", "-q", "-v", "ON_ERROR_STOP=1"],
        input=script,
        capture_output=True,
        text=True,
        check=True,
    )
    times_ms = [float(time) for time in _TIMING.findall(ended.stdout)]
    if len(times_ms) != passes * len(_QUERIES):
        raise RuntimeError(f"psql timed {len(times_ms)} statements: {ended.stdout[-300:]}")
    many = len(_QUERIES)
    return {name: min(times_ms[place::many]) / 1e3 for place, name in enumerate(_QUERIES)}


def _generations() -> dict[str, list[float]]:
    """Seconds of each, in turn."""
    ways = {
        "Loadstone": lambda folder: generate(folder, SCALE, "parquet"),
        "Loadstone, with what comes after it": lambda folder: provide(
            SCALE, "parquet", pairs=1, seed=1, cache=folder
        ),
        "tpchgen-cli": _plain,
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(GENERATIONS):
        for name, make in ways.items():
            with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
                begin = monotonic()
                make(Path(folder))
                took[name].append(monotonic() - begin)
    return took


def _plain(folder: Path) -> None:
    program = Path(sysconfig.get_path("scripts")) / PROGRAM
    parts = ("--parts", str(os.cpu_count() or 1))
    command = [str(program), "parquet", "-s", f"{SCALE:g}", "-o", str(folder), *parts, "--quiet"]
    subprocess.run(command, check=True)
