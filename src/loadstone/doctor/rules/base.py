"""How a rule is written: a function of facts under a decorator that says the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from loadstone.doctor.facts import Facts, HostFacts, MariaDBFacts, PostgreSQLFacts, SQLiteFacts
from loadstone.doctor.facts_superset import SupersetFacts
from loadstone.doctor.model import Advice, Rule, Severity, Source, Subject

RULES: dict[str, Rule] = {}
"""Every rule by its name, in the order in which they are told."""

Host = Callable[[HostFacts], Advice | None]
PostgreSQL = Callable[[PostgreSQLFacts, HostFacts | None], Advice | None]
MariaDB = Callable[[MariaDBFacts, HostFacts | None], Advice | None]
SQLite = Callable[[SQLiteFacts, HostFacts], Advice | None]
Superset = Callable[[SupersetFacts, HostFacts], Advice | None]

_Server = TypeVar("_Server", PostgreSQLFacts, MariaDBFacts)

NOT_SPEED = "nothing to measure: this is about safety, not about speed"

MARIADB_INNODB = "server-usage/storage-engines/innodb"
MARIADB_TUNING = "ha-and-performance/optimization-and-tuning"
MARIADB_VARIABLES = f"{MARIADB_TUNING}/system-variables"
MARIADB_LOGS = "server-management/server-monitoring-logs"
MARIADB_LINUX = (
    "server-management/install-and-upgrade-mariadb/configuring-mariadb/"
    "mariadb-performance-advanced-configurations"
)
"""Folders of MariaDB's documentation."""
SUPERSET_CONFIGURING = "admin-docs/6.1.0/configuration/configuring-superset"
"""Page of Superset's documentation."""


def register(  # noqa: PLR0917 - the fields of a rule, in their order
    subject: Subject,
    name: str,
    about: str,
    severity: Severity,
    source: Source,
    look: Callable[[Facts], Advice | None],
) -> None:
    """Adds a rule.

    Raises:
        ValueError: If there is one of that name.
    """
    full = f"{subject}.{name}"
    if full in RULES:
        raise ValueError(f"there are two rules {full}")
    RULES[full] = Rule(subject, full, about, severity, source, look)


def host_rule(name: str, about: str, severity: Severity, source: Source) -> Callable[[Host], Host]:
    """A rule about this machine."""

    def decorate(judge: Host) -> Host:
        register("host", name, about, severity, source, lambda facts: judge(facts.host))
        return judge

    return decorate


def postgresql_rule(
    name: str, about: str, severity: Severity, source: Source
) -> Callable[[PostgreSQL], PostgreSQL]:
    """A rule about a PostgreSQL; its host is None if that is another machine."""

    def decorate(judge: PostgreSQL) -> PostgreSQL:
        register("postgresql", name, about, severity, source, _looking_at(PostgreSQLFacts, judge))
        return judge

    return decorate


def mariadb_rule(
    name: str, about: str, severity: Severity, source: Source
) -> Callable[[MariaDB], MariaDB]:
    """A rule about a MariaDB; its host is None if that is another machine."""

    def decorate(judge: MariaDB) -> MariaDB:
        register("mariadb", name, about, severity, source, _looking_at(MariaDBFacts, judge))
        return judge

    return decorate


def sqlite_rule(
    name: str, about: str, severity: Severity, source: Source
) -> Callable[[SQLite], SQLite]:
    """A rule about a SQLite database, which is always on this machine."""

    def decorate(judge: SQLite) -> SQLite:
        def look(facts: Facts) -> Advice | None:
            server = facts.server
            return judge(server, facts.host) if isinstance(server, SQLiteFacts) else None

        register("sqlite", name, about, severity, source, look)
        return judge

    return decorate


def superset_rule(
    name: str, about: str, severity: Severity, source: Source
) -> Callable[[Superset], Superset]:
    """A rule about an Apache Superset, and the machine that it runs on."""

    def decorate(judge: Superset) -> Superset:
        def look(facts: Facts) -> Advice | None:
            return None if facts.superset is None else judge(facts.superset, facts.host)

        register("superset", name, about, severity, source, look)
        return judge

    return decorate


