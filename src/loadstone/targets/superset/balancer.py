"""haproxy: the one address of all nodes."""

from __future__ import annotations

import contextlib
import csv
import re
import resource
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError, WrongInputError
from loadstone.host.machine import Machine
from loadstone.host.process import most_open_files
from loadstone.placements import programs
from loadstone.probes.base import Probe
from loadstone.results.record import FactorReading
from loadstone.results.sample import Sample
from loadstone.results.usage import ResourceUse
from loadstone.spec.base import Level
from loadstone.spec.problems import near
from loadstone.spec.target import ProcessSpec, TargetSpec
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.probing import CountersProbe
from loadstone.targets.superset.busy import Busy, busy_uses
from loadstone.targets.superset.part import PartServer, SupersetPart, write_private

PROGRAM = "haproxy"
HOST = "127.0.0.1"
PORT = "port"
_BALANCES = ("leastconn", "roundrobin", "random", "first")
_MAXCONN = "maxconn"
_DEFAULTS: Mapping[str, Level] = {
    "balance": "leastconn",
    PORT: 0,
    "redispatch": True,
    _MAXCONN: 0,
}
"""A port of 0 is a free one, a `maxconn` of 0 what the limit of open files allows."""
_OWN_FILES = 200
"""Beside two for each connection."""
_ANSWER_S = 5.0
_CONFIG = """\
global
    stats socket {statistics} mode 600 level user
{maxconn}defaults
    mode http
    option forwardfor if-none
{redispatch}    retries 3
    timeout connect 5s
    timeout client 150s
    timeout server 150s
    timeout queue 150s
    timeout check 10s
frontend people
    bind {host}:{port}
    default_backend nodes
backend nodes
    balance {balance}
    option httpchk GET /health
    default-server check inter 1s fall 2 rise 1
{servers}
"""


class Haproxy(PartServer):
    """haproxy in one process."""

    title = "haproxy"
    undo_name = "superset-end-haproxy"
    config_name = "haproxy.cfg"
    start_s = 60.0
    stop_s = 30.0
    stamp = re.compile(r"^\[(?:NOTICE|WARNING|ALERT)\]\s+\(\d+\) : ")
    cause = re.compile(r"ALERT|cannot|Cannot|failed")
    cures = (
        (
            re.compile("cannot bind socket|Address already in use", re.IGNORECASE),
            "choose another port, or leave balancer.port out: a free one is taken then",
        ),
        (
            re.compile("Cannot raise FD limit"),
            "raise the limit of open files (ulimit -Hn), or have fewer users",
        ),
    )
    port: int = 0

    def command(self) -> Sequence[str | Path]:
        """In the foreground."""
        return [programs.needed(PROGRAM), "-db", "-f", self.config]

    def is_ready(self) -> bool:
        """It sees a node that answers."""
        with contextlib.suppress(TargetError):
            return any(row["status"] == "UP" for row in statistics(self.socket) if _is_node(row))
        return False


