"""The nodes of Superset: workers, threads, pools, open files, keys."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts
from loadstone.doctor.facts_superset import BROWSER_CONNECTIONS, SupersetFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import (
    NOT_SPEED,
    SUPERSET_CONFIGURING,
    gunicorn_manual,
    haproxy_manual,
    sqlalchemy_manual,
    superset_manual,
    superset_rule,
)

_OWN_FILES = 200
"""Of haproxy, beside two for each connection."""
_OF_OWNER = "nothing of Loadstone's own has it: measure before and after"


@superset_rule(
    "nofile",
    "a process may open fewer files than its users have connections",
    Severity.SPEED,
    haproxy_manual("ulimit-n and maxconn", "#3.1-ulimit-n"),
)
def nofile(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """Two for each connection, to the browser and to the node."""
    connections, allowed = superset.connections, superset.nofile
    if connections is None or allowed is None or 2 * connections + _OWN_FILES <= allowed:
        return None
    needed = 2 * connections + _OWN_FILES
    return Advice(
        seen=f"{allowed:,} open files a process for {superset.users:,} users",
        why=f"each of the {BROWSER_CONNECTIONS} connections of a browser takes a file at the "
        "balancer, and another one to the node: whoever comes when they are used up waits",
        change=f"{needed:,} open files (2 x {connections:,} connections + {_OWN_FILES}): "
        "LimitNOFILE= in systemd, nofile in limits.conf, or parts.balancer.process.nofile of the "
        "experiment",
        risk="none for data; a process with more files takes a little more memory",
        measure=_OF_OWNER,
    )


@superset_rule(
    "maxconn",
    "the balancer lets fewer connections in than its users have",
    Severity.SPEED,
    haproxy_manual("maxconn", "#3.2-maxconn"),
)
def maxconn(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """It is set, and too low."""
    connections = superset.connections
    if connections is None or not superset.maxconn or superset.maxconn >= connections:
        return None
    return Advice(
        seen=f"maxconn = {superset.maxconn:,} for {superset.users:,} users",
        why="what comes on top waits in the kernel's queue until another browser closes a "
        "connection, and that may be a minute",
        change=f"maxconn = {connections:,} ({BROWSER_CONNECTIONS} connections x users)",
        risk="none for data; memory of haproxy, some 32 kB a connection",
        measure=Measure("target.balancer.maxconn", (superset.maxconn, connections)),
    )


@superset_rule(
    "threads",
    "one opened dashboard asks for more at a time than all nodes answer",
    Severity.SPEED,
    gunicorn_manual("How Many Threads?", "design"),
)
def threads(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """Fewer threads in all workers than a browser has connections."""
    at_a_time, own = superset.at_a_time, superset.threads
    if at_a_time is None or own is None or at_a_time >= BROWSER_CONNECTIONS:
        return None
    wanted = max(8, own)
    return Advice(
        seen=f"{superset.nodes} nodes x {superset.workers} workers x {own} threads = {at_a_time} "
        "requests at a time",
        why=f"a browser asks for {BROWSER_CONNECTIONS} charts at a time: each of them waits for "
        "the one before it, and so do all other people",
        change=f"{wanted} threads a worker (gthread), as charts wait for the warehouse most of "
        "the time",
        risk="none for data; more memory, and more connections to the catalogue",
        measure=Measure("target.threads", (own, wanted)),
    )


@superset_rule(
    "workers",
    "fewer workers than processors: Python runs on one at a time in each",
    Severity.LOOK,
    gunicorn_manual("How Many Workers?", "design"),
)
def workers(superset: SupersetFacts, host: HostFacts) -> Advice | None:
    """All workers together cannot use the machine."""
    if superset.workers is None or superset.nodes * superset.workers >= host.cores:
        return None
    wanted = -(-host.cores // superset.nodes)
    return Advice(
        seen=f"{superset.nodes * superset.workers} workers on {host.cores} processors",
        why="the lock of the interpreter lets one thread of a worker run at a time: the others "
        "wait while processors are idle",
        change=f"{wanted} workers a node (processors / nodes; gunicorn's own rule is twice that "
        "and one more), if the database does not need the processors",
        risk="none for data; each worker takes some 300 MB",
        measure=Measure("target.workers", (superset.workers, wanted)),
    )


@superset_rule(
    "pool-small",
    "a worker has more threads than connections to the catalogue",
    Severity.SPEED,
    sqlalchemy_manual("Connection Pool Configuration", "#connection-pool-configuration"),
)
def pool_small(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """Threads wait for each other, then fail."""
    pool, own = superset.pool, superset.threads
    if not pool or own is None or pool >= own:
        return None
    where = " (SQLAlchemy's default, 5 and 10 for peaks)" if superset.pool_is_default else ""
    return Advice(
        seen=f"{pool} connections{where} for {own} threads of a worker",
        why="each request holds a connection to the catalogue: the threads on top wait for one, "
        "30 s by default, and then fail (QueuePool limit reached)",
        change=f"SQLALCHEMY_ENGINE_OPTIONS = {{'pool_size': {own}, 'max_overflow': 0}}",
        risk=f"none for data; PostgreSQL must let in {own} sessions for each worker",
        measure=Measure("target.pool_size", (pool, own), settings={"threads": own}),
    )


@superset_rule(
    "no-pool",
    "each request opens a connection of its own to the catalogue",
    Severity.SPEED,
    sqlalchemy_manual("Switching Pool Implementations", "#switching-pool-implementations"),
)
def no_pool(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """NullPool, most often taken over from a configuration for another purpose."""
    if superset.pool != 0:
        return None
    return Advice(
        seen=f"NullPool in SQLALCHEMY_ENGINE_OPTIONS of {superset.told_by}",
        why="PostgreSQL starts a process for each connection: that takes milliseconds, and each "
        "request of a dashboard pays them",
        change="leave poolclass out, or put a pooler such as PgBouncer between",
        risk="none for data; connections stay open",
        measure=_OF_OWNER,
    )


@superset_rule(
    "worker-folder",
    "workers write that they live to a disk",
    Severity.LOOK,
    gunicorn_manual("How do I avoid blocking in os.fchmod?", "faq"),
)
def worker_folder(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """The heartbeat file is on a file system that has a disk."""
    if superset.worker_folder_in_memory is not False:
        return None
    return Advice(
        seen=f"the heartbeat files of gunicorn are in {superset.worker_folder}, which is on a disk",
        why="a worker changes its file each second; where the disk is slow or full the worker "
        "stands still meanwhile, and is killed if that lasts",
        change="gunicorn --worker-tmp-dir /dev/shm, or TMPDIR in memory",
        risk="none for data: the files are of a byte each",
        measure=_OF_OWNER,
    )


@superset_rule(
    "secret-random",
    "the key of the sessions is another one in each process",
    Severity.DATA,
    superset_manual("Configuring Superset: SECRET_KEY", SUPERSET_CONFIGURING),
)
def secret_random(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """A function makes it as the configuration is read."""
    if superset.key != "random":
        return None
    return Advice(
        seen=f"SECRET_KEY of {superset.told_by} is made by a function as the file is read",
        why="each worker and each node signs with a key of its own: people are logged out from "
        "request to request, and the passwords of databases in the catalogue cannot be read after "
        "a start",
        change="one random text for all nodes, made once (openssl rand -base64 42) and kept; "
        "passwords that were stored under a lost key have to be entered anew",
        risk="whoever reads the file can sign sessions: keep it from others",
        measure=NOT_SPEED,
    )


@superset_rule(
    "secret-known",
    "the key of the sessions is one that everybody knows",
    Severity.DATA,
    superset_manual("Securing Superset", "docs/security/securing_superset"),
)
def secret_known(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """It is from an example or a default."""
    if superset.key != "known":
        return None
    return Advice(
        seen=f"SECRET_KEY of {superset.told_by} is that of an example",
        why="whoever knows it signs a session as administrator, and reads all that the databases "
        "have",
        change="a random text (openssl rand -base64 42); superset re-encrypt-secrets takes what "
        "was stored under the old one, which PREVIOUS_SECRET_KEY names, along",
        risk="everybody is logged out once",
        measure=NOT_SPEED,
    )


@superset_rule(
    "catalogue-sqlite",
    "the catalogue is a SQLite file",
    Severity.SPEED,
    superset_manual("Configuring Superset: metadata database", SUPERSET_CONFIGURING),
)
def catalogue_sqlite(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """It has one writer at a time, and event logs and filter states are writes."""
    if superset.catalogue != "sqlite":
        return None
    return Advice(
        seen=f"SQLALCHEMY_DATABASE_URI of {superset.told_by} names SQLite",
        why="one connection writes at a time, and each request writes its event: people wait for "
        "each other, and several nodes cannot share the file",
        change="PostgreSQL or MySQL for the catalogue",
        risk="what is in the catalogue has to be moved",
        measure=_OF_OWNER,
    )