def _looking_at(
    kind: type[_Server], judge: Callable[[_Server, HostFacts | None], Advice | None]
) -> Callable[[Facts], Advice | None]:
    """What a rule about servers of one kind says of any facts."""

    def look(facts: Facts) -> Advice | None:
        server = facts.server
        return judge(server, facts.server_host) if isinstance(server, kind) else None

    return look


def kernel(section: str, page: str) -> Source:
    """A page of the kernel's documentation."""
    return Source(f"Linux kernel documentation: {section}", f"https://docs.kernel.org/{page}")


def postgresql_manual(section: str, page: str) -> Source:
    """A section of PostgreSQL's manual."""
    return Source(f"PostgreSQL 18, {section}", f"https://www.postgresql.org/docs/18/{page}")


def mariadb_manual(page: str, title: str) -> Source:
    """A page of MariaDB's documentation, which has taken the place of its Knowledge Base."""
    return Source(f"MariaDB Documentation: {title}", f"https://mariadb.com/docs/server/{page}")


def sqlite_manual(page: str, title: str) -> Source:
    """A page of SQLite's documentation."""
    return Source(f"SQLite: {title}", f"https://www.sqlite.org/{page}")


def superset_manual(section: str, page: str) -> Source:
    """A page of Superset's documentation."""
    return Source(f"Apache Superset: {section}", f"https://superset.apache.org/{page}")


def gunicorn_manual(section: str, page: str) -> Source:
    """A page of gunicorn's documentation."""
    return Source(f"gunicorn: {section}", f"https://gunicorn.org/{page}")


def haproxy_manual(section: str, page: str) -> Source:
    """A section of haproxy's configuration manual."""
    url = f"https://docs.haproxy.org/2.6/configuration.html{page}"
    return Source(f"HAProxy 2.6 Configuration Manual: {section}", url)


def sqlalchemy_manual(section: str, page: str) -> Source:
    """A section of SQLAlchemy's page about pools."""
    url = f"https://docs.sqlalchemy.org/en/20/core/pooling.html{page}"
    return Source(f"SQLAlchemy 2.0, Connection Pooling: {section}", url)


def redis_manual(section: str, page: str) -> Source:
    """A page of the reference of Redis."""
    return Source(f"Redis: {section}", f"https://redis.io/docs/reference/{page}")


def flask_caching_manual(section: str, page: str) -> Source:
    """A section of Flask-Caching's documentation."""
    return Source(f"Flask-Caching: {section}", f"https://flask-caching.readthedocs.io/{page}")


def werkzeug_manual(section: str, page: str) -> Source:
    """A page of Werkzeug's documentation."""
    return Source(f"Werkzeug: {section}", f"https://werkzeug.palletsprojects.com/en/stable/{page}")


def share(part: float, whole: float) -> float:
    """Percent; 0 of nothing."""
    return 100 * part / whole if whole else 0.0


_UNITS = ((1024**3, "GB"), (1024**2, "MB"), (1024, "kB"))


def setting_size(size_bytes: float) -> str:
    """Bytes as PostgreSQL writes them in a setting: the largest unit that divides them."""
    whole = int(size_bytes)
    for unit, name in _UNITS:
        if whole >= unit and whole % unit == 0:
            return f"{whole // unit}{name}"
    return f"{max(whole // 1024, 1)}kB"


def round_size(size_bytes: float) -> int:
    """Down to a round size: whole 256 MB above 1 GB, else whole MB."""
    step = 256 * 1024**2 if size_bytes >= 1024**3 else 1024**2
    return max(int(size_bytes) // step * step, 1024**2)


def larger_dev_shm(size: str) -> str:
    """How `/dev/shm` is made larger.

    Args:
        size: As mount and Docker read it: `1G`.
    """
    return (
        f"a larger /dev/shm (docker run --shm-size={size}, in Kubernetes an emptyDir of medium "
        f"Memory, else mount -o remount,size={size} /dev/shm)"
    )
