"""A cluster as a system under test: it runs jobs by a scheduler, on nodes with slots."""

from __future__ import annotations

import shutil
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from loadstone.counting import how_many
from loadstone.errors import LoadstoneError, TargetError, WrongInputError
from loadstone.journal import Entry, undoes
from loadstone.placements import tree
from loadstone.placements.account import own_account
from loadstone.results.record import FactorReading
from loadstone.schedulers.base import NodeInfo, Scheduler, SchedulerSpec
from loadstone.schedulers.registry import scheduler_of
from loadstone.spec.base import Level
from loadstone.spec.problems import near
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import SettingInfo, Target, TargetContext
from loadstone.targets.capabilities import JOBS

_UNDO = "cluster-jobs"
_GONE_S = 60.0
"""So long cancelled jobs may take to be gone."""
_AGAIN_CALL_S = 10.0
"""So long a scheduler may take that has not answered before, when jobs were to be cancelled."""
_ENDING_S = 2.0
"""So long jobs that run may take to end by themselves: they have told their results before."""
_LOOK_S = 0.2
_DESK = "desk"
_LARGE = ("inputs", "work", "output")
"""Of a desk, what is not kept with the trial."""


@dataclass(frozen=True)
class Scratch:
    """Where the working folders of jobs are."""

    kind: str
    """As the report names it: `local`, `shared`, `sshfs`, `glusterfs`, `moosefs`, `folder`."""
    path: str
    """On each node."""
    shared: bool
    """All nodes see the same files there."""
    network: bool
    """Its bytes cross a link."""


@dataclass(frozen=True)
class ClusterSetting:
    """A setting of a cluster, as a subclass declares it."""

    about: str
    default: Level
    unit: str = ""
    least: float | None = None
    """Of a number; None: it is one of `levels`, or any text."""
    most: float | None = None
    levels: tuple[str, ...] = ()
    whole: bool = False

    def check(self, name: str, level: Level) -> None:
        """Refuses a level that it cannot have.

        Raises:
            WrongInputError: With what it can have.
        """
        if self.least is None:
            if self.levels and str(level) not in self.levels:
                raise WrongInputError(
                    f"target.{name} is {level!r}", advice=f"write one of {', '.join(self.levels)}"
                )
            return
        most = float("inf") if self.most is None else self.most
        number = _number(level)
        if number is None or not self.least <= number <= most or (self.whole and number % 1):
            kind = "a whole number" if self.whole else "a number"
            upper = "" if self.most is None else f" to {self.most:g}"
            raise WrongInputError(
                f"target.{name} is {level!r}",
                advice=f"write {kind} from {self.least:g}{upper}",
            )


