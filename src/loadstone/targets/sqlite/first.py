"""What a first experiment file shows of SQLite."""

from __future__ import annotations

from loadstone.targets.first_file import FirstFile

FIRST_FILE = FirstFile(
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
