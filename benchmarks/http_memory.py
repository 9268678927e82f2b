"""What a user costs in memory: thousands of users who think, each with a connection and a cookie.

python -m benchmarks http-memory
"""

from __future__ import annotations

from dataclasses import dataclass

import psutil

from benchmarks.http_running import FailedError, Running
from benchmarks.http_server import WebServer, most_connections, version, web_server
from benchmarks.http_tools import OURS, PEERS, MissingError, Tool, Work
from benchmarks.table import Aim, Report

USERS = 10_000
FEWER = 1_000
"""Of a tool for which this machine has not memory enough."""
MANY_USERS, PROCESSES = 50_000, 3
THINK_S = 60.0
FEW_THINK_S = 1.0
"""Of the run with few users, with which the other is compared."""
COOKIE_BYTES = 1000
WORKERS = 4
PLAIN_AIM_KB, TLS_AIM_KB = 8.0, 32.0
_PATIENCE_S = 300.0
_LEAST_FREE = 0.1
"""Share of the memory of the machine that stays free."""
_LONG_S = 3600


@dataclass(frozen=True)
class Case:
    """A tool with so many users."""

    tool: Tool
    users: int
    processes: int = 1
    tls: bool = False

    @property
    def name(self) -> str:
        """As the table has it."""
        tls = ", TLS" if self.tls else ""
        shared = f" in {self.processes} processes" if self.processes > 1 else ""
        return f"{self.tool.name}{tls}, {self.users:,} users{shared}"


CASES = (
    Case(OURS, USERS),
    Case(OURS, MANY_USERS, PROCESSES),
    Case(OURS, USERS, tls=True),
    *(Case(tool, USERS) for tool in PEERS),
)


class NotReachedError(Exception):
    """So many users cannot be had here; the text says why."""


def measure() -> Report:
    """Each case once: resident memory does not scatter as times do."""
    rows, kilobytes = [], dict[Case, float]()
    with web_server(cookie_bytes=COOKIE_BYTES, workers=WORKERS) as server:
        for case in CASES:
            try:
                made, value = _growth_kb(case, server)
            except (MissingError, NotReachedError, FailedError) as error:
                rows.append((case.name, "", str(error).replace("\n", " ")))
                continue
            kilobytes[case] = value
            fewer = f"{case.users:,} users were not reached here" if made != case else ""
            said = "; ".join(filter(None, (fewer, case.tool.note)))
            rows.append((f"{made.name}: {case.tool.version()}", f"{value:.3g}", said))
    return Report(
        title="Memory of a user over HTTP",
        how="Growth of the resident set of all processes of a tool over a run with one user a "
        f"process, for each further user: {THINK_S:g} s of constant think time, one connection "
        f"with keep-alive, a cookie of {COOKIE_BYTES:,} bytes. Taken when the server, nginx "
        f"{version()} on loopback, has answered each user once and has as many connections.",
        header=("", "kB a user", ""),
        rows=rows,
        aims=[
            Aim(case.name, value, "kB a user", f"<= {aim:g} kB", value <= aim)
            for case, value in kilobytes.items()
            if case.tool is OURS
            for aim in [TLS_AIM_KB if case.tls else PLAIN_AIM_KB]
        ],
    )


def _growth_kb(case: Case, server: WebServer) -> tuple[Case, float]:
    """The case as it was made, with fewer users where so many are not reached, and its figure."""
    few = Case(case.tool, case.processes, case.processes, case.tls)
    one = _resident_bytes(few, server, FEW_THINK_S)
    try:
        made, many = case, _resident_bytes(case, server, THINK_S)
    except (NotReachedError, FailedError):
        if case.tool is OURS:
            raise
        made = Case(case.tool, FEWER)
        many = _resident_bytes(made, server, THINK_S)
    return made, (many - one) / (made.users - few.users) / 1024


def _resident_bytes(case: Case, server: WebServer, think_s: float) -> int:
    of_process = -(-case.users // case.processes)
    if of_process > most_connections() or case.users > WORKERS * most_connections():
        raise NotReachedError(
            f"{of_process:,} connections a process are more than the limit of open files allows"
        )
    before = server.counts().requests
    work = Work(
        base=server.tls_base if case.tls else server.base,
        cookie=server.cookie,
        users=case.users,
        seconds=_LONG_S,
        think_s=think_s,
        processes=case.processes,
        ca=server.ca if case.tls else None,
    )
    with Running(case.tool, work) as running:

        def all_there() -> bool:
            memory = psutil.virtual_memory()
            if memory.available < _LEAST_FREE * memory.total:
                raise NotReachedError("the memory of this machine does not suffice")
            counts = server.counts()
            answered = counts.requests - before
            return answered >= case.users and counts.connections >= case.users

        if not running.await_that(all_there, _PATIENCE_S):
            raise NotReachedError(
                f"{server.counts().connections:,} connections after {_PATIENCE_S:g} s"
            )
        return running.resident_bytes()
