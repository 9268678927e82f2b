"""What people of Superset wait for: answers that are kept, the log-in, the catalogue's own work."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts
from loadstone.doctor.facts_superset import SupersetFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import (
    flask_caching_manual,
    postgresql_manual,
    redis_manual,
    superset_manual,
    superset_rule,
    werkzeug_manual,
)
from loadstone.units import format_duration, format_size

_SHORT_S = 3600
_HASH_S = 0.13
"""Processor time of a log-in with scrypt, as docs/superset.md has it."""
_HASH_SHARE = 0.5
_MANY_ACCOUNTS = 10_000
_TUNED = Measure("target.tuned", ("off", "on"), why="it changes four things together: see its page")
_NONE = ("NullCache", "null")
_OF_ONE = ("FileSystemCache", "SimpleCache", "filesystem", "simple")


@superset_rule(
    "cache-off",
    "answers of charts are not kept",
    Severity.SPEED,
    superset_manual("Caching", "admin-docs/configuration/cache"),
)
def cache_off(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """NullCache, which is also Superset's default."""
    if superset.cache not in _NONE:
        return None
    return Advice(
        seen=f"DATA_CACHE_CONFIG has {superset.cache}",
        why="each person who opens a dashboard has the warehouse work out all of its charts again",
        change="RedisCache with a lifetime that the data bear",
        risk="people see answers as old as the lifetime, unless they ask for fresh ones",
        measure=Measure("target.query_cache", ("off", "on")),
    )


@superset_rule(
    "cache-lifetime",
    "answers are kept for less than an hour",
    Severity.LOOK,
    superset_manual("Caching: cache timeout", "admin-docs/configuration/cache"),
)
def cache_lifetime(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """The study raised an hour to three."""
    life_s = superset.cache_life_s
    if superset.cache in _NONE or not life_s or life_s >= _SHORT_S:
        return None
    return Advice(
        seen=f"CACHE_DEFAULT_TIMEOUT = {life_s:g} ({format_duration(life_s)})",
        why="what nobody has asked for in that time is worked out anew, most often for the first "
        "who comes in the morning or after a break",
        change=f"as long as the data bear: {3 * _SHORT_S} (3 h) where they are loaded by night; "
        "charts and datasets can have shorter ones of their own",
        risk="people see answers as old as that",
        measure="a load is over before such a lifetime is: compare cache_percent in production",
    )


@superset_rule(
    "cache-of-one",
    "answers are kept where only one node, or one worker, finds them",
    Severity.SPEED,
    flask_caching_manual("Built-in Cache Backends", "#built-in-cache-backends"),
)
def cache_of_one(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """A folder of this node, or the memory of a process."""
    if superset.cache not in _OF_ONE:
        return None
    return Advice(
        seen=f"DATA_CACHE_CONFIG has {superset.cache}",
        why="a folder is searched by one node, memory by one worker: the next request comes to "
        "another one and misses. All files lie in one flat folder, and past CACHE_THRESHOLD (500) "
        "each write lists all of it",
        change="RedisCache, which all nodes share",
        risk="none for data; one more server",
        measure="Loadstone's own Superset has Redis: measure before and after",
    )


@superset_rule(
    "cache-full",
    "a full Redis refuses to keep answers",
    Severity.SPEED,
    redis_manual("Key eviction", "eviction"),
)
def cache_full(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """A limit, and nothing is thrown away at it."""
    if not superset.cache_bytes or superset.cache_policy != "noeviction":
        return None
    return Advice(
        seen=f"maxmemory = {format_size(superset.cache_bytes)} with maxmemory-policy = noeviction",
        why="at the limit each write fails: answers are not kept any more, nor are states of "
        "filters, which people notice",
        change="maxmemory-policy = allkeys-lru, or volatile-lru where filter states must stay",
        risk="what was used least recently is worked out anew",
        measure=Measure("target.cache.maxmemory-policy", ("noeviction", "allkeys-lru"),
                        settings={"cache.maxmemory": superset.cache_bytes}),
    )  # fmt: skip


@superset_rule(
    "cache-unlimited",
    "Redis may take all memory of the machine",
    Severity.NOTE,
    redis_manual("Key eviction: maxmemory", "eviction"),
)
def cache_unlimited(superset: SupersetFacts, host: HostFacts) -> Advice | None:
    """No limit is set."""
    if superset.cache_bytes != 0:
        return None
    quarter = host.memory_bytes // 4
    return Advice(
        seen="Redis has no maxmemory",
        why="answers stay for their lifetime, however many they are: in a long run with many "
        "filters the kernel may end a process for want of memory",
        change=f"maxmemory = {format_size(quarter)} (a quarter of this machine) with allkeys-lru",
        risk="what was used least recently is worked out anew",
        measure="the load that fills the memory is yours: nothing of Loadstone's own is like it",
    )


@superset_rule(
    "log-in-cost",
    "so many people log in at a time that hashing passwords takes most of the processors",
    Severity.LOOK,
    werkzeug_manual("Security Helpers: generate_password_hash", "utils/#module-werkzeug.security"),
)
def log_in_cost(superset: SupersetFacts, host: HostFacts) -> Advice | None:
    """The ramp of the experiment, times what a log-in costs."""
    rate = superset.log_ins_per_s
    if rate is None or superset.hashing != "scrypt":
        return None
    if rate * _HASH_S <= _HASH_SHARE * host.cores:
        return None
    slow = max(1, int(_HASH_SHARE * host.cores / _HASH_S))
    return Advice(
        seen=f"{rate:.3g} log-ins a second with scrypt, {_HASH_S:g} s of a processor each: "
        f"{rate * _HASH_S:.1f} of {host.cores} processors",
        why="scrypt is slow on purpose; in a log-in storm it takes the time of everybody else",
        change=f"a ramp of {slow}/s, or longer sessions and single sign-on; for a measurement "
        "alone a cheaper hash (target.tuned)",
        risk="a cheaper hash is found sooner by who has stolen the catalogue: never in production",
        measure=_TUNED,
    )


@superset_rule(
    "username-index",
    "each log-in reads all accounts",
    Severity.SPEED,
    postgresql_manual("11.7. Indexes on Expressions", "indexes-expressional.html"),
)
def username_index(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """Many accounts, and no index on lower(username)."""
    accounts = superset.accounts
    if superset.username_index is not False or accounts is None or accounts < _MANY_ACCOUNTS:
        return None
    return Advice(
        seen=f"{accounts:,} accounts without an index on lower(username)",
        why="accounts are looked up by lower(username): without such an index PostgreSQL reads the "
        "whole table at each log-in",
        change="CREATE INDEX ON ab_user (lower(username)) in the catalogue (target.tuned makes it)",
        risk="none for data; a new account takes a little longer",
        measure=_TUNED,
    )


@superset_rule(
    "event-log",
    "each request writes a row into the catalogue",
    Severity.NOTE,
    superset_manual("Event Logging", "docs/installation/event-logging"),
)
def event_log(superset: SupersetFacts, _host: HostFacts) -> Advice | None:
    """The event log is on, as it is by default."""
    if superset.event_log is not True:
        return None
    return Advice(
        seen="the event log is on (DBEventLogger)",
        why="a row and a commit for each request of each chart; the table of events only grows",
        change="nothing, where somebody reads it; else an EVENT_LOGGER of your own, as "
        "target.tuned has it, and delete old rows",
        risk="who did what is not known any more",
        measure=_TUNED,
    )
