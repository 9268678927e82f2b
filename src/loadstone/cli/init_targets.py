"""The parts of a first experiment file that depend on the engine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TargetText:
    """The section `target`, and what may be compared on it, as comments."""

    section: str
    ladder: str
    factor: tuple[str, str]
    """A setting that a comparison of large queries may vary, and its levels."""


_POSTGRESQL = TargetText(
    section="""
target:
  engine: postgresql
  server: embedded              # or local, local:15, postgresql://user@host:port/database
  # password: env:PGPASSWORD    # of an address: where the password is, never itself
  settings:                     # of all trials; any setting of pg_settings
    shared_buffers: 256MB
""",
    ladder="""\
  # Changes on top of each other, each against the one before:
  # kind: ladder
  # rungs:
  #   - name: buffers
  #     change: {target.shared_buffers: 1GB}
  #     because: the working set does not fit into the default of 128MB
""",
    factor=("target.work_mem", "4MB, 64MB"),
)

_MARIADB = TargetText(
    section="""
target:
  engine: mariadb
  server: local                 # or mariadb://user@host:port/database
  # password: env:MYSQL_PWD     # of an address: where the password is, never itself
  settings:                     # of all trials; any system variable
    innodb_buffer_pool_size: 256MB
""",
    ladder="""\
  # Changes on top of each other, each against the one before:
  # kind: ladder
  # rungs:
  #   - name: pool
  #     change: {target.innodb_buffer_pool_size: 1GB}
  #     because: the working set does not fit into the default of 128MB
""",
    factor=("target.innodb_buffer_pool_size", "256MB, 1GB"),
)

_SQLITE = TargetText(
    section="""
target:
  engine: sqlite                # it runs in the load driver: there is no server
  settings:                     # of all connections: pragmas (docs/sqlite.md)
    cache_size: 64MB            # of each connection
""",
    ladder="""\
  # Changes on top of each other, each against the one before:
  # kind: ladder
  # rungs:
  #   - name: wal
  #     change: {target.journal_mode: wal}
  #     because: readers and the writer no longer wait for each other, and a commit syncs once
""",
    factor=("target.cache_size", "64MB, 256MB"),
)

_DUCKDB = TargetText(
    section="""
target:
  engine: duckdb                # it runs in Loadstone's runner: there is no server
  settings:                     # of all trials; any global setting of duckdb_settings()
    memory_limit: 2GB
""",
    ladder="""\
  # Changes on top of each other, each against the one before:
  # kind: ladder
  # rungs:
  #   - name: checkpoints
  #     change: {target.checkpoint_threshold: 256MB}
  #     because: a checkpoint after every 16 MB of WAL holds up the commits beside it
""",
    factor=("target.threads", "1, 2"),
)

_CHDB = TargetText(
    section="""
target:
  engine: chdb                  # it runs in the load generator: there is no server
  settings:                     # of all trials; any of system.settings
    max_threads: 2
""",
    ladder="""\
  # Changes on top of each other, each against the one before:
  # kind: ladder
  # rungs:
  #   - name: joins
  #     change: {target.join_algorithm: parallel_hash}
  #     because: the larger side of a join is hashed in one thread otherwise
""",
    factor=("target.max_threads", "1, 2"),
)

_SPARK = TargetText(
    section="""
target:
  engine: spark
  server: embedded              # a JVM of the load generator; or the master of a cluster
  settings:                     # of all trials; any of Spark's, by its full name
    spark.driver.memory: 2g
""",
    ladder="""\
  # Changes on top of each other, each against the one before:
  # kind: ladder
  # rungs:
  #   - name: partitions
  #     change: {target.spark.sql.shuffle.partitions: 4}
  #     because: 200 small tasks cost more than they bring on few processors
""",
    factor=("target.spark.sql.shuffle.partitions", "200, 4"),
)

_DEVICE = TargetText(
    section="""
target:
  engine: device
  data: /dev/NAME               # put yours here: a disk, a partition, a loop device
  settings:
    erase: /dev/NAME            # the same again: all that is on it is lost; leave out to read only
""",
    ladder="",
    factor=("profile.users", "4, 8"),
)

_HTTP = TargetText(
    section="""
target:
  engine: http
  url: http://127.0.0.1:8080    # of the web application: put yours here
  # ca: ca.pem                  # certificates by which it is trusted, if not those of the system
  # reset: ./reset.sh           # puts it into its start state before each trial
""",
    ladder="",
    factor=("target.url", "http://127.0.0.1:8080, http://127.0.0.1:8081"),
)

_SQL_DASHBOARDS = TargetText(
    section="""
target:
  engine: sql-dashboards        # a BI tool that asks its database itself
  parts:
    database:
      engine: postgresql        # or mariadb
      server: embedded          # or local, postgresql://user@host:port/database
      settings:                 # of all trials; any setting of the database
        work_mem: 16MB
""",
    ladder="""\
  # Changes on top of each other, each against the one before:
  # kind: ladder
  # rungs:
  #   - name: parallel
  #     change: {target.database.max_parallel_workers_per_gather: 0}
  #     because: many people at a time leave no processor for a second worker
""",
    factor=("target.database.work_mem", "4MB, 64MB"),
)

_TEXTS = {
    "postgresql": _POSTGRESQL,
    "mariadb": _MARIADB,
    "sqlite": _SQLITE,
    "duckdb": _DUCKDB,
    "chdb": _CHDB,
    "spark": _SPARK,
    "device": _DEVICE,
    "http": _HTTP,
    "sql-dashboards": _SQL_DASHBOARDS,
}


def target_text(engine: str) -> TargetText:
    """The parts that depend on an engine, be it one of another package."""
    plain = TargetText(
        f"\ntarget:\n  engine: {engine}\n", ladder="", factor=("profile.users", "4, 8")
    )
    return _TEXTS.get(engine, plain)
