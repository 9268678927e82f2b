"""A server on placements, in a process that can be told when to die.

Usage: placed_victim.py JOURNAL ENGINE FOLDER DATA LOG STAGE
"""

import sys
from pathlib import Path

from server_victim import die

from loadstone.journal import Journal
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.capabilities import SECOND_PLACE
from loadstone.targets.registry import target_for


def main(path: str, engine: str, folder: str, data: str, log: str, last: str) -> None:  # noqa: PLR0917
    def stage(name: str) -> None:
        print(name, flush=True)
        if name == last:
            die()

    with Journal(Path(path), "victim") as journal:
        spec = TargetSpec(engine=engine, data=folder)
        target = target_for(spec)(spec, TargetContext(journal=journal, owner="victim"))
        target.open()
        target.snapshot("k")
        moves = SECOND_PLACE in target.capabilities
        storage = StorageSpec(data=data, log=log, archive=data if moves else None)
        target.restore("k", spec.model_copy(update={"storage": storage}))
        if moves:
            target.make_second_place()
        stage("placed")
        target.settle("warm")
        target.crash("power-loss")
        stage("failed")
        target.start()
        stage("recovered")
        target.close()
    stage("closed")


if __name__ == "__main__":
    main(*sys.argv[1:])
