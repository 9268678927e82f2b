"""A node of Superset: gunicorn with its workers; and the nodes together."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, cast

from loadstone.errors import TargetError, WrongInputError
from loadstone.probes.base import Probe
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import SettingInfo, Target, TargetContext
from loadstone.targets.superset import configuration
from loadstone.targets.superset.configuration import Surroundings
from loadstone.targets.superset.installation import Environment
from loadstone.targets.superset.node_log import NodeLogProbe
from loadstone.targets.superset.part import PartServer, SupersetPart, write_private
from loadstone.targets.superset.settings import NAMES, Settings, settings_of
from loadstone.targets.superset.unix_http import status_at
from loadstone.targets.system import SystemOfParts

HEALTH = "/health"
_THREADS, _CLASS, _TIMEOUT = "--threads", "--worker-class", "--timeout"
_OPTIONS = (
    *("--keep-alive", "75", "--graceful-timeout", "20"),
    *("--limit-request-line", "0", "--limit-request-field_size", "0"),
    "--no-control-socket",
)
"""Of gunicorn, whatever is measured."""
_HOOKS = """\
import threading

def post_fork(server, worker):
    worker.has_loaded = threading.Event()
    def report():
        while not worker.has_loaded.wait(0.5):
            worker.notify()
    threading.Thread(target=report, daemon=True).start()

def post_worker_init(worker):
    worker.has_loaded.set()
"""
"""Configuration of gunicorn: a worker reports while it loads Superset, which takes ten seconds. Its
time limit is one of requests."""
_FIRST_PAGE = "/login/"
_ANSWER_S, _FIRST_S = 5.0, 120.0


@dataclass
class NodeMaker:
    """What a node needs of the system that it belongs to."""

    environment: Callable[[], Environment]
    around: Callable[[], Surroundings]
    """Asked whenever a node starts: the cache may be another by then."""


class Gunicorn(PartServer):
    """gunicorn with its workers, at a Unix socket."""

    title = "gunicorn"
    undo_name = "superset-end-gunicorn"
    config_name = configuration.CONFIG_NAME
    stop_s = 60.0
    start_s = 300.0
    cause = re.compile(r"^(?!gunicorn\.)[\w.]*(?:Error|Exception)\b")
    """The last line of a traceback, but for the one of gunicorn, which says that there is one."""
    python: Path
    settings: Settings = Settings()
    """How the next start runs it."""

    @property
    def hooks(self) -> Path:
        """What gunicorn runs as workers start."""
        return self.folder / "gunicorn.conf.py"

    @property
    def said(self) -> Path:
        """Folder into which each worker writes what it has when it has started."""
        return self.folder / "said"

    def command(self) -> Sequence[str | Path]:
        """The configuration stands in its command line, too: it is known by that."""
        variables: list[str | Path] = [
            *configuration.ENVIRONMENT,
            f"SUPERSET_CONFIG_PATH={self.config}",
            f"SUPERSET_HOME={self.folder}",
            f"HOME={self.folder}",
        ]
        own = self.settings
        return [
            *("env", *variables, self.python, "-m", "gunicorn", "--config", self.hooks),
            *("--workers", str(own.workers), _THREADS, str(own.threads_of_a_worker)),
            *(_CLASS, own.worker_class, _TIMEOUT, str(own.worker_timeout_s), *_OPTIONS),
            *("--bind", f"unix:{self.socket}", "--name", str(self.config)),
            "superset.app:create_app()",
        ]

    def is_ready(self) -> bool:
        """Every worker has loaded the application, and one of them answers."""
        if len(configuration.has(self.said)) < self.settings.workers:
            return False
        with contextlib.suppress(OSError, HTTPException):
            return status_at(self.socket, HEALTH, within_s=_ANSWER_S) == 200
        return False


class Node(SupersetPart[Gunicorn]):
    """A node. What it runs with are the settings of the system."""

    engine = "superset-node"
    socket_name = "node.sock"

    def __init__(self, spec: TargetSpec, context: TargetContext, maker: NodeMaker) -> None:
        super().__init__(spec, context)
        self._maker = maker

    def make_server(self, folder: Path, log: Path) -> Gunicorn:
        """With the interpreter of Superset's environment."""
        server = Gunicorn(folder, self.make_socket(), log=log, journal=self.context.journal)
        server.python = self._maker.environment().python
        return server

    def configure(self, spec: TargetSpec) -> None:
        """Writes its configuration; what the processes of the last start said is forgotten."""
        settings, server = settings_of(spec.settings), self.server
        server.settings = settings
        shutil.rmtree(server.said, ignore_errors=True)
        server.said.mkdir(mode=0o700)
        self._account.own(server.said)
        said = configuration.text(settings, self._maker.around(), server.said)
        write_private(server.config, said, self._account)
        write_private(server.hooks, _HOOKS, self._account)

    def has(self) -> dict[str, Any]:
        """The settings that all of its workers have, as they are called.

        Raises:
            TargetError: If workers have different ones.
        """
        said = [configuration.settings_said(each) for each in configuration.has(self.server.said)]
        if not said or any(each != said[0] for each in said):
            raise TargetError("the workers of a node of Superset have different settings")
        main = self.server.processes()[0]
        words = main.cmdline()
        given = {name: words[words.index(name) + 1] for name in (_THREADS, _CLASS, _TIMEOUT)}
        return {
            **said[0],
            "workers": len(main.children()),
            "threads": int(given[_THREADS]),
            "worker_class": given[_CLASS],
            "worker_timeout_s": int(given[_TIMEOUT]),
        }

    def probes(self) -> list[Probe]:
        """What its log tells."""
        return [NodeLogProbe(self.server.log)]

    def serve_once(self) -> None:
        """Asks for a page so often at a time that no worker is left out.

        Raises:
            TargetError: If it does not answer.
        """
        times = 2 * self.server.settings.workers
        with ThreadPoolExecutor(times) as pool:
            answered = list(pool.map(lambda _: self._page(), range(times)))
        if any(status != 200 for status in answered):
            raise TargetError(
                f"a node of Superset answers with {answered}", advice=f"see {self.server.log}"
            )

    def _page(self) -> int:
        try:
            return status_at(self.socket, _FIRST_PAGE, within_s=_FIRST_S)
        except (OSError, HTTPException) as error:
            raise TargetError(
                f"a node of Superset does not answer: {error or type(error).__name__}",
                advice=f"see {self.server.log}",
            ) from error

    def most_processors(self) -> float:
        """A process of Python runs on one at a time (the lock of its interpreter)."""
        return float(self.server.settings.workers)

    def inventory(self) -> dict[str, Any]:
        """Its settings, and no word of its configuration, which has a secret."""
        return {**super().inventory(), "has": self.has()}