class Cluster(Target, ABC):
    """Nodes with slots, and the scheduler that gives them to jobs.

    A subclass says which scheduler it is and what nodes there are. Jobs are announced before the
    first is submitted: the journal then knows by which beginning of their names to find them.
    """

    capabilities: ClassVar[frozenset[str]] = frozenset({JOBS})
    declared: ClassVar[Mapping[str, ClusterSetting]] = {}
    """Its settings by name."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._announced: dict[str, Entry] = {}
        self._unended: set[str] = set()
        """Prefixes of jobs that could not be ended at the first try."""
        self._desks: dict[Path, tuple[Path, Entry]] = {}
        """Folder of a trial: its desk, where that is elsewhere."""
        self.data_key = ""
        """Under which the input of the present trial is kept: equal keys mean equal bytes."""

    # -- what a subclass says ------------------------------------------------------------------
    @classmethod
    def planned_nodes(cls, spec: TargetSpec) -> Sequence[NodeInfo] | None:
        """The nodes that it will have; None where Loadstone does not make them."""
        return None

    @classmethod
    def present_nodes(cls, spec: TargetSpec) -> Sequence[NodeInfo] | None:
        """The nodes that can take a job, before it is open; None where nobody tells."""
        return cls.planned_nodes(spec)

    @classmethod
    def needs_mpirun(cls, spec: TargetSpec) -> bool:
        """Whether the mpirun of this machine starts the ranks of an MPI world."""
        return cls.planned_nodes(spec) is not None

    @abstractmethod
    def scheduler_spec(self) -> SchedulerSpec:
        """Which scheduler, and how it is called; it goes into plans and the journal."""

    @abstractmethod
    def scratch(self) -> Scratch:
        """Where the working folders of jobs are."""

    def slots(self) -> Sequence[NodeInfo]:
        """The nodes, each with its slots.

        Raises:
            SchedulerError: If the scheduler does not answer.
        """
        return [node for node in self.scheduler().nodes() if node.up]

    def desk(self, folder: Path) -> Path:
        """A folder that the lab and all nodes see, for job files, the gate and records.

        Args:
            folder: Of the trial. The desk is in it, unless the target's `data` names a folder that
                all nodes see: then it is made there, and what it holds comes into the folder of the
                trial when the next one begins.
        """
        if self.spec.data is None:
            desk = folder / _DESK
            desk.mkdir(parents=True, exist_ok=True)
            return desk
        if folder not in self._desks:
            parent = Path(self.spec.data)
            self._desks[folder] = tree.make(
                self.context.journal, parent, own_account(), self.context.owner
            )
        return self._desks[folder][0]

    def python(self) -> str:
        """The interpreter that runs jobs on the nodes."""
        return sys.executable

    def link_bytes(self) -> Mapping[str, float]:
        """Bytes that crossed the links of the nodes so far; nothing where they are not counted."""
        return {}

    def slot_groups(self) -> Mapping[str, Sequence[str]]:
        """By node the control groups of its slots (`job.slots`), where it holds ranks to them."""
        return {}

    def functional_only(self) -> str:
        """Why run times are no measure here (more ranks than processors); empty: they are."""
        return ""

    def cross_check_only(self) -> str:
        """What of the scheduler is missing that would cross-check the jobs' own times."""
        return self.scheduler().accounting_missing()

    # -- jobs ----------------------------------------------------------------------------------
    def scheduler(self) -> Scheduler:
        """The scheduler by its commands."""
        return scheduler_of(self.scheduler_spec())

    def announce(self, prefix: str) -> None:
        """Journals that jobs will be submitted whose names begin so; before the first of them."""
        if prefix in self._announced:
            return
        spec = self.scheduler_spec()
        self._announced[prefix] = self.context.journal.before(
            f"run jobs {prefix}* by {spec.kind}",
            _UNDO,
            scheduler=spec.model_dump(mode="json"),
            prefix=prefix,
        )

    def forget(self, prefix: str) -> None:
        """Cancels what is left of announced jobs, waits until they are gone, closes the entry.

        Raises:
            TargetError: If they do not end, or the scheduler does not answer; the entry stays open.
        """
        entry = self._announced.get(prefix)
        if entry is None:
            return
        try:
            _cancel_all(_scheduler_told(entry.data, again=prefix in self._unended), prefix)
        except LoadstoneError as error:
            self._unended.add(prefix)
            self.context.journal.leave(entry, error)
            raise
        self.context.journal.undone(entry)
        del self._announced[prefix]

    def forget_all(self) -> None:
        """As `forget`, of all that were announced."""
        for prefix in list(self._announced):
            self.forget(prefix)
        self._clear_desks()

    def _clear_desks(self) -> None:
        """What the jobs of earlier trials told goes into the folders of these trials."""
        for folder, (desk, entry) in list(self._desks.items()):
            kept = folder / _DESK
            if folder.is_dir() and not kept.exists():
                shutil.copytree(desk, kept, ignore=shutil.ignore_patterns(*_LARGE))
            self.context.journal.undo(entry)
            del self._desks[folder]

    # -- settings ------------------------------------------------------------------------------
    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """One of `declared`.

        Raises:
            WrongInputError: If there is none of that name, or the level is not one of its values.
        """
        declared = cls.declared.get(name)
        if declared is None:
            raise WrongInputError(
                f"target {cls.engine} has no setting {name!r}; {near(name, cls.declared)}"
            )
        declared.check(name, level)
        return SettingInfo(name, "restart", default=str(declared.default), unit=declared.unit)

    @classmethod
    def check_settings(cls, spec: TargetSpec) -> None:
        """Refuses settings of `spec` that cannot be.

        Raises:
            WrongInputError: With the first that is wrong.
        """
        for name, level in spec.settings.items():
            cls.setting(spec, name, level)

    def level(self, name: str) -> Level:
        """What a setting is, said or by default."""
        return self.spec.settings.get(name, self.declared[name].default)

    def number(self, name: str) -> float:
        """A setting that is a number."""
        return float(self.level(name))

    @classmethod
    def keeps_caches(cls, spec: TargetSpec) -> str | None:
        """The page caches of nodes are nobody's to empty."""
        return "what earlier jobs have read stays in the memory of the nodes"

    # -- life ----------------------------------------------------------------------------------
    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Nothing of an earlier load runs any more."""
        return self.restore("", spec)

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Nothing of an earlier load runs any more; the settings are those of `spec`."""
        self.forget_all()
        self.data_key = key
        self.spec = self.spec.model_copy(update={"settings": spec.settings})
        return [
            FactorReading(
                factor=f"target.{name}", requested=level, read_back=self.level(name), how="restart"
            )
            for name, level in spec.settings.items()
        ]

    def close(self) -> None:
        """Ends what is left of all jobs; what they have told is kept in any case."""
        try:
            self.forget_all()
        finally:
            self._clear_desks()

    def check_ready(self) -> None:
        """Asks the scheduler for its nodes.

        Raises:
            TargetError: If it does not answer, or no node can take a job.
        """
        if not self.slots():
            raise TargetError(
                f"{self.engine}: no node can take a job", advice="see the state of its nodes"
            )

    def inventory(self) -> dict[str, Any]:
        """Scheduler, nodes, storage, and the variables of the person that were taken out."""
        scheduler, scratch = self.scheduler(), self.scratch()
        return {
            "engine": self.engine,
            "scheduler": scheduler.version(),
            "nodes": {node.name: node.slots for node in self.slots()},
            "scratch": {"kind": scratch.kind, "shared": scratch.shared, "network": scratch.network},
            "accounting": scheduler.accounting_missing() or "there is one",
            "variables_taken_out": ", ".join(scheduler.removed()),
            "functional_only": self.functional_only(),
        }


