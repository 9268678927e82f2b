"""The parts of Superset that are not Superset: a real Redis, a real haproxy before small nodes."""

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from tempfile import TemporaryDirectory

import psutil
import pytest
import redis
from session import until

from loadstone.errors import TargetError
from loadstone.host.processes import wait_ended
from loadstone.journal import Journal, open_journals
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.superset.balancer import HOST, Balancer, statistics
from loadstone.targets.superset.cache import RedisCache, RedisServer

REPEATED = 3


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))


@pytest.fixture
def context(tmp_path: Path) -> Iterator[TargetContext]:
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        yield TargetContext(journal, "pytest")
    assert not list(open_journals())


# -- the cache ---------------------------------------------------------------------------------
@pytest.fixture
def cache(context: TargetContext) -> Iterator[RedisCache]:
    made = RedisCache(TargetSpec(engine="redis"), context)
    made.open()
    yield made
    made.close()


def with_settings(**settings: Level) -> TargetSpec:
    return TargetSpec(
        engine="redis", settings={name.replace("_", "-"): each for name, each in settings.items()}
    )


def client(cache: RedisCache) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(cache.socket), decode_responses=True)


def test_settings_of_the_cache_are_read_back(cache: RedisCache) -> None:
    readings = cache.empty(with_settings(maxmemory="64mb", maxmemory_policy="allkeys-lru"))
    assert [(each.factor, each.read_back) for each in readings] == [
        ("target.maxmemory", str(64 * 1024**2)),
        ("target.maxmemory-policy", "allkeys-lru"),
    ]
    assert cache.inventory()["settings"]["save"] == ""
    cache.check_ready()


def test_every_trial_begins_with_an_empty_cache(cache: RedisCache) -> None:
    cache.empty(with_settings())
    with client(cache) as asked:
        asked.set("key", "value")
    cache.restore("any", with_settings())
    with client(cache) as asked:
        assert asked.get("key") is None


def test_hits_and_misses_are_counted(cache: RedisCache) -> None:
    cache.empty(with_settings())
    (probe,) = cache.probes()
    probe.start()
    with client(cache) as asked:
        asked.set("key", "value")
        for _ in range(REPEATED):
            asked.get("key")
        asked.get("other")
    found = {sample.metric: sample.value for sample in probe.sample(1.0)}
    probe.stop()
    assert found["hit_percent"] == 75.0
    assert found["commands_per_s"] > 0


def test_a_level_that_redis_refuses_is_named(cache: RedisCache) -> None:
    with pytest.raises(TargetError, match=r"Redis does not start with maxmemory-policy = none"):
        cache.empty(with_settings(maxmemory_policy="none"))


OWNER = """
import sys, time
from pathlib import Path
from loadstone.journal import Journal
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.superset.cache import RedisCache
with Journal(Path(sys.argv[1]), "killed") as journal:
    cache = RedisCache(TargetSpec(engine="redis"), TargetContext(journal, "killed"))
    cache.open()
    cache.empty(cache.spec)
    print(cache.folder, flush=True)
    time.sleep(600)
"""


def test_a_killed_run_leaves_nothing_after_recover(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "killed.jsonl")],
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        folder = Path(owner.stdout.readline().strip())
        owner.send_signal(signal.SIGKILL)
    left = RedisServer.processes_of(folder)
    assert len(left) == 1
    (found,) = open_journals()
    failures: list[Exception | None] = []
    assert found.recover(lambda _, error: failures.append(error)), failures
    assert wait_ended(left, 10)
    assert not folder.parent.exists()


# -- the balancer ------------------------------------------------------------------------------
class SmallNode(ThreadingMixIn, UnixStreamServer):
    """Answers everything with its name, at a Unix socket."""

    daemon_threads = True

    def __init__(self, path: Path) -> None:
        name = path.name.encode()

        class Answers(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(name)))
                self.end_headers()
                self.wfile.write(name)

            def address_string(self) -> str:
                return "balancer"

            def log_message(self, *_: object) -> None: ...

        super().__init__(str(path), Answers)
        path.chmod(0o666)
        self._path = path
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def end(self) -> None:
        """Nobody can connect any more."""
        self.shutdown()
        self.server_close()
        self._path.unlink(missing_ok=True)


