"""What a first experiment file shows of MariaDB."""

from __future__ import annotations

from loadstone.targets.first_file import FirstFile

FIRST_FILE = FirstFile(
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
