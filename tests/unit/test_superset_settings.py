"""What Superset is started with: settings, the configuration of its nodes, its balancer."""

import json
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loadstone.errors import TargetError, WrongInputError
from loadstone.spec.base import Level
from loadstone.spec.target import PartSpec, ProcessSpec, TargetSpec
from loadstone.targets.connection import ServerConnection
from loadstone.targets.superset import Superset, balancer, cache, configuration, settings
from loadstone.targets.superset.balancer import Balancer
from loadstone.targets.superset.cache import RedisCache
from loadstone.targets.superset.configuration import Surroundings
from loadstone.targets.superset.settings import Settings

CATALOGUE = ServerConnection(
    protocol="postgresql", host="/run/pg", port=5432, user="loadstone", database="superset"
)
WITH_REDIS = Surroundings(CATALOGUE, Path("/run/redis.sock"), "secret-of-nodes")


# -- settings ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "level", "has"),
    [
        ("nodes", 4, 4),
        ("nodes", "4", 4),
        ("query_cache", "off", False),
        ("query_cache", True, True),
        ("tuned", "on", True),
        ("rate_limit", False, "off"),
        ("rate_limit", "50 per second", "50 per second"),
        ("rate_limit", "100 per 5 minutes", "100 per 5 minutes"),
    ],
)
def test_a_level_is_taken(name: str, level: Level, has: Any) -> None:
    assert getattr(settings.settings_of({name: level, "database.work_mem": "1MB"}), name) == has


@pytest.mark.parametrize(
    ("name", "level", "told"),
    [
        ("nodes", 0, "nodes is from 1 to 64, not 0"),
        ("nodes", True, "nodes is a whole number"),
        ("workers", "many", "workers is a whole number from 1 to 256, not 'many'"),
        ("query_cache", "maybe", "query_cache is on or off"),
        ("rate_limit", "fast", "rate_limit is off, or a rate such as '50 per second'"),
        ("wokers", 2, "target superset has no setting 'wokers'.*workers"),
    ],
)
def test_a_wrong_level_is_refused(name: str, level: Level, told: str) -> None:
    with pytest.raises(WrongInputError, match=told):
        settings.info(name, level)


def test_what_is_tuned_is_fixed_when_the_data_are_made() -> None:
    assert settings.info("tuned", True).needs == "new data"
    assert settings.info("workers", 2).needs == "restart"
    assert settings.layout({"workers": 2}) == {}
    assert settings.layout({"tuned": "on", "workers": 2}) == {"tuned": True}
    spec = TargetSpec(engine="superset", settings={"tuned": True})
    assert Superset.layout(spec) == {"tuned": True}


def test_each_setting_is_read_back_as_the_nodes_have_it() -> None:
    found = {name.name: getattr(Settings(), name.name) for name in fields(Settings)}
    (reading,) = settings.readings({"query_cache": "on", "database.work_mem": "1MB"}, found)
    assert (reading.factor, reading.requested, reading.read_back) == (
        "target.query_cache",
        "on",
        True,
    )


# -- parts -------------------------------------------------------------------------------------
def test_settings_reach_each_node_and_sessions_the_database() -> None:
    spec = TargetSpec(
        engine="superset",
        settings={"nodes": 3, "workers": 8, "threads": 16, "database.work_mem": "8MB"},
        parts={"nodes": PartSpec(process=ProcessSpec(quota=0.5))},
    )
    nodes = Superset.part_spec(spec, "nodes")
    assert nodes.settings == {"nodes": 3, "workers": 8, "threads": 16}
    kind = Superset.part_class(spec, "nodes")
    assert kind.named_parts(nodes) == ("1", "2", "3")
    assert kind.part_spec(nodes, "2").process.quota == 0.5
    database = Superset.part_spec(spec, "database").settings
    assert database == {"work_mem": "8MB", "max_connections": 800}


def test_the_catalogue_lies_in_a_postgresql_of_loadstone() -> None:
    for part in (PartSpec(engine="sqlite"), PartSpec(server="postgresql://user@host/db")):
        spec = TargetSpec(engine="superset", parts={"database": part})
        with pytest.raises(WrongInputError, match="has its catalogue and warehouse in a Postgre"):
            Superset.describe(spec)


def test_a_setting_of_the_nodes_is_named_without_them() -> None:
    with pytest.raises(WrongInputError) as raised:
        Superset.setting(TargetSpec(engine="superset"), "nodes.workers", 4)
    assert raised.value.advice == "write target.workers"
    assert Superset.setting(TargetSpec(engine="superset"), "nodes", 4).needs == "restart"


