"""What a first experiment file shows of JVMs."""

from __future__ import annotations

from loadstone.targets.first_file import FirstFile

FIRST_FILE = FirstFile(
    section="""
target:
  engine: jvm
  settings:
    heap: 1g                    # of each JVM; without it each takes a quarter of the memory
    # jvms: 2                   # default: one for each node of memory
    # affinity: split           # each JVM on processors of its own
    # flag.MaxGCPauseMillis: 50 # any further flag of Java
""",
    ladder="""\
  # Changes on top of each other, each against the one before:
  # kind: ladder
  # rungs:
  #   - name: larger heap
  #     change: {target.heap: 2g}
  #     because: the collector runs less often
""",
    factor=("target.collector", "G1, Parallel"),
)
