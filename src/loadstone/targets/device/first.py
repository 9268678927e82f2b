"""What a first experiment file shows of a device."""

from __future__ import annotations

from loadstone.targets.first_file import FirstFile

FIRST_FILE = FirstFile(
    section="""
target:
  engine: device
  data: /dev/NAME               # put yours here: a disk, a partition, a loop device
  settings:
    erase: /dev/NAME            # the same again: all that is on it is lost; leave out to read only
""",
)
