"""What a first experiment file shows of PostgreSQL."""

from __future__ import annotations

from loadstone.targets.first_file import FirstFile

FIRST_FILE = FirstFile(
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