@undoes(_UNDO)
def cancel_announced(data: Mapping[str, Any]) -> None:
    """Cancels all jobs of a prefix, and waits until none is left.

    Args:
        data: Of the journal's entry: the scheduler's spec, and the prefix.

    Raises:
        TargetError: If they do not end in time, or the scheduler does not answer for as long as a
            call may take.
    """
    _cancel_all(_scheduler_told(data), str(data["prefix"]))


def _scheduler_told(data: Mapping[str, Any], *, again: bool = False) -> Scheduler:
    """The scheduler of a journal's entry; one that did not answer before is given less time."""
    spec = SchedulerSpec.model_validate(data["scheduler"])
    if again:
        call_s = min(spec.call_timeout_s, _AGAIN_CALL_S)
        spec = spec.model_copy(update={"call_timeout_s": call_s})
    return scheduler_of(spec)


def _cancel_all(scheduler: Scheduler, prefix: str) -> None:
    """As `cancel_announced`."""
    began_s = heard_s = time.monotonic()
    while True:
        try:
            left = _cancel_left(scheduler, prefix, began_s)
        except LoadstoneError as error:
            problem = f"jobs {prefix}* could not be cancelled: {error.message}"
            is_late = time.monotonic() - heard_s >= scheduler.spec.call_timeout_s
        else:
            if not left:
                return
            heard_s = time.monotonic()
            problem = f"{how_many(left, 'job')} {prefix}* did not end within {_GONE_S:g} s"
            is_late = heard_s - began_s > _GONE_S
        if is_late:
            raise TargetError(
                problem,
                advice="once the scheduler answers: loadstone recover; or cancel them by hand",
            )
        time.sleep(_LOOK_S)


def _cancel_left(scheduler: Scheduler, prefix: str, began_s: float) -> int:
    """Cancels jobs once; returns how many were left.

    At first those that run are given a moment: they are about to exit, and a cancelled job looks as
    if it had failed.
    """
    if time.monotonic() - began_s < _ENDING_S:
        left = [job for job in scheduler.jobs(prefix).values() if not job.over]
        if left and all(job.state == "running" for job in left):
            return len(left)
    return len(scheduler.cancel_all(prefix))


def _number(level: Level) -> float | None:
    try:
        return float(level)
    except (TypeError, ValueError):
        return None