class Nodes(SystemOfParts):
    """The part `nodes`: as many as the setting says."""

    engine = "superset-nodes"
    equal = True

    def __init__(self, spec: TargetSpec, context: TargetContext, maker: NodeMaker) -> None:
        self._maker = maker
        super().__init__(spec, context)

    @classmethod
    def named_parts(cls, spec: TargetSpec) -> tuple[str, ...]:
        """`1`, `2` and so on."""
        return tuple(str(number + 1) for number in range(settings_of(spec.settings).nodes))

    @classmethod
    def part_spec(cls, spec: TargetSpec, part: str) -> TargetSpec:
        """Each has the settings and the process options of all."""
        return TargetSpec(engine=Node.engine).model_copy(
            update={"settings": spec.settings, "data": spec.data, "process": spec.process}
        )

    @classmethod
    def part_class(cls, spec: TargetSpec, part: str) -> type[Target]:
        """A node."""
        return Node

    def make_part(self, name: str, spec: TargetSpec) -> Node:
        """Makes a node."""
        return Node(self.part_spec(spec, name), self.context, self._maker)

    @classmethod
    def own_setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """They are the system's."""
        raise WrongInputError(
            f"nodes have no setting {name!r} of their own",
            advice=f"write target.{name}" if name in NAMES else f"there are {', '.join(NAMES)}",
        )

    @property
    def members(self) -> dict[str, Node]:
        """By name, in order."""
        return {name: cast("Node", part) for name, part in self.parts().items()}

    @property
    def pool(self) -> int:
        """Connections to the catalogue that all of them together may have."""
        each = [node.server.settings for node in self.members.values()]
        return sum(own.workers * own.pool_of_a_worker for own in each)

    @property
    def threads(self) -> int:
        """Requests that all of them together answer at a time."""
        each = [node.server.settings for node in self.members.values()]
        return sum(own.workers * own.threads_of_a_worker for own in each)

    def serve_once(self) -> None:
        """Has every worker of every node answer: the first answer of each takes a second longer.

        Raises:
            TargetError: If one does not answer.
        """
        for node in self.members.values():
            node.serve_once()

    def has(self) -> dict[str, Any]:
        """The settings that all nodes have.

        Raises:
            TargetError: If nodes have different ones.
        """
        found = [node.has() for node in self.members.values()]
        if any(each != found[0] for each in found):
            raise TargetError("the nodes of Superset have different settings")
        return {**found[0], "nodes": len(found)}