@pytest.fixture
def sockets() -> Iterator[dict[str, Path]]:
    """Where the account of the balancer may enter, which is not root."""
    with TemporaryDirectory(prefix="nodes-", dir="/var/tmp") as made:
        folder = Path(made)
        folder.chmod(0o755)
        yield {"1": folder / "one", "2": folder / "two"}


@pytest.fixture
def nodes(sockets: dict[str, Path]) -> Iterator[dict[str, SmallNode]]:
    made = {name: SmallNode(path) for name, path in sockets.items()}
    yield made
    for node in made.values():
        node.end()


@pytest.fixture
def balancer(
    context: TargetContext, sockets: dict[str, Path], nodes: dict[str, SmallNode]
) -> Iterator[Balancer]:
    assert nodes.keys() == sockets.keys()
    made = Balancer(TargetSpec(engine="haproxy"), context, lambda: sockets)
    made.open()
    made.empty(made.spec)
    yield made
    made.close()


def asked(balancer: Balancer) -> tuple[int, str]:
    connection = HTTPConnection(HOST, balancer.port, timeout=30)
    connection.request("GET", "/")
    answer = connection.getresponse()
    told = answer.read().decode()
    connection.close()
    return answer.status, told


def up(balancer: Balancer) -> int:
    rows = statistics(balancer.socket)
    nodes = [row for row in rows if row["svname"].startswith("node-")]
    return sum(row["status"].startswith("UP") for row in nodes)


def test_all_nodes_take_part(balancer: Balancer) -> None:
    until("both nodes are up", lambda: up(balancer) == 2)
    assert {asked(balancer) for _ in range(8)} == {(200, "one"), (200, "two")}


def test_a_node_that_is_away_is_left_out_and_comes_back(
    balancer: Balancer, nodes: dict[str, SmallNode], sockets: dict[str, Path]
) -> None:
    until("both nodes are up", lambda: up(balancer) == 2)
    (probe,) = balancer.probes()
    probe.start()
    nodes["1"].end()
    # Whoever comes to it before it is missed is sent on to the other one.
    assert {asked(balancer) for _ in range(8)} == {(200, "two")}
    until("one node is missed", lambda: up(balancer) == 1)
    levels = {sample.metric: sample.value for sample in probe.sample(1.0)}
    assert levels["nodes_up_count"] == 1
    nodes["1"] = SmallNode(sockets["1"])
    until("it is back", lambda: up(balancer) == 2)
    assert {asked(balancer)[1] for _ in range(8)} == {"one", "two"}
    probe.stop()


def test_the_port_stays_and_is_what_was_asked_for(balancer: Balancer) -> None:
    port = balancer.port
    balancer.restore("any", balancer.spec)
    assert balancer.port == port
    with socket.socket() as free:
        free.bind((HOST, 0))
        wanted = free.getsockname()[1]
    spec = TargetSpec(engine="haproxy", settings={"port": wanted, "balance": "roundrobin"})
    readings = {each.factor: each.read_back for each in balancer.empty(spec)}
    assert readings == {"target.port": wanted, "target.balance": "roundrobin"}
    assert asked(balancer)[0] == 200


def test_a_port_that_was_taken_meanwhile_is_named(balancer: Balancer) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        spec = TargetSpec(engine="haproxy", settings={"port": taken.getsockname()[1]})
        with pytest.raises(TargetError, match="haproxy does not start") as raised:
            balancer.empty(spec)
    assert "choose another port" in str(raised.value.advice)


def test_no_process_of_the_balancer_is_left(balancer: Balancer) -> None:
    found = balancer.server.processes()
    assert len(found) == 1
    assert json.dumps(balancer.inventory(), default=str)
    balancer.close()
    assert not any(psutil.pid_exists(each.pid) for each in found)
