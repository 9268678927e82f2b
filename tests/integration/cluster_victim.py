"""A process that makes a cluster and uses it, and can be told when to die.

Usage: cluster_victim.py JOURNAL FOLDER SLEEP [entry NUMBER | stage NAME]
"""

import os
import sys
from pathlib import Path

from server_victim import MortalJournal, die

from loadstone.cluster.nodes import Nodes
from loadstone.cluster.plan import compute_plans
from loadstone.cluster.storage import Local
from loadstone.placements import tree
from loadstone.placements.account import Account


def main(path: str, parent: str, duration: str, how: str = "", when: str = "") -> None:
    journal = MortalJournal(Path(path), "victim")
    if how == "entry":
        journal.last = int(when)

    def stage(name: str) -> None:
        if (how, when) == ("stage", name):
            die()

    account = Account("me", os.getuid(), os.getgid(), switch=False)
    with journal:
        folder, entry = tree.make(journal, Path(parent), account, "victim")
        plans = compute_plans(2, 1, processors=2, share=0.5, link_mbit=500)
        storage = Local(journal, folder)
        storage.make(plans)
        nodes = Nodes(journal, folder, plans)
        nodes.open()
        for node in nodes.compute:
            storage.mount_on(node)
            # It leaves its session and its parent, as daemons do, and holds the disk.
            words = f"cd {storage.path} && setsid sleep {duration} &"
            node.popen(["/bin/sh", "-c", words], folder / "log").wait()
        stage("used")
        nodes.kill("n2")
        stage("node-down")
        nodes.close()
        storage.close()
        journal.undo(entry)


if __name__ == "__main__":
    main(*sys.argv[1:])
