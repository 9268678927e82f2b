"""Processes that use placements from beginning to end, and can be told when to die.

Each line of the input is for one of them:
STATE JOURNAL FOLDER DATA LOG [entry NUMBER | stage NAME]
Each line of the output is how it ended. The modules are loaded once for all.
"""

import os
import shlex
import sys
from pathlib import Path

from server_victim import MortalJournal, die

from loadstone.placements import tree
from loadstone.placements.account import Account
from loadstone.spec.target import StorageSpec
from loadstone.targets.local.places import Places


def main(state: str, path: str, folder: str, data: str, log: str, *when_to_die: str) -> None:
    os.environ["LOADSTONE_STATE"] = state
    journal = MortalJournal(Path(path), "victim")
    how, when = when_to_die or ("", "")
    if how == "entry":
        journal.last = int(when)

    def stage(name: str) -> None:
        if (how, when) == ("stage", name):
            die()

    account = Account("me", os.getuid(), os.getgid(), switch=False)
    with journal:
        root, _ = tree.make(journal, Path(folder), account, "victim")
        places = Places(journal, root, account, "victim")
        layout = places.use(StorageSpec(data=data, log=log if log != "-" else None))
        (layout.data / "file").write_bytes(bytes(1 << 20))
        stage("written")
        if data.startswith("volatile"):
            places.power_loss()
            stage("cut")
            places.recover()
            stage("recovered")
        places.use(StorageSpec(data="tmpfs:size=8MB"))
        stage("moved")
        places.close()
        stage("removed")
    stage("closed")


def serve() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            main(*shlex.split(line))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    serve()
