"""A process that uses placements from beginning to end, and can be told when to die.

Usage: storage_victim.py JOURNAL FOLDER DATA LOG [entry NUMBER | stage NAME]
"""

import os
import sys
from pathlib import Path

from server_victim import MortalJournal, die

from loadstone.experiments.model import StorageSpec
from loadstone.targets.local import tree
from loadstone.targets.local.account import Account
from loadstone.targets.local.places import Places


def main(path: str, folder: str, data: str, log: str, *when_to_die: str) -> None:
    journal = MortalJournal(Path(path), "victim")
    how, when = when_to_die or ("", "")
    if how == "entry":
        journal.last = int(when)

    def stage(name: str) -> None:
        print(name, flush=True)
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


if __name__ == "__main__":
    main(*sys.argv[1:])