# -- configuration -----------------------------------------------------------------------------
def configured(chosen: Settings, around: Surroundings, said: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(configuration.text(chosen, around, said), found)  # noqa: S102 - it is our own
    return found


def app_with(config: dict[str, Any]) -> Any:
    """As Superset has it in the end, with the defaults that it has besides."""

    def total_seconds() -> float:
        return float(config["PERMANENT_SESSION_LIFETIME"])

    return SimpleNamespace(
        config={"EVENT_LOGGER": object(), "RATELIMIT_APPLICATION": "50 per second", **config},
        permanent_session_lifetime=SimpleNamespace(total_seconds=total_seconds),
    )


@pytest.mark.parametrize(
    "chosen",
    [
        Settings(),
        Settings(query_cache=False, csrf_life_s=20, session_life_s=60),
        Settings(pool_size=1, rate_limit="5 per second"),
    ],
)
def test_a_process_says_what_it_was_told(chosen: Settings, tmp_path: Path) -> None:
    config = configured(chosen, WITH_REDIS, tmp_path)
    config["FLASK_APP_MUTATOR"](app_with(config))
    (said,) = configuration.has(tmp_path)
    for name, value in configuration.settings_said(said).items():
        assert value == getattr(chosen, name), name


def test_only_the_cache_of_queries_is_switched_off(tmp_path: Path) -> None:
    config = configured(Settings(query_cache=False), WITH_REDIS, tmp_path)
    kinds = {name: each["CACHE_TYPE"] for name, each in config.items() if name.endswith("_CONFIG")}
    assert kinds == {
        "CACHE_CONFIG": "RedisCache",
        "DATA_CACHE_CONFIG": "NullCache",
        "FILTER_STATE_CACHE_CONFIG": "RedisCache",
        "EXPLORE_FORM_DATA_CACHE_CONFIG": "RedisCache",
    }


def test_log_ins_are_not_limited_and_tokens_are_checked(tmp_path: Path) -> None:
    config = configured(Settings(), WITH_REDIS, tmp_path)
    assert (config["RATELIMIT_ENABLED"], config["AUTH_RATE_LIMITED"]) == (False, False)
    assert "WTF_CSRF_ENABLED" not in config
    limited = configured(Settings(rate_limit="5 per second"), WITH_REDIS, tmp_path)
    assert limited["RATELIMIT_STORAGE_URI"] == "redis+unix:///run/redis.sock"


def test_a_process_that_says_too_little_is_named() -> None:
    with pytest.raises(TargetError, match="a node of Superset does not say what it has"):
        configuration.settings_said({"DATA_CACHE": "NullCache"})


# -- balancer and cache ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "level", "told"),
    [
        ("balance", "fair", "balance is leastconn, roundrobin, random or first"),
        ("port", 70_000, "port is a whole number from 0 to 65,535"),
        ("port", "any", "port is a whole number"),
        ("redispatch", "perhaps", "redispatch is on or off"),
        ("ports", 1, "the balancer has no setting 'ports'"),
    ],
)
def test_a_wrong_level_of_the_balancer_is_refused(name: str, level: Level, told: str) -> None:
    with pytest.raises(WrongInputError, match=told):
        Balancer.setting(TargetSpec(engine="haproxy"), name, level)


def test_a_port_that_somebody_has_is_named_before_anything_begins() -> None:
    with balancer.socket.socket() as taken:
        taken.bind((balancer.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        spec = TargetSpec(engine="haproxy", settings={"port": port})
        with pytest.raises(TargetError, match=rf"port {port} of 127.0.0.1 is taken"):
            Balancer.describe(spec)


def test_the_balancer_gets_room_for_many_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balancer, "_files_allowed", lambda: 20_000)
    monkeypatch.setattr(balancer, "most_open_files", lambda _: 1_000_000)
    spec = TargetSpec(engine="superset")
    assert Superset.for_sessions(spec, 100) == {}
    assert Superset.for_sessions(spec, 5000) == {"balancer.maxconn": 30_000}


def test_the_balancer_gets_no_more_than_the_limit_can_be_raised_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(balancer, "_files_allowed", lambda: 20_000)
    monkeypatch.setattr(balancer, "most_open_files", lambda _: 20_000)
    assert Superset.for_sessions(TargetSpec(engine="superset"), 5000) == {"balancer.maxconn": 9900}
    with pytest.raises(WrongInputError, match=r"maxconn = 9,901 needs 20,002 open files"):
        Balancer.setting(TargetSpec(engine="haproxy"), "maxconn", 9901)


@pytest.mark.parametrize(
    ("asked", "has"), [("100mb", "104857600"), ("1G", "1000000000"), ("yes", "yes"), ("0", "0")]
)
def test_redis_tells_sizes_in_bytes(asked: str, has: str) -> None:
    assert cache._same(asked, has)


def test_another_value_of_redis_is_another() -> None:
    assert not cache._same("100mb", "100000000")
    with pytest.raises(WrongInputError, match=r"the cache has no setting 'maxmem'.*maxmemory"):
        RedisCache.setting(TargetSpec(engine="redis"), "maxmem", "1mb")


@pytest.mark.parametrize(("kind", "program"), [(RedisCache, "redis-server"), (Balancer, "haproxy")])
def test_a_program_that_is_missing_is_named(
    kind: type[RedisCache | Balancer], program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loadstone.placements.programs.find", lambda _: None)
    with pytest.raises(TargetError, match=f"{program} is missing: install the package {program}"):
        kind.describe(TargetSpec(engine=kind.engine))


def test_statistics_are_read_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = b"# pxname,svname,status\nnodes,node-1,UP\nnodes,BACKEND,UP\n\n"

    class Answering:
        def __init__(self, *_: object) -> None:
            self.left = [told, b""]

        def __enter__(self) -> "Answering":
            return self

        def __exit__(self, *_: object) -> None: ...

        def settimeout(self, _: float) -> None: ...

        def connect(self, _: str) -> None: ...

        def sendall(self, _: bytes) -> None: ...

        def recv(self, _: int) -> bytes:
            return self.left.pop(0)

    monkeypatch.setattr(balancer.socket, "socket", Answering)
    rows = balancer.statistics(tmp_path / "socket")
    assert [(row["svname"], row["status"]) for row in rows] == [("node-1", "UP"), ("BACKEND", "UP")]


def test_what_nodes_say_is_written_whole(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(json.dumps({"a": 1}))
    (tmp_path / "2.part").write_text("{")
    assert configuration.has(tmp_path) == [{"a": 1}]
