"""Redis: where Superset keeps answers, filter states and what it knows of its charts."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadstone.errors import TargetError, WrongInputError
from loadstone.placements import programs
from loadstone.probes.base import Probe
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.problems import near
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import SettingInfo
from loadstone.targets.library import calling
from loadstone.targets.probing import CountersProbe
from loadstone.targets.superset.part import PartServer, SupersetPart, write_private

if TYPE_CHECKING:
    import redis

PROGRAM = "redis-server"
SETTINGS: Mapping[str, str] = {
    "maxmemory": "0",
    "maxmemory-policy": "noeviction",
    "maxmemory-samples": "5",
    "io-threads": "1",
    "activedefrag": "no",
    "lazyfree-lazy-eviction": "no",
    "appendonly": "no",
    "appendfsync": "everysec",
    "save": "",
}
"""Of redis.conf, those that can matter to a cache, with what Loadstone starts it with: a cache that
is lost costs time only, so nothing of it is written to disk."""
_ANSWER_S = 5.0
_COUNTERS = {
    "keyspace_hits": "hits",
    "keyspace_misses": "misses",
    "evicted_keys": "evicted",
    "expired_keys": "expired",
    "total_commands_processed": "commands",
}
_BYTES = {"b": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "kb": 1024, "mb": 1024**2, "gb": 1024**3}


class RedisServer(PartServer):
    """A Redis that listens at a Unix socket alone."""

    title = "Redis"
    undo_name = "superset-end-redis"
    config_name = "redis.conf"
    stop_signal = signal.SIGTERM
    start_s = 60.0

    def command(self) -> Sequence[str | Path]:
        """With the configuration that was written for it."""
        return [programs.needed(PROGRAM), self.config]

    def is_ready(self) -> bool:
        """It answers a PING."""
        with contextlib.suppress(TargetError), connected(self.socket) as client, asking():
            return bool(client.ping())
        return False


class RedisCache(SupersetPart[RedisServer]):
    """The part `cache`: empty whenever a trial begins."""

    engine = "redis"
    socket_name = "redis.sock"

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """The program, or that it is missing."""
        found = super().describe(spec)
        return {**found, "program": str(programs.needed(PROGRAM))}

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """One that can matter to a cache."""
        if name not in SETTINGS:
            raise WrongInputError(f"the cache has no setting {name!r}; {near(name, SETTINGS)}")
        return SettingInfo(name, needs="restart", default=SETTINGS[name])

    @classmethod
    def plain_name(cls, name: str) -> str:
        """Redis does not look at the case."""
        return name.lower()

    # -- life ----------------------------------------------------------------------------------
    def make_server(self, folder: Path, log: Path) -> RedisServer:
        """In its folder."""
        return RedisServer(folder, self.make_socket(), log=log, journal=self.context.journal)

    def configure(self, spec: TargetSpec) -> None:
        """Settings, and where it listens."""
        settings = {**SETTINGS, **{name: _text(each) for name, each in spec.settings.items()}}
        lines = [f'{name} "{value}"' for name, value in settings.items()]
        own = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "daemonize": "no",
            "set-proc-title": "no",
        }
        lines += [f'{name} "{value}"' for name, value in own.items()]
        write_private(self.server.config, "\n".join(lines) + "\n", self._account)

    def read_back(self, spec: TargetSpec) -> list[FactorReading]:
        """What the running server has of them."""
        found = []
        with connected(self.socket) as client:
            for name, level in spec.settings.items():
                with asking():
                    has = str(client.config_get(name).get(name, ""))
                if not _same(_text(level), has):
                    raise TargetError(
                        f"Redis reads back {name} = {has}, not {level}",
                        advice="choose a level that it takes as it is",
                    )
                found.append(
                    FactorReading(
                        factor=f"target.{name}", requested=level, read_back=has, how="restart"
                    )
                )
        return found

    # -- observation ---------------------------------------------------------------------------
    def probes(self) -> list[Probe]:
        """Hits, misses, evictions and memory."""
        return [RedisProbe(self.socket)]

    def most_processors(self) -> float:
        """One works on the commands; each further `io-threads` reads and writes beside it."""
        return float(int(self._present.settings.get("io-threads", 1)))

    def inventory(self) -> dict[str, Any]:
        """Its version and settings, too."""
        with connected(self.socket) as client, asking():
            version = client.info("server")["redis_version"]
            settings = {name: client.config_get(name).get(name) for name in SETTINGS}
        return {**super().inventory(), "version": version, "settings": settings}


class RedisProbe(CountersProbe):
    """What Redis counts, and the memory that its keys take."""

    name = "redis"
    rare = frozenset({"evicted"})

    def __init__(self, socket: Path) -> None:
        super().__init__()
        self._socket = socket
        self._client: redis.Redis | None = None

    def connect(self) -> None:
        """Opens a connection of its own."""
        self._client = _client(self._socket)

    def disconnect(self) -> None:
        """Closes it."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def read_counters(self) -> dict[str, float]:
        """Of INFO."""
        client = self._client
        if client is None:
            raise TargetError("not connected")
        with asking():
            told: Mapping[str, Any] = client.info("stats")
        return {name: float(told[key]) for key, name in _COUNTERS.items() if key in told}

    def derived(self, moved: Mapping[str, float]) -> dict[str, float]:
        """How many of the keys that were asked for were there."""
        hits, misses = moved.get("hits", 0.0), moved.get("misses", 0.0)
        return {"hit_percent": 100 * hits / (hits + misses)} if hits + misses > 0 else {}


@contextlib.contextmanager
def connected(socket: Path) -> Iterator[redis.Redis]:
    """A connection for as long as the block lasts."""
    client = _client(socket)
    try:
        yield client
    finally:
        client.close()


def asking() -> contextlib.AbstractContextManager[None]:
    """Turns what the client library raises within the block into an error of the target."""
    return calling(lambda error: TargetError(f"Redis does not answer: {error}"))


def _client(socket: Path) -> redis.Redis:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return redis.Redis(
        unix_socket_path=str(socket),
        socket_timeout=_ANSWER_S,
        decode_responses=True,
        retry=Retry(NoBackoff(), 0),
    )


def _text(level: Level) -> str:
    return ("yes" if level else "no") if isinstance(level, bool) else str(level)


def _same(asked: str, has: str) -> bool:
    """Whether both mean the same: Redis tells sizes in bytes."""
    return asked.lower() == has.lower() or in_bytes(asked) == has


def in_bytes(text: str) -> str:
    """A size as Redis reads it, `2gb`, in bytes; anything else as it is."""
    digits = text.rstrip("bBkKmMgG")
    unit = _BYTES.get(text[len(digits) :].lower())
    return str(int(digits) * unit) if unit and digits.isdigit() else text
