"""Of each rule about Apache Superset: a fault, and the same with nothing wrong."""

from __future__ import annotations

from doctor_cases_servers import Case
from doctor_facts import GB, HOST, superset

from loadstone.targets.superset.settings import DEFAULT_POOL

CASES: dict[str, Case] = {
    "superset.nofile": (
        superset(users=1000, nofile=1024),
        superset(users=1000, nofile=12_200),
        "12,200 open files (2 x 6,000 connections + 200)",
    ),
    "superset.maxconn": (
        superset(users=1000, maxconn=2000),
        superset(users=1000, maxconn=6000),
        "maxconn = 6,000",
    ),
    "superset.threads": (
        superset(nodes=1, workers=2, threads=1),
        superset(nodes=2, workers=3, threads=1),
        "1 nodes x 2 workers x 1 threads = 2 requests at a time",
    ),
    "superset.workers": (
        superset(nodes=2, workers=1),
        superset(nodes=2, workers=4),
        f"2 workers on {HOST.cores} processors",
    ),
    "superset.pool-small": (
        superset(threads=32, pool=DEFAULT_POOL),
        superset(threads=DEFAULT_POOL, pool=DEFAULT_POOL),
        "15 connections (SQLAlchemy's default, 5 and 10 for peaks) for 32 threads",
    ),
    "superset.no-pool": (superset(pool=0), superset(pool=None), "NullPool"),
    "superset.worker-folder": (
        superset(worker_folder="/tmp", worker_folder_in_memory=False),
        superset(worker_folder="/dev/shm", worker_folder_in_memory=True),
        "--worker-tmp-dir /dev/shm",
    ),
    "superset.secret-random": (
        superset(key="random"),
        superset(key="own"),
        "made by a function",
    ),
    "superset.secret-known": (superset(key="known"), superset(key=None), "of an example"),
    "superset.catalogue-sqlite": (
        superset(catalogue="sqlite"),
        superset(catalogue="mysql"),
        "names SQLite",
    ),
    "superset.cache-off": (
        superset(cache="NullCache"),
        superset(cache="RedisCache"),
        "NullCache",
    ),
    "superset.cache-lifetime": (
        superset(cache_life_s=300.0),
        superset(cache_life_s=3600.0),
        "CACHE_DEFAULT_TIMEOUT = 300 (5min)",
    ),
    "superset.cache-of-one": (
        superset(cache="FileSystemCache"),
        superset(cache=None),
        "one flat folder",
    ),
    "superset.cache-full": (
        superset(cache_bytes=2 * GB, cache_policy="noeviction"),
        superset(cache_bytes=2 * GB, cache_policy="volatile-lru"),
        "maxmemory = 2 GB",
    ),
    "superset.cache-unlimited": (
        superset(cache_bytes=0, cache_policy="noeviction"),
        superset(cache_bytes=None),
        "maxmemory = 4 GB",
    ),
    "superset.log-in-cost": (
        superset(log_ins_per_s=50.0, hashing="scrypt"),
        superset(log_ins_per_s=50.0, hashing="pbkdf2:1000"),
        "6.5 of 8 processors",
    ),
    "superset.username-index": (
        superset(accounts=50_000, username_index=False),
        superset(accounts=9_999, username_index=False),
        "50,000 accounts",
    ),
    "superset.event-log": (
        superset(event_log=True),
        superset(event_log=None),
        "DBEventLogger",
    ),
}
