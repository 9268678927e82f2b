"""What a first experiment file shows of dashboards on a database."""

from __future__ import annotations

from loadstone.targets.first_file import FirstFile

FIRST_FILE = FirstFile(
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
