"""The settings of a cluster that Loadstone makes, and how each is read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadstone.cluster.node import Node
from loadstone.cluster.nodes import Nodes
from loadstone.cluster.plan import MOST_NODES, STORAGE
from loadstone.cluster.storage import WorkingStorage
from loadstone.cluster.support import storage_class
from loadstone.errors import TargetError
from loadstone.results.record import FactorReading
from loadstone.schedulers.base import NodeInfo
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.cluster import ClusterSetting

_NEAR = 0.02
"""By which a read-back number may differ: kernel and tc round."""


@dataclass(frozen=True)
class OptionalNumber(ClusterSetting):
    """A number, or the word that is its default."""

    def check(self, name: str, level: Level) -> None:
        """Lets the word pass."""
        if level != self.default:
            super().check(name, level)


@dataclass(frozen=True)
class StorageKind(ClusterSetting):
    """A kind of storage that a cluster made here can have."""

    def check(self, name: str, level: Level) -> None:
        """Refuses others, and says why of NFS."""
        storage_class(str(level))


NODE_TIMEOUT = "node_timeout_s"
"""Of a cluster whose scheduler watches its nodes."""
NODE_TIMEOUT_SETTING = ClusterSetting(
    "after which a node that does not answer is lost, and its jobs have failed",
    30,
    unit="s",
    least=5,
    most=3600,
    whole=True,
)
SHARE_PER, NODE, SLOT = "share_per", "node", "slot"
NODE_SETTINGS: Mapping[str, ClusterSetting] = {
    "nodes": ClusterSetting("nodes that jobs run on", 2, least=1, most=MOST_NODES, whole=True),
    "slots": ClusterSetting("ranks that a node holds", 2, least=1, most=8, whole=True),
    "share": OptionalNumber(
        "processors' worth of time for all that runs on a node; `equal`: what the daemons leave, "
        "divided",
        "equal",
        unit="processors",
        least=0.05,
    ),
    SHARE_PER: ClusterSetting(
        "`node`: the ranks on a node share what it has; `slot`: each slot has an equal part to "
        "itself, so a rank gets the same processor time at any load",
        NODE,
        levels=(NODE, SLOT),
    ),
    "link_mbit": OptionalNumber(
        "speed of each node's link, each way", "unlimited", unit="Mbit/s", least=0.1
    ),
    "link_delay_ms": OptionalNumber(
        "by which each packet that a node sends is late", "none", unit="ms", least=0.001
    ),
    "scratch": StorageKind("where working folders are", "shared"),
    "storage_link_mbit": OptionalNumber(
        "speed of the storage node's link, each way", "unlimited", unit="Mbit/s", least=0.1
    ),
}
"""By name; a subclass of the cluster may have more."""


def optional_number(spec: TargetSpec, name: str) -> float | None:
    """A setting that is a number, or None where it is its default."""
    level = spec.settings.get(name, NODE_SETTINGS[name].default)
    return None if level == NODE_SETTINGS[name].default else float(level)


def read_back(
    spec: TargetSpec, nodes: Nodes, slots: Sequence[NodeInfo], storage: WorkingStorage
) -> list[FactorReading]:
    """The settings that `spec` names, as the running cluster has them.

    Args:
        spec: Of the trial.
        nodes: Which run.
        slots: The nodes as the scheduler says.
        storage: Which is mounted.

    Raises:
        TargetError: If one is another than was asked for.
    """
    found = []
    for name, asked in spec.settings.items():
        if name not in NODE_SETTINGS:
            continue
        has = _in_force(name, asked, nodes, slots, storage)
        if not _same(asked, has):
            raise TargetError(f"target.{name} reads back {has} after {asked}")
        found.append(
            FactorReading(factor=f"target.{name}", requested=asked, read_back=has, how="restart")
        )
    return found


def _in_force(
    name: str, asked: Level, nodes: Nodes, slots: Sequence[NodeInfo], storage: WorkingStorage
) -> Level:
    first = nodes.compute[0]
    if name == "nodes":
        return len(slots)
    if name == "slots":
        return max((each.slots for each in slots), default=0)
    if name == "scratch":
        seen = storage.seen_on(first)
        return storage.kind if seen == storage.file_system else seen
    if asked == NODE_SETTINGS[name].default:
        return asked  # nothing was set
    if name in (SHARE_PER, "share"):
        return _share(name, first)
    node = nodes[STORAGE] if name == "storage_link_mbit" else first
    shape = node.shape()
    return (shape.delay_ms if name == "link_delay_ms" else shape.mbit) or 0.0


def _share(name: str, node: Node) -> Level:
    if name == SHARE_PER:
        return SLOT if len(node.held_slots()) == node.plan.slots else NODE
    return node.held_share() or 0.0


def _same(asked: Level, has: Level) -> bool:
    if isinstance(has, str) or (isinstance(asked, str) and not _is_number(asked)):
        return str(asked) == str(has)
    return abs(float(asked) - has) <= _NEAR * abs(has)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
