"""Superset's own settings, as factors: how many nodes, what each runs, what is tuned.

What is a figure of Superset's configuration stands under its name there in `configuration`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.problems import near
from loadstone.targets.base import SettingInfo

_WEEK_S, _DAY_S = 7 * 86_400, 86_400
_RATE = re.compile(r"\d{1,6} per (?:\d{1,4} )?(?:second|minute|hour|day)s?")
MOST_NODES = 64
_FIXED = ("tuned",)
"""Of the data: accounts, indexes and roles are made by it."""
DEFAULT_POOL = 15
"""Connections of SQLAlchemy's own pool: 5, and 10 more for peaks."""
GTHREAD, SYNC = "gthread", "sync"
"""Classes of gunicorn's workers."""


@dataclass(frozen=True)
class Settings:
    """All of them, with the defaults of a plain installation."""

    nodes: int = 1
    """Servers behind the balancer."""
    workers: int = 2
    """Processes of a node."""
    threads: int = 8
    """Of a worker: so many requests it answers at a time."""
    worker_class: str = GTHREAD
    """Of gunicorn: `sync` answers one request at a time."""
    worker_timeout_s: int = 120
    """So long a worker may fail to report before gunicorn kills it: a `sync` one that is busy with
    a request does not report."""
    query_cache: bool = True
    """Answers of charts are kept in Redis."""
    tuned: bool = False
    """What administrators change first, see `TUNINGS`."""
    csrf_life_s: int = _WEEK_S
    """So long a token of a page may be used."""
    session_life_s: int = 31 * _DAY_S
    """So long a person stays logged in after the log-in."""
    pool_size: int = 0
    """Most connections of a worker to the catalogue; 0: SQLAlchemy's default, 5 and 10 more for
    peaks."""
    pool_timeout_s: int = 30
    """So long a request waits for one of them before it fails."""
    rate_limit: str = "off"
    """Most requests of one address and request, as `50 per second`."""

    @property
    def threads_of_a_worker(self) -> int:
        """So many requests a worker answers at a time."""
        return 1 if self.worker_class == SYNC else self.threads

    @property
    def pool_of_a_worker(self) -> int:
        """Most connections of a worker to the catalogue."""
        return self.pool_size or DEFAULT_POOL

    @property
    def most_at_a_time(self) -> int:
        """Requests that all nodes together answer at a time."""
        return self.nodes * self.workers * self.threads_of_a_worker


TUNINGS = (
    "passwords are hashed with pbkdf2 of 1,000 rounds instead of scrypt",
    "an index finds accounts by lower(username)",
    "no event log is written",
    "the role of the accounts may read all data sources",
)
"""What `tuned` does. Each changes what is measured, so it is told with the results."""

_RANGES: Mapping[str, tuple[int, int]] = {
    "nodes": (1, MOST_NODES),
    "workers": (1, 256),
    "threads": (1, 1000),
    "worker_timeout_s": (1, 3600),
    "csrf_life_s": (1, 366 * _DAY_S),
    "session_life_s": (1, 366 * _DAY_S),
    "pool_size": (0, 1000),
    "pool_timeout_s": (1, 3600),
}
NAMES = tuple(each.name for each in fields(Settings))
_DEFAULTS = Settings()


def settings_of(levels: Mapping[str, Level]) -> Settings:
    """The settings among levels; those of parts are passed over.

    Raises:
        WrongInputError: If a level is not one of its setting's values, or two contradict.
    """
    given = {name: value(name, each) for name, each in levels.items() if name in NAMES}
    found = Settings(**given)
    if given.get("threads", 1) != found.threads_of_a_worker and found.worker_class == SYNC:
        raise WrongInputError(
            f"a sync worker answers one request at a time, not {found.threads}",
            advice="leave threads out, or write worker_class: gthread",
        )
    return found


def info(name: str, level: Level) -> SettingInfo:
    """What is known of a setting.

    Raises:
        WrongInputError: If there is none of that name, or it cannot have that level.
    """
    if name not in NAMES:
        raise WrongInputError(
            f"target superset has no setting {name!r}; {near(name, NAMES)}",
            advice="settings of its parts are named database.…, cache.…, balancer.…",
        )
    value(name, level)
    default = getattr(_DEFAULTS, name)
    needs = "new data" if name in _FIXED else "restart"
    return SettingInfo(name, needs=needs, default=_text(default))


def value(name: str, level: Level) -> Any:
    """A level as its setting takes it.

    Raises:
        WrongInputError: If it cannot have it.
    """
    if name in _RANGES:
        return _number(name, level)
    if name == "rate_limit":
        return _rate(level)
    if name == "worker_class":
        return _worker_class(level)
    return _switch(name, level)


def layout(levels: Mapping[str, Level]) -> dict[str, Level]:
    """Those that are fixed when the data are made, where they are not the default."""
    chosen = settings_of(levels)
    return {name: True for name in _FIXED if getattr(chosen, name)}


def readings(levels: Mapping[str, Level], found: Mapping[str, Any]) -> list[FactorReading]:
    """One for each setting that was asked for, by what the running nodes have.

    Args:
        levels: As they were asked for.
        found: Setting: its value on the nodes.
    """
    return [
        FactorReading(
            factor=f"target.{name}",
            requested=level,
            read_back=_read_back(found[name]),
            how="new data" if name in _FIXED else "restart",
        )
        for name, level in levels.items()
        if name in NAMES
    ]


# -- inside ------------------------------------------------------------------------------------
def _number(name: str, level: Level) -> int:
    least, most = _RANGES[name]
    text = str(level).strip()
    if isinstance(level, bool) or not re.fullmatch(r"\d{1,9}", text):
        raise WrongInputError(f"{name} is a whole number from {least} to {most:,}, not {text!r}")
    if not least <= int(text) <= most:
        raise WrongInputError(f"{name} is from {least} to {most:,}, not {text}")
    return int(text)


def _switch(name: str, level: Level) -> bool:
    words = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
    found = level if isinstance(level, bool) else words.get(str(level).lower())
    if found is None:
        raise WrongInputError(f"{name} is on or off, not {level!r}")
    return found


def _rate(level: Level) -> str:
    if level is False or str(level).lower() == "off":
        return "off"
    text = str(level)
    if not _RATE.fullmatch(text):
        raise WrongInputError(f"rate_limit is off, or a rate such as '50 per second', not {text!r}")
    return text


def _worker_class(level: Level) -> str:
    if level not in (GTHREAD, SYNC):
        raise WrongInputError(f"worker_class is {GTHREAD} or {SYNC}, not {level!r}")
    return str(level)


def _text(default: bool | int | str) -> str:
    return ("on" if default else "off") if isinstance(default, bool) else str(default)


def _read_back(found: bool | int | str) -> Level:
    return found
