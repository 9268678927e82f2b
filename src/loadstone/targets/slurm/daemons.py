"""The daemons of a Slurm that Loadstone makes: they run in its nodes, and end with them."""

from __future__ import annotations

from pathlib import Path

from loadstone.cluster.node import Node
from loadstone.errors import TargetError
from loadstone.placements import programs
from loadstone.targets.node_daemons import NodeDaemons
from loadstone.targets.slurm.configuration import CLUSTER, Configuration

PACKAGES = {
    "munged": "munge",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "sbatch": "slurm-client",
    "scontrol": "slurm-client",
}
"""What a Slurm is made of, and the Debian package of each."""
ACCOUNTING_PACKAGES = {"slurmdbd": "slurmdbd", "sacctmgr": "slurm-client"}


def missing(*, accounting: bool) -> str | None:
    """The first program that is not installed, with its package; None if all are there."""
    wanted = PACKAGES | (ACCOUNTING_PACKAGES if accounting else {})
    lacking = next((name for name in wanted if programs.find(name) is None), None)
    return lacking and f"{lacking} is missing: install the package {wanted[lacking]}"


class Daemons:
    """munged, slurmctld and perhaps slurmdbd on the head, a slurmd on each node with slots."""

    def __init__(self, head: Node, configuration: Configuration) -> None:
        """Starts nothing yet."""
        self._head = head
        self._configuration = configuration
        self._environment = {"SLURM_CONF": str(configuration.file)}
        self._running = NodeDaemons(configuration.log)

    def start(self, database: Path | None) -> None:
        """Starts those of the head; the controller may not answer yet.

        Args:
            database: Socket of the MariaDB below slurmdbd, if the configuration has one.

        Raises:
            TargetError: If one does not start, with the end of its log.
        """
        configuration = self._configuration
        configuration.write()
        self._start(self._head, "munged", *configuration.munged())
        self._running.wait("munged", configuration.socket.exists)
        if database is not None:
            self._environment["MYSQL_UNIX_PORT"] = str(database)
            self._start(self._head, "slurmdbd", "-D")
            self._running.wait("slurmdbd", self._register)
        self._start(self._head, "slurmctld", "-D", "-f", configuration.file)

    def start_node(self, node: Node) -> None:
        """Starts the daemon of a node."""
        words = ("-D", "-N", node.name, "-f", self._configuration.file)
        self._start(node, "slurmd", *words, name=f"slurmd-{node.name}")

    def check_alive(self) -> None:
        """Raises a TargetError, with what its log says, if one has ended whose node runs."""
        self._running.check_alive()

    def wait_ended(self) -> None:
        """Collects them, once their nodes have been closed."""
        self._running.wait_ended()

    def _start(self, node: Node, program: str, *arguments: str | Path, name: str = "") -> None:
        words = [programs.needed(program), *arguments]
        self._running.start(node, name or program, words, self._environment)

    def _register(self) -> bool:
        """Whether slurmdbd has answered, and knows the cluster: the controller needs that."""
        words = [str(programs.needed("sacctmgr")), "--immediate", "add", "cluster", CLUSTER]
        try:
            self._head.run(words, doing="sacctmgr add cluster", environment=self._environment)
        except TargetError as error:
            return "already exists" in error.message
        return True
