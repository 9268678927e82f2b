"""The configuration that the nodes of Superset run with, and what they say that they have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from loadstone.errors import TargetError
from loadstone.targets.connection import ServerConnection
from loadstone.targets.superset.settings import Settings

CONFIG_NAME = "superset_config.py"
ENVIRONMENT = ("SCARF_ANALYTICS=false", "FLASK_APP=superset.app:create_app()")
"""Variables of every process of Superset: nobody is told that it runs."""
KEPT_S = 86_400
"""So long an answer stays in the cache of queries."""

_SAYS = '''
def FLASK_APP_MUTATOR(app):
    """Writes down what this process has in the end, to be read back."""
    import json, os, pathlib
    names = (
        "WTF_CSRF_TIME_LIMIT", "SQLALCHEMY_ENGINE_OPTIONS", "RATELIMIT_ENABLED",
        "RATELIMIT_APPLICATION",
    )
    has = {name: app.config.get(name) for name in names}
    has["DATA_CACHE"] = app.config["DATA_CACHE_CONFIG"]["CACHE_TYPE"]
    has["SESSION_S"] = app.permanent_session_lifetime.total_seconds()
    has["EVENTS"] = type(app.config["EVENT_LOGGER"]).__name__
    path = pathlib.Path(_SAID) / f"{os.getpid()}.json"
    path.with_suffix(".part").write_text(json.dumps(has))
    path.with_suffix(".part").rename(path)
'''

_NO_EVENTS = """
from superset.utils.log import AbstractEventLogger

class NoEvents(AbstractEventLogger):
    def log(self, *args, **kwargs):
        pass

EVENT_LOGGER = NoEvents()
"""


@dataclass(frozen=True)
class Surroundings:
    """What a node reaches, and by which secret nodes trust each other's sessions."""

    catalogue: ServerConnection
    cache: Path | None
    """Socket of Redis; None: nothing is kept between requests."""
    secret_key: str


def text(settings: Settings, around: Surroundings, said: Path) -> str:
    """The module `superset_config`.

    Args:
        settings: Of the trial.
        around: Catalogue, cache and secret.
        said: Folder into which each process writes what it has in the end.
    """
    values = {
        "SECRET_KEY": around.secret_key,
        "SQLALCHEMY_DATABASE_URI": address(around.catalogue),
        "SQLALCHEMY_TRACK_MODIFICATIONS": False,
        "SQLALCHEMY_ENGINE_OPTIONS": _pool(settings),
        "TALISMAN_ENABLED": False,
        "ENABLE_PROXY_FIX": True,
        "WTF_CSRF_TIME_LIMIT": settings.csrf_life_s,
        "PERMANENT_SESSION_LIFETIME": settings.session_life_s,
        "SESSION_COOKIE_SECURE": False,
        **_caches(settings, around.cache),
        **_limits(settings, around.cache),
        "_SAID": str(said),
    }
    lines = [f"{name} = {each!r}" for name, each in values.items()]
    return "\n".join([*lines, _NO_EVENTS if settings.tuned else "", _SAYS])


def address(to: ServerConnection) -> str:
    """A database as SQLAlchemy names it, at a Unix socket or at an address, with its password."""
    user, database = quote(to.user, safe=""), quote(to.database, safe="")
    word = "" if to.password is None else f":{quote(to.password, safe='')}"
    if to.host.startswith("/"):
        where = f"{user}{word}@/{database}?host={to.host}&port={to.port}"
    else:
        host = f"[{to.host}]" if ":" in to.host else to.host
        where = f"{user}{word}@{host}:{to.port}/{database}"
    return f"postgresql+psycopg2://{where}"


def has(said: Path) -> list[dict[str, Any]]:
    """What the processes that were started last have said; none while they are starting."""
    found = []
    for path in said.glob("*.json"):
        try:
            found.append(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            continue
    return found


def settings_said(said: Mapping[str, Any]) -> dict[str, Any]:
    """What a process has said, as the settings are called.

    Raises:
        TargetError: If it says less than it should.
    """
    try:
        limited = said["RATELIMIT_APPLICATION"] if said["RATELIMIT_ENABLED"] else "off"
        return {
            "query_cache": said["DATA_CACHE"] != "NullCache",
            "tuned": said["EVENTS"] == "NoEvents",
            "csrf_life_s": int(said["WTF_CSRF_TIME_LIMIT"]),
            "session_life_s": int(said["SESSION_S"]),
            "pool_size": int(said["SQLALCHEMY_ENGINE_OPTIONS"].get("pool_size", 0)),
            "pool_timeout_s": int(said["SQLALCHEMY_ENGINE_OPTIONS"]["pool_timeout"]),
            "rate_limit": limited,
        }
    except (KeyError, TypeError, ValueError) as error:
        raise TargetError(f"a node of Superset does not say what it has: {error!r}") from error


# -- inside ------------------------------------------------------------------------------------
def _pool(settings: Settings) -> dict[str, int]:
    size = {"pool_size": settings.pool_size, "max_overflow": 0} if settings.pool_size else {}
    return {**size, "pool_timeout": settings.pool_timeout_s}


def _caches(settings: Settings, redis: Path | None) -> dict[str, Any]:
    """Of the four caches only that of the queries can be switched off."""

    def kept(prefix: str, timeout_s: int) -> dict[str, Any]:
        if redis is None:
            return {"CACHE_TYPE": "NullCache"}
        return {
            "CACHE_TYPE": "RedisCache",
            "CACHE_REDIS_URL": f"unix://{redis}",
            "CACHE_KEY_PREFIX": prefix,
            "CACHE_DEFAULT_TIMEOUT": timeout_s,
        }

    answers = kept("data_", KEPT_S)
    return {
        "CACHE_CONFIG": kept("meta_", KEPT_S),
        "DATA_CACHE_CONFIG": answers if settings.query_cache else {"CACHE_TYPE": "NullCache"},
        "FILTER_STATE_CACHE_CONFIG": kept("filter_", 90 * KEPT_S),
        "EXPLORE_FORM_DATA_CACHE_CONFIG": kept("form_", 7 * KEPT_S),
    }


def _limits(settings: Settings, redis: Path | None) -> dict[str, Any]:
    """Superset limits log-ins by default: a load of many people from one address needs it off."""
    on = settings.rate_limit != "off" and redis is not None
    limits: dict[str, Any] = {"RATELIMIT_ENABLED": on, "AUTH_RATE_LIMITED": False}
    if on:
        limits |= {
            "RATELIMIT_APPLICATION": settings.rate_limit,
            "RATELIMIT_STORAGE_URI": f"redis+unix://{redis}",
        }
    return limits
