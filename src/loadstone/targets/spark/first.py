"""What a first experiment file shows of Spark."""

from __future__ import annotations

from loadstone.targets.first_file import FirstFile

FIRST_FILE = FirstFile(
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
