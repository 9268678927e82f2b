"""The direct path of the event archive beside psql, which loads a file that was made beforehand."""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from benchmarks.driving import closed, drive, plan
from benchmarks.server import SETTINGS, Server
from benchmarks.table import Aim, Report, median, spread
from loadstone.targets.postgresql import binaries
from loadstone.workloads.archive.parameters import ArchiveParameters
from loadstone.workloads.archive.tables import FIRST_SEGMENT, segment_name
from loadstone.workloads.archive.workload import EventArchive

ROUNDS = 5
SECONDS = 10.0
CLIENTS = 4
"""Stations, and files with the events of one each."""
THREADS = 2
AT_ONCE = (2, CLIENTS)
"""How many psql load at the same time: the faster way counts, in each round."""
MADE_PER_S = 200_000
MADE_S = 30.0
"""Rate at which the events of the files are made, and how long: as many as the archive stores."""
BEYOND = 1.5
"""The archive is offered so many times what psql loads: it stores what it can."""
WARM_UP_S = 2.0
_TABLE = segment_name(FIRST_SEGMENT)
_PATHS = ("direct", "staged")


@dataclass(frozen=True)
class _Load:
    """What a load came to."""

    per_s: float
    server_cpu_us: float
    """Of an event."""
    client_cpu_us: float


def measure(server: Server) -> Report:
    """Each round empties the archive before each load; both fill the same segment and index."""
    server.build(EventArchive(ArchiveParameters()))
    server.keep()
    psql: dict[int, list[_Load]] = {sessions: [] for sessions in AT_ONCE}
    best: list[float] = []
    own: dict[str, list[_Load]] = {path: [] for path in _PATHS}
    with tempfile.TemporaryDirectory(prefix="loadstone-benchmark-") as folder:
        files, events = _made(server, Path(folder))
        for number in range(ROUNDS):
            for sessions, loads in psql.items():
                loads.append(_loaded_by_psql(server, files, events, sessions))
            best.append(max(loads[-1].per_s for loads in psql.values()))
            for path in _PATHS if number % 2 == 0 else reversed(_PATHS):
                own[path].append(_stored(server, path, BEYOND * best[-1], number))
    rows = [
        *(_row(f"psql, {sessions} files at a time", loads) for sessions, loads in psql.items()),
        *(_row(f"archive, {path}", own[path]) for path in _PATHS),
    ]
    pairs = zip(own["direct"], best, strict=True)
    rate = median([mine.per_s / peer for mine, peer in pairs])
    cpu = median([mine.client_cpu_us / mine.server_cpu_us for mine in own["direct"]])
    return Report(
        title="The event archive beside psql",
        how=f"psql loads {CLIENTS} binary COPY files, each with the events of a station and "
        f"{events:,} in all, into the empty first segment with its index; as many stations offer "
        f"the archive {BEYOND:g} times the better of its rates, and it stores what it can in "
        f"{SECONDS:g} s (after {WARM_UP_S:g} s that do not count), a second's events of a station "
        "at once. synchronous_commit off, shared_buffers "
        f"{SETTINGS['postgresql']['shared_buffers']}, data on a memory file system, "
        f"{server.version}; {ROUNDS} rounds, in turn; median and range.",
        header=("", "events/s", "server CPU, us an event", "client CPU, us an event"),
        rows=rows,
        aims=(
            Aim("direct: events/s, of psql's better", rate, "", ">= 0.9", rate >= 0.9),
            Aim("direct: driver CPU, of the server's", cpu, "", "<= 0.1", cpu <= 0.1),
        ),
    )


def _row(name: str, loads: list[_Load]) -> tuple[str, str, str, str]:
    return (
        name,
        spread([load.per_s for load in loads]),
        spread([load.server_cpu_us for load in loads]),
        spread([load.client_cpu_us for load in loads]),
    )


def _empty(server: Server, path: str) -> EventArchive:
    workload = EventArchive(ArchiveParameters(path=path))
    server.restore()
    workload.prepare(server.target)
    return workload


def _stored(
    server: Server, path: str, offered_per_s: float, seed: int, measure_s: float = SECONDS
) -> _Load:
    """Offers events at a rate and counts what is stored in the measured phase."""
    _empty(server, path)
    station_per_s = round(offered_per_s / CLIENTS)
    workload = EventArchive(
        ArchiveParameters(
            rate=CLIENTS * station_per_s,
            events_per_s=station_per_s,
            path=path,
            segment_events=10**9,
            batch_events=station_per_s,
            buffer_events=2 * station_per_s,
        )
    )
    before_s = server.target.server_cpu_s() or 0.0
    log = drive(
        {
            **plan(
                workload.plan(server.context()),
                closed(workload.parameters.users),
                connection=server.plan_connection(),
                measure_s=measure_s,
                warm_up_s=WARM_UP_S,
                pacing=workload.pacing(),
                seed=seed,
            ),
            "threads": THREADS,
        }
    )
    server_cpu_s = (server.target.server_cpu_s() or 0.0) - before_s
    end, load, measured = log.end, log.overall(), log.measured()
    assert end is not None
    stored = end.facts["events_stored"]
    own_cpu_s = load.cpu_user_s + load.cpu_system_s
    rate = measured.counters["events_stored"] / measured.duration_s
    return _Load(rate, server_cpu_s / stored * 1e6, own_cpu_s / stored * 1e6)


def _made(server: Server, folder: Path) -> tuple[list[Path], int]:
    """Files with events that the archive has made, each with those of one station."""
    _stored(server, "direct", MADE_PER_S, seed=0, measure_s=MADE_S)
    files = [folder / f"events-{number}" for number in range(CLIENTS)]
    for number, file in enumerate(files):
        query = f"SELECT * FROM {_TABLE} WHERE station % {CLIENTS} = {number}"
        _ended(_psql(server, f"\\copy ({query}) TO '{file}' (FORMAT binary)"))
    ((events,),) = server.target.query(f"SELECT count(*) FROM {_TABLE}")
    return files, int(events)


def _loaded_by_psql(server: Server, files: list[Path], events: int, sessions: int) -> _Load:
    _empty(server, "direct")
    shares = [files[number::sessions] for number in range(sessions)]
    before_s, begin = server.target.server_cpu_s() or 0.0, monotonic()
    running = [
        _psql(server, *(f"\\copy {_TABLE} FROM '{file}' (FORMAT binary)" for file in share))
        for share in shares
    ]
    client_cpu_s = sum(_ended(process) for process in running)
    lasted_s = monotonic() - begin
    server_cpu_s = (server.target.server_cpu_s() or 0.0) - before_s
    return _Load(events / lasted_s, server_cpu_s / events * 1e6, client_cpu_s / events * 1e6)


def _psql(server: Server, *commands: str) -> subprocess.Popen[bytes]:
    to = server.connection
    program = binaries.find("embedded").folder / "psql"
    address = ["-h", to.host, "-p", str(to.port), "-U", to.user, "-d", to.database]
    words = [word for command in commands for word in ("-c", command)]
    return subprocess.Popen([str(program), *address, "-X", "-q", "-v", "ON_ERROR_STOP=1", *words])


def _ended(process: subprocess.Popen[bytes]) -> float:
    """The CPU seconds that a program took."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"psql failed with exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime
