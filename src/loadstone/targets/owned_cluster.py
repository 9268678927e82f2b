"""A cluster that Loadstone makes: nodes, links, storage, and the daemons of a scheduler."""

from __future__ import annotations

import contextlib
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

from loadstone.cluster import support
from loadstone.cluster.node import Node
from loadstone.cluster.nodes import Nodes
from loadstone.cluster.plan import MOST_NODES, NodePlan, compute_plans, functional_only
from loadstone.cluster.storage import WorkingStorage
from loadstone.counting import how_many
from loadstone.errors import TargetError, WrongInputError
from loadstone.host import cpu_group
from loadstone.journal import Entry
from loadstone.placements import tree
from loadstone.placements.account import own_account
from loadstone.probes.base import Probe
from loadstone.results.record import FactorReading, Notice
from loadstone.schedulers.base import NodeInfo
from loadstone.spec.base import Level
from loadstone.spec.model import OutageKind
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import ProcessSpec, StorageSpec, TargetSpec, default_server
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.cluster import Cluster, Scratch, cancel_announced
from loadstone.targets.cluster_settings import (
    NODE_SETTINGS,
    SHARE_PER,
    SLOT,
    optional_number,
    read_back,
)
from loadstone.targets.link_probe import LinkProbe
from loadstone.targets.local.pause import paused
from loadstone.targets.share_probe import ShareProbe

_POLL_S = 0.05
_CANCEL_CALL_S = 10.0
"""So long the controller may take to answer when jobs are cancelled: it is on this machine."""
_DELAY = "link_delay_ms"
_RATES = ("link_mbit", "storage_link_mbit")
"""Settings by which a link is slower than the machine."""


class OwnedCluster(Cluster, ABC):
    """Nodes that are made for the experiment, with a scheduler of their own.

    A subclass starts the daemons of its scheduler on nodes that it is given: at first on all, the
    head first; later on a node that was killed and has come back. Jobs end with the nodes, so the
    journal needs nothing but these to end them.
    """

    serves = True
    declared = NODE_SETTINGS
    explained_facts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "scratch": ("storage.",),
        "nodes": ("nodes.", "storage.devices.", "functional_only"),
        "slots": ("nodes.", "shares_of_slots.", "functional_only"),
        "share": ("shares.", "shares_of_slots.", "functional_only"),
        SHARE_PER: ("shares_of_slots.", "functional_only"),
    }
    address: ClassVar[str]
    """How a cluster of the kind that exists is named instead: `slurm://PARTITION`."""
    start_s: ClassVar[float] = 60.0
    """So long the scheduler may take until all nodes can take jobs."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._tree: tuple[Path, Entry] | None = None
        self._nodes: Nodes | None = None
        self._storage: WorkingStorage | None = None
        self._prefixes: set[str] = set()
        self._as_made: dict[str, Level] = {}

    # -- what a subclass says ------------------------------------------------------------------
    @abstractmethod
    def start_daemons(self, nodes: Sequence[Node]) -> None:
        """Starts what the scheduler has on these nodes, which run and see `folder`.

        Raises:
            TargetError: If one does not start.
        """

    @abstractmethod
    def stop_daemons(self) -> None:
        """Ends what the scheduler has outside the nodes; all within them ends with them.

        Works after any failure.
        """

    @abstractmethod
    def ready(self) -> bool:
        """Whether the scheduler says that all nodes can take jobs; False if it does not answer."""

    @classmethod
    def missing(cls, spec: TargetSpec) -> str | None:
        """What must be installed before it can be made; None: nothing.

        Raises:
            TargetError: Likewise, of what another target looks for.
        """
        return None

    # -- what it has ---------------------------------------------------------------------------
    @property
    def nodes(self) -> Nodes:
        """The nodes.

        Raises:
            TargetError: If the target is not open.
        """
        if self._nodes is None:
            raise TargetError(f"the cluster of {self.engine} is not open")
        return self._nodes

    @property
    def folder(self) -> Path:
        """Of the cluster, on the machine and on all nodes at the same path."""
        if self._tree is None:
            raise TargetError(f"the cluster of {self.engine} is not open")
        return self._tree[0]

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """How many nodes, and where working folders are.

        A setting that cannot be is left out: `setting` says what is wrong with it.

        Raises:
            WrongInputError: If it cannot be made here, with what is missing.
            TargetError: As `missing`.
        """
        if spec.server != default_server(spec.engine):
            raise WrongInputError(
                f"target {cls.engine} has no such server",
                advice=f"leave server out, or write an address: {cls.address}",
            )
        if spec.process != ProcessSpec() or spec.storage != StorageSpec():
            raise WrongInputError(
                f"target {cls.engine} has nodes of its own", advice="leave process and storage out"
            )
        found = cls._described(spec.with_only(cls._sound(spec)))
        if reason := cls.missing(spec):
            raise WrongInputError(
                f"target {cls.engine} is not available: {reason}",
                advice="install it, or use the target local",
            )
        return found

    @classmethod
    def _described(cls, spec: TargetSpec) -> dict[str, str]:
        plans = plans_of(spec)
        slow = [each for each in _RATES if optional_number(spec, each) is not None]
        kind = support.storage_class(scratch_of(spec))
        if "storage_link_mbit" in slow and not kind.network:
            raise WrongInputError(
                f"target.storage_link_mbit: with scratch {kind.kind} there is no storage node",
                advice="choose scratch=sshfs, or leave storage_link_mbit out",
            )
        late = optional_number(spec, _DELAY) is not None
        support.check(kind.kind, slow_links=bool(slow), late_links=late)
        return {
            "engine": cls.engine,
            "nodes": f"{len(plans)} of {how_many(plans[0].slots, 'slot')}, on this machine",
            "scratch": scratch_of(spec),
        }

    @classmethod
    def planned_nodes(cls, spec: TargetSpec) -> Sequence[NodeInfo]:
        """Those that the settings ask for."""
        return [NodeInfo(each.name, each.slots, "planned") for each in plans_of(spec)]

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """As of any cluster; what this machine cannot make of it is refused.

        Raises:
            WrongInputError: If there is no such setting or level, or not on this machine.
        """
        info = super().setting(spec, name, level)
        changed = spec.with_settings({name: level})
        if name == "scratch":
            support.check(str(level))
        elif name in _RATES and optional_number(changed, name) is not None:
            support.check(scratch_of(spec), slow_links=True)
        elif name == _DELAY and optional_number(changed, name) is not None:
            support.check(scratch_of(spec), late_links=True)
        return info

    @classmethod
    def cautions(cls, spec: TargetSpec, profile: ProfileSpec) -> list[Notice]:
        """That the nodes are not held to their shares."""
        place = cpu_group.place()
        if isinstance(place, Path):
            return []
        return [
            Notice(
                code="nodes-unbounded",
                severity="warning",
                message=f"the nodes are not held to their shares: {place.reason}",
                advice="run where a control group can bound the processor time",
            )
        ]

    # -- life ----------------------------------------------------------------------------------
    def open(self) -> None:
        """Makes nodes and storage, starts the scheduler, waits until all nodes can take jobs."""
        settings = {name: self.level(name) for name in self.declared}
        parent = Path(self.spec.data) if self.spec.data else tree.DEFAULT_PARENT
        self._tree = tree.make(self.context.journal, parent, own_account(), self.context.owner)
        self.folder.chmod(0o755)
        kind = support.storage_class(scratch_of(self.spec))
        storage_plan = kind.storage_plan(optional_number(self.spec, "storage_link_mbit"))
        plans = [*plans_of(self.spec), *storage_plan]
        # Undone last first: disks are detached when the nodes that mount them are gone.
        self._storage = kind(self.context.journal, self.folder)
        self._storage.make(plans)
        self._nodes = Nodes(self.context.journal, self.folder, plans)
        self._nodes.open()
        self._storage.serve(self._nodes)
        for node in self._nodes.every:
            self._storage.mount_on(node)
        self.start_daemons(self._nodes.every)
        self.wait_ready()
        self._as_made = settings

    def close(self) -> None:
        """Ends the nodes with all that runs on them, and removes all that was made.

        Works after any failure.
        """
        self._prefixes.clear()  # jobs that are left end with their nodes
        self._as_made = {}
        if self._nodes is not None:
            self._nodes.close()
            self._nodes = None
        self.stop_daemons()
        if self._storage is not None:
            self._storage.close()
            self._storage = None
        if self._tree is not None:
            self.context.journal.undo(self._tree[1])
            self._tree = None

    def wait_ready(self) -> None:
        """Waits until the scheduler says that all nodes can take jobs.

        Raises:
            TargetError: If it does not in time.
        """
        deadline = time.monotonic() + self.start_s
        while not self.ready():
            self.check_alive()
            if time.monotonic() > deadline:
                raise TargetError(
                    f"{self.engine}: not all nodes can take jobs after {self.start_s:g} s",
                    advice=f"see the logs in {self.folder}",
                )
            time.sleep(_POLL_S)

    def check_alive(self) -> None:
        """Looks whether the nodes of controllers and storage run.

        One with slots may die under load: its jobs have failed, and the others go on.
        """
        for node in self.nodes.every:
            if not node.runs and not node.plan.slots:
                raise TargetError(f"the node {node.name} has ended")

    def outage(self, kind: OutageKind) -> AbstractContextManager[None]:
        """`kill`, `stop`: the last node goes down and comes back; `pause`: the controllers hang."""
        if kind in {"kill", "stop"}:
            return self._node_out(self.nodes.compute[-1], gently=kind == "stop")
        if kind == "pause":
            head = self.nodes.head
            return paused("the controllers", head.processes, self.context.journal)
        return super().outage(kind)

    # -- state ---------------------------------------------------------------------------------
    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Nothing of an earlier load runs any more; with other settings the cluster is made anew.

        Raises:
            TargetError: If a setting reads back as another value.
        """
        self.forget_all()
        self.data_key = key
        self.spec = self.spec.model_copy(update={"settings": spec.settings})
        settings = {name: self.level(name) for name in self.declared}
        if settings != self._as_made or not all(each.runs for each in self.nodes.every):
            self.close()
            self.open()
        return read_back(spec, self.nodes, self.slots(), self._made_storage)

    # -- jobs ----------------------------------------------------------------------------------
    def announce(self, prefix: str) -> None:
        """Notes the prefix; the journal knows the nodes, with which the jobs end."""
        self._prefixes.add(prefix)
        self.context.journal.note(f"jobs {prefix}* run on nodes that Loadstone made")

    def forget(self, prefix: str) -> None:
        """Cancels what is left of announced jobs; where that fails, their nodes are killed."""
        if prefix not in self._prefixes:
            return
        spec = self.scheduler_spec().model_copy(update={"call_timeout_s": _CANCEL_CALL_S})
        scheduler = spec.model_dump(mode="json")
        try:
            cancel_announced({"scheduler": scheduler, "prefix": prefix})
        except TargetError as error:
            self.context.journal.note(f"{error.message}; the nodes are killed")
            for node in self.nodes.compute:
                self.nodes.kill(node.name)
        self._prefixes.discard(prefix)

    def forget_all(self) -> None:
        """As `forget`, of all that were announced."""
        for prefix in sorted(self._prefixes):
            self.forget(prefix)

    def desk(self, folder: Path) -> Path:
        """In the folder of the trial; all nodes are shown it."""
        desk = folder / "desk"
        desk.mkdir(parents=True, exist_ok=True)
        self.nodes.show(desk)
        return desk

    def scratch(self) -> Scratch:
        """What the settings say, at the same path on each node."""
        made = self._made_storage
        return Scratch(made.kind, str(made.path), made.shared, made.network)

    def slot_groups(self) -> Mapping[str, Sequence[str]]:
        """Of all nodes whose slots have a part of the share each."""
        groups = {each.name: each.slot_groups for each in self.nodes.compute}
        return {name: found for name, found in groups.items() if found}

    def functional_only(self) -> str:
        """Slots without a part of the processors of their own."""
        plans = plans_of(self.spec)
        if self.nodes.unbounded:
            plans = [NodePlan(each.name, each.slots) for each in plans]
        return functional_only(plans, len(os.sched_getaffinity(0)))

    # -- observation ---------------------------------------------------------------------------
    def link_bytes(self) -> Mapping[str, float]:
        """Both ways, counted outside the nodes."""
        return {name: float(each.both) for name, each in self.nodes.link_counters().items()}

    def probes(self) -> list[Probe]:
        """Of the links, and of the nodes' shares."""
        nodes = self.nodes
        rates = {each.name: each.plan.link_mbit for each in nodes.every if each.plan.link_mbit}
        return [
            LinkProbe(nodes.link_counters, rates),
            ShareProbe(lambda: {each.name: each.groups() for each in nodes.compute}),
        ]

    def inventory(self) -> dict[str, Any]:
        """As of any cluster, and how the nodes were made."""
        shares = {each.name: each.held_share() for each in self.nodes.compute}
        return {
            **super().inventory(),
            "folder": str(self.folder),
            "storage": self._made_storage.facts(),
            "shares": self.nodes.unbounded or shares,
            "shares_of_slots": {each.name: each.held_slots() for each in self.nodes.compute},
        }

    def data_folder(self) -> Path | None:
        """The folder of the cluster: disks and shared folders lie there."""
        return None if self._tree is None else self._tree[0]

    def server_pids(self) -> list[int]:
        """The first process of each node."""
        if self._nodes is None:
            return []
        return [each.holder.pid for each in self._nodes.every if each.runs]

    def most_processors(self) -> float | None:
        """What the shares add up to."""
        shares = [each.share for each in plans_of(self.spec) if each.share is not None]
        return sum(shares) or None

    # -- inside --------------------------------------------------------------------------------
    @classmethod
    def _sound(cls, spec: TargetSpec) -> dict[str, Level]:
        found = {}
        for name, level in spec.settings.items():
            with contextlib.suppress(WrongInputError):
                cls.setting(spec, name, level)
                found[name] = level
        return found

    @property
    def _made_storage(self) -> WorkingStorage:
        if self._storage is None:
            raise TargetError(f"the cluster of {self.engine} is not open")
        return self._storage

    @contextlib.contextmanager
    def _node_out(self, node: Node, *, gently: bool) -> Iterator[None]:
        if gently:
            node.shut_down()
        self.nodes.kill(node.name)
        try:
            yield
        finally:
            self.nodes.revive(node.name)
            self._made_storage.mount_on(node)
            self.start_daemons([node])
            self.wait_ready()


def plans_of(spec: TargetSpec) -> list[NodePlan]:
    """The nodes with slots that the settings ask for.

    Raises:
        WrongInputError: If this machine has too few processors for their shares.
    """
    nodes, slots = (
        int(spec.settings.get(name, NODE_SETTINGS[name].default)) for name in ("nodes", "slots")
    )
    return compute_plans(
        min(nodes, MOST_NODES),
        slots,
        processors=len(os.sched_getaffinity(0)),
        share=optional_number(spec, "share"),
        link_mbit=optional_number(spec, "link_mbit"),
        link_delay_ms=optional_number(spec, "link_delay_ms"),
        by_slot=spec.settings.get(SHARE_PER) == SLOT,
    )


def scratch_of(spec: TargetSpec) -> str:
    """The kind of storage that the settings ask for."""
    return str(spec.settings.get("scratch", NODE_SETTINGS["scratch"].default))
