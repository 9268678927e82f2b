"""A process that uses a target from beginning to end, and can be told when to die.

VICTIM_ENGINE and VICTIM_SERVER say which.

Usage: server_victim.py JOURNAL [entry NUMBER | after SECONDS | stage NAME]
"""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from loadstone.journal import Entry, Journal
from loadstone.spec.target import TargetSpec, default_server
from loadstone.targets.base import TargetContext
from loadstone.targets.registry import target_for

_OF_ENGINE = {
    "postgresql": ("work_mem", "generate_series(1, {rows}) AS row(n)"),
    "mariadb": ("sort_buffer_size", "(SELECT seq AS n FROM seq_1_to_{rows}) AS numbers"),
}
"""A setting that can be set at an address too, and a source of numbers n."""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class MortalJournal(Journal):
    """Dies when the entry of that number was written, before the change is made."""

    last = 0

    def before(self, what: str, kind: str, **data: Any) -> Entry:
        entry = super().before(what, kind, **data)
        if entry.number == self.last:
            die()
        return entry


def main(path: str, how: str = "", when: str = "") -> None:
    journal = MortalJournal(Path(path), "victim")
    if how == "entry":
        journal.last = int(when)
    elif how == "after":
        threading.Timer(float(when), die).start()

    def stage(name: str) -> None:
        print(name, flush=True)
        if (how, when) == ("stage", name):
            die()

    engine = os.environ.get("VICTIM_ENGINE", "postgresql")
    server = os.environ.get("VICTIM_SERVER") or default_server(engine)
    setting, numbers = _OF_ENGINE[engine]
    # Only one that dies at some moment is to be met in the middle of a load.
    rows = 200_000 if how == "after" else 10_000
    with journal:
        context = TargetContext(journal=journal, owner="victim")
        spec = TargetSpec(engine=engine, server=server)
        target = target_for(spec)(spec, context)
        target.open()
        print("programs", target.inventory().get("binaries", ""), flush=True)
        stage("open")
        target.execute(
            "CREATE TABLE item (id integer PRIMARY KEY, quantity integer);"
            f"INSERT INTO item SELECT n, n FROM {numbers.format(rows=rows)}"
        )
        stage("loaded")
        target.snapshot("k")
        stage("kept")
        target.execute("UPDATE item SET quantity = 0")
        target.restore("k", target.spec.with_settings({setting: "5MB"}))
        stage("restored")
        if "://" not in server:
            target.crash("kill")
            stage("crashed")
            target.start()
        target.settle("warm")
        stage("settled")
        target.close()
    stage("closed")


if __name__ == "__main__":
    main(*sys.argv[1:])
