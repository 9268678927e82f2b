"""The nodes of a cluster on this machine, with the network between them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import loadstone
from loadstone.cluster.holder import Holder
from loadstone.cluster.network import LinkCounters, Switch
from loadstone.cluster.node import Node, below_tmp
from loadstone.cluster.plan import HEAD, STORAGE, NodePlan, addresses, hosts_text
from loadstone.errors import TargetError
from loadstone.host import cpu_group
from loadstone.journal import Journal


class Nodes:
    """A head, nodes with slots, and the storage node where there is one.

    Life: `open`, then `kill` and `revive` of single nodes, at last `close`. All is journalled.
    """

    def __init__(self, journal: Journal, folder: Path, plans: Sequence[NodePlan]) -> None:
        """Makes nothing yet.

        Args:
            journal: Told before anything is made.
            folder: Of the cluster, which exists; all nodes see it.
            plans: Of all nodes but the head, which has no slots, no share and a fast link.
        """
        self._journal = journal
        self._folder = folder
        self._plans = (NodePlan(HEAD), *plans)
        self._addresses = addresses([each.name for each in self._plans])
        self._hosts = folder / "hosts"
        self._seen: list[Path] = []
        self._nodes: dict[str, Node] = {}
        self._carried: dict[str, LinkCounters] = {}
        self._switch: Switch | None = None
        self.unbounded = ""
        """Why the nodes are not held to their shares; empty if they are, or have none."""

    # -- life ----------------------------------------------------------------------------------
    def open(self) -> None:
        """Makes the network and all nodes.

        Raises:
            TargetError: If the kernel refuses something.
        """
        self._hosts.write_text(hosts_text(self._addresses))
        self._hosts.chmod(0o644)
        self._seen = below_tmp([*own_folders(), self._folder])
        place = cpu_group.place()
        asked = any(each.share is not None for each in self._plans)
        self.unbounded = place.reason if asked and not isinstance(place, Path) else ""
        self._switch = Switch(Holder(self._journal, self._folder_of("switch"), "the links"))
        self._switch.start()
        for plan in self._plans:
            folder = self._folder_of(plan.name)
            node = Node(self._journal, folder, plan, self._addresses[plan.name])
            self._nodes[plan.name] = node
            self._start(node)

    def kill(self, name: str) -> None:
        """Kills all that runs on a node at once; its link goes with it, and stays counted."""
        node = self[name]
        if node.runs:
            self._carried[name] = self.link_counters()[name]
        node.kill()

    def revive(self, name: str) -> Node:
        """Makes a node anew that was killed, empty of processes and mounts."""
        node = self[name]
        if not node.runs:
            self._start(node)
        return node

    def close(self) -> None:
        """Kills all that runs on all nodes, and removes them. Works after any failure.

        Raises:
            TargetError: If something is left; the journal still knows it.
        """
        for node in reversed(self._nodes.values()):
            node.close()
        self._nodes.clear()
        self._carried.clear()
        if self._switch is not None:
            self._switch.close()
            self._switch = None

    # -- the nodes -----------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Node:
        """A node by its name.

        Raises:
            TargetError: If there is none.
        """
        if name not in self._nodes:
            raise TargetError(f"there is no node {name}")
        return self._nodes[name]

    @property
    def head(self) -> Node:
        """Where controllers and commands of the scheduler run."""
        return self[HEAD]

    @property
    def storage(self) -> Node | None:
        """The node whose disk the others reach, if there is one."""
        return self._nodes.get(STORAGE)

    @property
    def compute(self) -> list[Node]:
        """Those with slots, also those that are down."""
        return [each for each in self._nodes.values() if each.plan.slots]

    @property
    def every(self) -> list[Node]:
        """All, the head first."""
        return list(self._nodes.values())

    @property
    def hosts(self) -> Path:
        """The hosts file of all nodes."""
        return self._hosts

    def show(self, folder: Path) -> None:
        """Has all nodes see a folder that exists, now and when they come back."""
        self._seen = below_tmp([*self._seen, folder])
        for node in self._nodes.values():
            if node.runs:
                node.show(folder)

    # -- observation ---------------------------------------------------------------------------
    def link_counters(self) -> Mapping[str, LinkCounters]:
        """What crossed each node's link, and those that it had before it was killed.

        Raises:
            TargetError: If the nodes are not open.
        """
        if self._switch is None:
            raise TargetError("the nodes are not open")
        now = self._switch.counters({name: at for at, name in enumerate(self._addresses)})
        nothing = LinkCounters()
        return {
            name: self._carried.get(name, nothing) + now.get(name, nothing) for name in self._nodes
        }

    # -- inside --------------------------------------------------------------------------------
    def _start(self, node: Node) -> None:
        if self._switch is None:
            raise TargetError("the nodes are not open")
        node.start(self._hosts, self._seen, bound=not self.unbounded)
        number = list(self._addresses).index(node.name)
        self._switch.plug_in(number, node.holder, node.address, node.plan)

    def _folder_of(self, name: str) -> Path:
        folder = self._folder / f"node-{name}"
        folder.mkdir(exist_ok=True)
        return folder


def own_folders() -> list[Path]:
    """Folders of Loadstone's own that every node must see, wherever they lie."""
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    programs = [Path(each) for each in (sys.prefix, sys.base_prefix, *path) if each]
    return [Path(loadstone.__file__).parent.parent, Path.cwd(), *programs]
