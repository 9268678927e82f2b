"""What a first experiment file shows of chDB."""

from __future__ import annotations

from loadstone.targets.first_file import FirstFile

FIRST_FILE = FirstFile(
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
