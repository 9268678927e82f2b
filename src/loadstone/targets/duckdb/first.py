"""What a first experiment file shows of DuckDB."""

from __future__ import annotations

from loadstone.targets.first_file import FirstFile

FIRST_FILE = FirstFile(
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
