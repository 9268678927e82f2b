"""A cluster that somebody else runs, used as an ordinary user by the commands of its scheduler."""

from __future__ import annotations

import os
import sys
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from loadstone.errors import LoadstoneError, TargetError, WrongInputError
from loadstone.schedulers.base import NodeInfo, SchedulerSpec
from loadstone.schedulers.registry import scheduler_of
from loadstone.spec.target import ProcessSpec, StorageSpec, TargetSpec
from loadstone.targets.cluster import ClusterSetting, Scratch
from loadstone.targets.cluster_folder import ClusterWithFolder

_TIMEOUT = "call_timeout_s"
_KNOWN_S = 60.0
"""So long the nodes that a scheduler told of are taken to be those that it has."""
_ASKED: dict[tuple[object, ...], tuple[float, Sequence[NodeInfo] | None]] = {}
"""Scheduler as it is called: when it was asked, and for what nodes."""
TIME_LIMIT_S = 3600
"""Of a job that names none."""


class ClusterAtAddress(ClusterWithFolder):
    """Nothing of it is changed, only jobs are submitted.

    There is no host in its address: the commands that are installed here know their cluster.
    """

    package: ClassVar[str]
    """The Debian package of its commands."""
    host: ClassVar[str]
    """What people call a machine that has them."""
    known_by: ClassVar[tuple[str, ...]]
    """Variables by which its commands find their cluster, beside PATH."""
    cures: ClassVar[tuple[str, str]]
    """What to do where there are no nodes, and where none can take a job."""
    declared: ClassVar[Mapping[str, ClusterSetting]] = {
        "scratch": ClusterSetting(
            "folder on the nodes in which each job has a working folder; empty: one that is made "
            "beside the results, or in data, which all nodes must see",
            "",
        ),
        "scratch_seen": ClusterSetting(
            "who sees the files in scratch", "shared", levels=("shared", "local")
        ),
        "python": ClusterSetting("interpreter of Loadstone's part of a job, on the nodes", ""),
        "call_timeout_s": ClusterSetting(
            "time that a command of the scheduler may take", 30, unit="s", least=1, most=600
        ),
    }

    # -- what a subclass says ------------------------------------------------------------------
    @classmethod
    @abstractmethod
    def spec_at(cls, server: str) -> SchedulerSpec:
        """The scheduler that an address names.

        Raises:
            WrongInputError: If it cannot be read, or holds a password.
        """

    @classmethod
    @abstractmethod
    def missing(cls, spec: SchedulerSpec) -> list[str]:
        """Commands of the scheduler that are not here."""

    @property
    @abstractmethod
    def where(self) -> str:
        """What the address names, for people: `partition debug`."""

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """The address and the commands; nothing is asked of the cluster yet.

        Raises:
            WrongInputError: If the address or a setting cannot be.
            TargetError: If a command is not here.
        """
        scheduler = cls.spec_at(spec.server)
        if spec.process != ProcessSpec() or spec.storage != StorageSpec():
            raise WrongInputError(
                f"{cls.engine} at an address is not started here",
                advice="leave process, storage out",
            )
        cls.check_settings(spec)
        missing = cls.missing(scheduler)
        if missing:
            raise TargetError(
                f"{cls.engine} at an address needs its commands, and {missing[0]} is missing",
                advice=f"run it on a {cls.host}, or install the package {cls.package}",
            )
        return {"engine": cls.engine, "server": spec.server}

    @classmethod
    def present_nodes(cls, spec: TargetSpec) -> Sequence[NodeInfo] | None:
        """As the scheduler says; it is asked once for all configurations of an experiment.

        Where it does not answer, `check_access` tells why.
        """
        timeout = spec.settings.get(_TIMEOUT, cls.declared[_TIMEOUT].default)
        found_by = tuple(os.environ.get(name, "") for name in ("PATH", *cls.known_by))
        where = (cls, spec.server, str(timeout), *found_by)
        asked_s, nodes = _ASKED.get(where, (-_KNOWN_S, None))
        if time.monotonic() - asked_s < _KNOWN_S:
            return nodes
        scheduler = cls.spec_at(spec.server).model_copy(update={_TIMEOUT: float(timeout)})
        try:
            nodes = [node for node in scheduler_of(scheduler).nodes() if node.up] or None
        except LoadstoneError:
            nodes = None
        _ASKED[where] = time.monotonic(), nodes
        return nodes

    def check_access(self) -> None:
        """Asks for the nodes.

        Raises:
            TargetError: If the scheduler does not answer, or no node can take a job.
        """
        found = scheduler_of(self.plain_spec()).nodes()
        if not found:
            raise TargetError(f"{self.where} has no nodes, or does not exist", advice=self.cures[0])
        if not any(node.up for node in found):
            states = ", ".join(sorted({node.state for node in found}))
            raise TargetError(
                f"no node of {self.where} can take a job: {states}", advice=self.cures[1]
            )

    # -- life ----------------------------------------------------------------------------------
    def parent(self) -> Path:
        """For the working folders, where none is named."""
        return Path(self.spec.data).resolve() if self.spec.data else Path.cwd()

    # -- use -----------------------------------------------------------------------------------
    def plain_spec(self) -> SchedulerSpec:
        """As the address and the settings say."""
        spec = self.spec_at(self.spec.server)
        return spec.model_copy(update={"call_timeout_s": self.number("call_timeout_s")})

    def scheduler_spec(self) -> SchedulerSpec:
        """As the address and the settings say."""
        return self.plain_spec()

    def scratch(self) -> Scratch:
        """The folder that was named, or the one that was made.

        Raises:
            TargetError: If none is named, and the target is not open.
        """
        shared = self.level("scratch_seen") == "shared"
        if named := str(self.level("scratch")):
            return Scratch("folder", named, shared=shared, network=False)
        return Scratch("folder", str(self.folder), shared=True, network=False)

    def python(self) -> str:
        """The lab's own, unless another is named."""
        return str(self.level("python")) or sys.executable

    def identity(self) -> str:
        """The address."""
        return self.spec.server