class Balancer(SupersetPart[Haproxy]):
    """The part `balancer`. Load arrives here, with one node too."""

    engine = "haproxy"
    socket_name = "haproxy.sock"

    def __init__(
        self,
        spec: TargetSpec,
        context: TargetContext,
        nodes: Callable[[], Mapping[str, Path]],
        threads: Callable[[], int] = lambda: 0,
    ) -> None:
        """Starts nothing yet.

        Args:
            spec: Of the part.
            context: Of the target.
            nodes: The sockets of the nodes by name, asked whenever it starts.
            threads: Of all nodes together, asked when a load begins; 0: not known.
        """
        super().__init__(spec, context)
        self._nodes = nodes
        self._threads = threads

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """The program, or that it is missing; and whether the port is free."""
        found = super().describe(spec)
        port = wanted_port(spec.settings)
        if port and not _is_free(port):
            raise TargetError(
                f"port {port} of {HOST} is taken: the balancer cannot listen there",
                advice="name another one (target.balancer.port), or leave it out for a free one",
            )
        return {**found, "program": str(programs.needed(PROGRAM))}

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """`balance`, `maxconn`, `port` or `redispatch`."""
        if name not in _DEFAULTS:
            raise WrongInputError(
                f"the balancer has no setting {name!r}; {near(name, tuple(_DEFAULTS))}"
            )
        checked = _checked(name, level)
        if name == _MAXCONN and int(checked) > (most := _most_connections()):
            files = _files_for(int(checked))
            raise WrongInputError(
                f"maxconn = {int(checked):,} needs {files:,} open files, and this machine lets a "
                f"process of yours have {_files_for(most):,}",
                advice=f"raise the hard limit (ulimit -Hn), or write {most:,} at most",
            )
        return SettingInfo(name, needs="restart", default=str(_DEFAULTS[name]))

    @classmethod
    def for_sessions(cls, spec: TargetSpec, sessions: int) -> dict[str, Level]:
        """`maxconn`, where the limit of open files does not allow so many anyway.

        It is what the limit can be raised to, if that is less.
        """
        if _MAXCONN in spec.settings or _files_for(sessions) <= _files_allowed():
            return {}
        return {_MAXCONN: min(sessions, _most_connections())}

    # -- life ----------------------------------------------------------------------------------
    def make_server(self, folder: Path, log: Path) -> Haproxy:
        """In its folder."""
        return Haproxy(folder, self.make_socket(), log=log, journal=self.context.journal)

    def configure(self, spec: TargetSpec) -> None:
        """Settings and nodes; a free port unless one is wanted."""
        settings = {**_DEFAULTS, **{name: _checked(name, it) for name, it in spec.settings.items()}}
        self.server.port = int(settings[PORT]) or self._port()
        most = int(settings[_MAXCONN])
        if most and _files_for(most) > _files_allowed():
            more = ProcessSpec(nofile=_files_for(most))
            self.server.options = spec.process.over(more)
        servers = "\n".join(
            f"    server node-{name} unix@{path}" for name, path in self._nodes().items()
        )
        text = _CONFIG.format(
            statistics=self.socket,
            maxconn=f"    maxconn {most}\n" if most else "",
            redispatch="    option redispatch\n" if settings["redispatch"] else "",
            host=HOST,
            port=self.server.port,
            balance=settings["balance"],
            servers=servers,
        )
        write_private(self.server.config, text, self._account)

    def _port(self) -> int:
        """The free one of the last start, unless somebody else has it by now."""
        had = self.server.port
        return had if had and _is_free(had) else _free_port()

    def read_back(self, spec: TargetSpec) -> list[FactorReading]:
        """By the configuration that it accepted, and the address that it listens at."""
        return [
            FactorReading(
                factor=f"target.{name}",
                requested=level,
                read_back=self.server.port if name == PORT else _checked(name, level),
                how="restart",
            )
            for name, level in spec.settings.items()
        ]

    @property
    def url(self) -> str:
        """The address of Superset."""
        return f"http://{HOST}:{self.server.port}"

    @property
    def port(self) -> int:
        """That it listens at."""
        return self.server.port

    # -- observation ---------------------------------------------------------------------------
    def probes(self) -> list[Probe]:
        """What it counts, and how many nodes take part."""
        return [BalancerProbe(self.socket, self._threads())]

    def inventory(self) -> dict[str, Any]:
        """Its version and configuration, too."""
        told = programs.run(PROGRAM, ["-v"], doing="asking haproxy for its version")
        return {
            **super().inventory(),
            "version": told.split()[2],
            "configuration": self.server.config.read_text(encoding="utf-8"),
        }


