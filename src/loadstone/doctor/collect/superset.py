"""The Superset that an experiment plans, or that a configuration and processes here show."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

import psutil

from loadstone.doctor.collect.process import process_facts
from loadstone.doctor.collect.superset_config import Config, read_config
from loadstone.doctor.facts_superset import SupersetFacts
from loadstone.host.mounts import mount_of
from loadstone.host.processes import matching
from loadstone.spec.model import Experiment
from loadstone.targets.superset import cache, configuration
from loadstone.targets.superset.settings import settings_of
from loadstone.workloads.registry import workload_of

_IN_MEMORY = ("tmpfs", "ramfs")
_APPLICATION = "superset"


def planned_superset(experiment: Experiment) -> SupersetFacts:
    """As the settings of an experiment have it.

    Args:
        experiment: Whose Superset Loadstone starts.

    Raises:
        WrongInputError: If a setting cannot be.
    """
    target, profile = experiment.target, experiment.profile
    own = settings_of(target.settings)
    redis = {**cache.SETTINGS, **_of_part(experiment, "cache")}
    balancer = _of_part(experiment, "balancer")
    folder, in_memory = _worker_folder(None)
    parameters = workload_of(experiment.workload).parameters.model_dump()
    users = profile.most_users if profile.load == "closed" else None
    ramp_s = profile.ramp_s
    return SupersetFacts(
        told_by="the experiment",
        nodes=own.nodes,
        workers=own.workers,
        threads=own.threads_of_a_worker,
        cache="RedisCache" if own.query_cache else "NullCache",
        cache_life_s=float(configuration.KEPT_S),
        cache_bytes=int(cache.in_bytes(str(redis["maxmemory"]))),
        cache_policy=str(redis["maxmemory-policy"]),
        pool=own.pool_of_a_worker,
        pool_is_default=not own.pool_size,
        hashing="pbkdf2:1000" if own.tuned else "scrypt",
        event_log=not own.tuned,
        username_index=own.tuned,
        accounts=parameters.get("accounts"),
        users=users,
        log_ins_per_s=users / ramp_s if users and ramp_s > 0 else None,
        maxconn=int(balancer.get("maxconn", 0)),
        nofile=resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        worker_folder=folder,
        worker_folder_in_memory=in_memory,
        key="own",
        catalogue="postgresql",
    )


def superset_at(path: Path) -> SupersetFacts:
    """By its configuration, and by the gunicorn of this machine that serves it, if there is one.

    Args:
        path: Of a `superset_config.py`.

    Raises:
        WrongInputError: If it cannot be read.
    """
    config, server = read_config(path), _gunicorn()
    words = server.cmdline() if server is not None else []
    facts = process_facts(server.pid, "") if server is not None else None
    folder, in_memory = (
        _worker_folder(_option(words, "--worker-tmp-dir")) if words else (None, None)
    )
    address = config.values.get("SQLALCHEMY_DATABASE_URI")
    workers = _number(_option(words, "--workers", "-w"))
    return SupersetFacts(
        told_by=str(path),
        workers=workers or (_children(server) if server is not None else None),
        threads=_number(_option(words, "--threads")) or (1 if words else None),
        cache=config.of("DATA_CACHE_CONFIG", "CACHE_TYPE"),
        cache_life_s=config.of("DATA_CACHE_CONFIG", "CACHE_DEFAULT_TIMEOUT"),
        pool=_pool(config),
        pool_is_default="SQLALCHEMY_ENGINE_OPTIONS" not in config.names,
        hashing=config.values.get("FAB_PASSWORD_HASH_METHOD"),
        nofile=facts.nofile if facts is not None else None,
        worker_folder=folder,
        worker_folder_in_memory=in_memory,
        key=config.key,
        catalogue=address.partition(":")[0].partition("+")[0] if address else None,
    )


# -- inside ------------------------------------------------------------------------------------
def _of_part(experiment: Experiment, part: str) -> dict[str, str]:
    """What is said of a part, in the part and among the settings of the system."""
    given = experiment.target.parts.get(part)
    settings = {**(given.settings if given is not None else {})}
    settings |= {
        name.removeprefix(f"{part}."): level
        for name, level in experiment.target.settings.items()
        if name.startswith(f"{part}.")
    }
    return {name: str(level) for name, level in settings.items()}


def _pool(config: Config) -> int | None:
    """Connections of a worker at most; None where what makes them is no plain value."""
    name = "SQLALCHEMY_ENGINE_OPTIONS"
    if "NullPool" in config.names.get(name, ()):
        return 0
    options = config.values.get(name, {} if name not in config.names else None)
    if not isinstance(options, dict):
        return None
    size, more = options.get("pool_size", 5), options.get("max_overflow", 10)
    return size + more if isinstance(size, int) and isinstance(more, int) else None


def _gunicorn() -> psutil.Process | None:
    """The first process of the gunicorn that serves Superset here, the oldest of several."""
    found = matching(
        lambda words: (
            any("gunicorn" in word for word in words[:4])
            and any(word.startswith(_APPLICATION) for word in words)
        )
    )
    oldest = sorted(found, key=lambda process: (process.create_time(), process.pid))
    return oldest[0] if oldest else None


def _children(server: psutil.Process) -> int | None:
    try:
        return len(server.children()) or None
    except psutil.Error:
        return None


def _option(words: list[str], *names: str) -> str | None:
    """The value of an option of a command line, as `--name value` or `--name=value`."""
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else next(iter(words[place + 1 :]), None)
    return None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _worker_folder(named: str | None) -> tuple[str, bool | None]:
    """Where workers write that they live, and whether that is in memory."""
    folder = named or tempfile.gettempdir()
    mount = mount_of(Path(folder))
    return folder, None if mount is None else mount["file_system"] in _IN_MEMORY
