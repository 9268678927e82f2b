"""A process that serves network storage and is killed.

Usage: network_victim.py ENGINE FOLDER JOURNAL
"""

import os
import signal
import sys
from pathlib import Path

from loadstone.journal import Journal
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.registry import target_class


def main(engine: str, folder: str, journal: str) -> None:
    context = TargetContext(Journal(Path(journal), "victim"), "victim")
    target_class(engine)(TargetSpec(engine=engine, data=folder), context).open()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