class BalancerProbe(CountersProbe):
    """Errors and retries of the balancer, the nodes that answer, and requests that wait."""

    name = "haproxy"
    rare = frozenset({"retries", "redispatches", "connection_errors", "response_errors"})

    def __init__(self, path: Path, threads: int = 0) -> None:
        """Asks nothing yet.

        Args:
            path: Of the socket.
            threads: Of all nodes together; 0: not known.
        """
        super().__init__()
        self._path = path
        self._threads = threads
        self._levels: dict[str, float] = {}
        self._people_most = 0.0
        self._seen: list[Busy] = []

    def connect(self) -> None:
        """Each question has a connection of its own."""

    def disconnect(self) -> None:
        """There is none."""

    def sample(self, t_s: float) -> list[Sample]:
        """Counts since the last sample, and levels now."""
        samples = super().sample(t_s)
        levels = self._levels if samples else {}
        if levels:
            asked = levels["sessions"] + levels["waiting"]
            self._seen.append(Busy(t_s, asked, levels["connections"]))
        return samples + [
            Sample(t_s, self.name, f"{name}_count", value) for name, value in levels.items()
        ]

    def read_counters(self) -> dict[str, float]:
        """Of the backend as a whole."""
        rows = statistics(self._path)
        of_all = next(row for row in rows if row["svname"] == "BACKEND")
        people = next(row for row in rows if row["svname"] == "FRONTEND")
        nodes = [row for row in rows if _is_node(row)]
        self._people_most = float(people["slim"] or 0)
        self._levels = {
            "nodes_up": float(sum(row["status"].startswith("UP") for row in nodes)),
            "sessions": float(of_all["scur"] or 0),
            "waiting": float(of_all["qcur"] or 0),
            "connections": float(people["scur"] or 0),
        }
        return {
            "requests": float(of_all["req_tot"] or 0),
            "retries": float(of_all["wretr"] or 0),
            "redispatches": float(of_all["wredis"] or 0),
            "connection_errors": float(of_all["econ"] or 0),
            "response_errors": float(of_all["eresp"] or 0),
            "answers_5xx": float(of_all["hrsp_5xx"] or 0),
        }

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """The threads of the nodes, and the connections that it may have."""
        within = [each for each in self._seen if from_s <= each.t_s <= to_s]
        return busy_uses(within, self._threads, self._people_most)


def wanted_port(levels: Mapping[str, Level]) -> int:
    """The port that settings name; 0: a free one.

    Raises:
        WrongInputError: If it is none.
    """
    return int(_checked(PORT, levels.get(PORT, 0)))


def statistics(path: Path) -> list[dict[str, str]]:
    """What a running haproxy tells of its frontend, backend and servers.

    Args:
        path: Of its socket.

    Raises:
        TargetError: If it does not answer.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
            asked.settimeout(_ANSWER_S)
            asked.connect(str(path))
            asked.sendall(b"show stat\n")
            told = b"".join(iter(lambda: asked.recv(65_536), b""))
    except OSError as error:
        raise TargetError(f"haproxy does not answer: {error.strerror or error}") from error
    lines = told.decode(errors="replace").removeprefix("# ").splitlines()
    return list(csv.DictReader(line for line in lines if line))


# -- inside ------------------------------------------------------------------------------------
def _is_node(row: Mapping[str, str]) -> bool:
    return row["svname"].startswith("node-")


def _files_allowed() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def _files_for(connections: int) -> int:
    return 2 * connections + _OWN_FILES


def _most_connections() -> int:
    return (most_open_files(Machine()) - _OWN_FILES) // 2


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind((HOST, 0))
        return int(tried.getsockname()[1])


def _checked(name: str, level: Level) -> Level:
    """A level as the setting takes it.

    Raises:
        WrongInputError: If it cannot have it.
    """
    if name == "balance":
        if level not in _BALANCES:
            raise WrongInputError(f"balance is {', '.join(_BALANCES[:-1])} or {_BALANCES[-1]}")
        return level
    if name == "redispatch":
        words = {"on": True, "true": True, "off": False, "false": False}
        found = level if isinstance(level, bool) else words.get(str(level).lower())
        if found is None:
            raise WrongInputError(f"redispatch is on or off, not {level!r}")
        return found
    most = 65_535 if name == PORT else 10_000_000
    if isinstance(level, bool) or not re.fullmatch(r"\d{1,8}", str(level)) or int(level) > most:
        raise WrongInputError(f"{name} is a whole number from 0 to {most:,}, not {level!r}")
    return int(level)
