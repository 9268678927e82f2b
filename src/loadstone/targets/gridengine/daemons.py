"""The daemons of a Grid Engine on a cluster that Loadstone makes: qmaster and an execd a node."""

from __future__ import annotations

from loadstone.cluster.node import Node
from loadstone.errors import TargetError
from loadstone.placements import programs
from loadstone.targets.gridengine.cell import INSTALLED, PROGRAMS, QUEUE, Cell
from loadstone.targets.node_daemons import NodeDaemons

PACKAGES = {
    "sge_qmaster": "gridengine-master",
    "sge_execd": "gridengine-exec",
    "qsub": "gridengine-client",
    "qacct": "gridengine-client",
}
"""What a Grid Engine is made of, and the Debian package of each."""
_UTILITY = "spooldefaults"
_RESOURCES = INSTALLED / "util" / "resources"
_QMASTER, _EXECD = "sge_qmaster", "sge_execd"
_KINDS = ("adminhosts", "submithosts", "exechosts", "pes")
"""Of objects that are there before qmaster is; it makes queues itself, for their nodes."""


def missing() -> str | None:
    """The first program that is not installed, with its package; None if all are there."""
    for name, package in PACKAGES.items():
        if programs.find(name) is None:
            return f"{name} is missing: install the package {package}"
    if not (PROGRAMS / _UTILITY).exists():
        return f"{_UTILITY} is missing: install the package {PACKAGES[_QMASTER]}"
    return None


class Daemons:
    """qmaster on the head, and an execd on each node with slots."""

    def __init__(self, head: Node, cell: Cell) -> None:
        """Starts nothing yet."""
        self._head = head
        self._cell = cell
        self._daemons = NodeDaemons(cell.log)

    def start(self) -> None:
        """Makes the cell and starts qmaster.

        Raises:
            TargetError: If it does not start, with the end of its log.
        """
        cell = self._cell
        cell.write()
        self._utility("spoolinit", "berkeleydb", "libspoolb", str(cell.database), "init")
        self._utility(_UTILITY, "configuration", str(cell.objects / "configuration"))
        self._utility(_UTILITY, "complexes", str(_RESOURCES / "centry"))
        self._utility(_UTILITY, "usersets", str(_RESOURCES / "usersets"))
        self._utility(_UTILITY, "managers", cell.user)
        self._utility(_UTILITY, "operators", cell.user)
        for kind in _KINDS:
            self._utility(_UTILITY, kind, str(cell.objects / kind))
        self._start(self._head, _QMASTER, _QMASTER)
        self._daemons.wait(_QMASTER, self._answers)
        self.ask("qconf", "-Aq", str(cell.queue_file))
        cell.schedule_as(self.ask("qconf", "-ssconf"))
        self.ask("qconf", "-Msconf", str(cell.scheduling))

    def start_node(self, node: Node) -> None:
        """Starts the daemon of a node, which answers a little later."""
        self._start(node, f"{_EXECD}-{node.name}", _EXECD)

    def check_alive(self) -> None:
        """Raises a TargetError, with what its log says, if one has ended whose node runs."""
        self._daemons.check_alive()

    def wait_ended(self) -> None:
        """Collects them, once their nodes have been closed."""
        self._daemons.wait_ended()

    def clear_errors(self) -> None:
        """Has queues in state E take jobs again."""
        self.ask("qmod", "-cq", QUEUE)

    def silent_s(self) -> int:
        """After which qmaster counts a node as lost that it has not heard of.

        Raises:
            TargetError: If it does not tell.
        """
        for line in self.ask("qconf", "-sconf").splitlines():
            name, _, value = line.partition(" ")
            if name == "max_unheard":
                hours, minutes, seconds = map(int, value.strip().split(":"))
                return hours * 3600 + minutes * 60 + seconds
        raise TargetError("qmaster does not tell its max_unheard")

    def ask(self, program: str, *arguments: str) -> str:
        """What a command of Grid Engine says, on the head.

        Raises:
            TargetError: If it fails or does not answer.
        """
        words = [str(PROGRAMS / program), *arguments]
        variables = self._cell.variables()
        return self._head.run(words, doing=program, environment=variables)

    def _answers(self) -> bool:
        try:
            self.ask("qconf", "-sss")
        except TargetError:
            return False
        return True

    def _start(self, node: Node, name: str, program: str) -> None:
        foreground = {**self._cell.variables(), "SGE_ND": "1"}
        self._daemons.start(node, name, [PROGRAMS / program], foreground)

    def _utility(self, name: str, *arguments: str) -> None:
        words = [str(PROGRAMS / name), *arguments]
        variables = self._cell.variables()
        self._head.run(words, doing=f"{name} {arguments[0]}", environment=variables)
