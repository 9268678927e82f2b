"""The target `local`: jobs are plain processes of this machine, without a scheduler of others."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from loadstone.counting import how_many
from loadstone.errors import WrongInputError
from loadstone.placements import tree
from loadstone.results.record import Notice
from loadstone.schedulers.base import NodeInfo, SchedulerSpec
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import ProcessSpec, StorageSpec, TargetSpec
from loadstone.targets.cluster import ClusterSetting, Scratch
from loadstone.targets.cluster_folder import ClusterWithFolder

SLOTS, SCRATCH = "slots", "scratch"
_EMBEDDED = ("embedded", "local")
"""What `server` may be: it is on this machine anyway."""
_MOST_SLOTS = 4096


def processors() -> int:
    """That this process may use: one for each slot, by default."""
    return len(os.sched_getaffinity(0))


class Local(ClusterWithFolder):
    """One node, with a slot for each processor unless more or fewer are asked for."""

    engine = "local"
    explained_facts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        SLOTS: ("nodes.", "functional_only")
    }
    declared: ClassVar[Mapping[str, ClusterSetting]] = {
        SLOTS: ClusterSetting(
            "ranks that run at a time; by default one for each processor",
            processors(),
            least=1,
            most=_MOST_SLOTS,
            whole=True,
        ),
        SCRATCH: ClusterSetting(
            "folder in which each job has a working folder; empty: beside the results", ""
        ),
    }

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """How many slots, and where working folders are.

        Raises:
            WrongInputError: If a setting cannot be, or a folder is missing.
        """
        if spec.server not in _EMBEDDED:
            raise WrongInputError(
                "target local is this machine, and has no server",
                advice="leave server out, or write --target slurm or gridengine for a cluster",
            )
        if spec.process != ProcessSpec() or spec.storage != StorageSpec():
            raise WrongInputError(
                "target local starts no server", advice="leave process and storage out"
            )
        cls.check_settings(spec)
        for name, folder in (("data", spec.data), ("target.scratch", spec.settings.get(SCRATCH))):
            if folder and not Path(str(folder)).is_dir():
                raise WrongInputError(
                    f"{name}: there is no folder {folder}", advice="make it, or name another"
                )
        return {
            "engine": cls.engine,
            "slots": str(spec.settings.get(SLOTS, processors())),
            "scratch": str(spec.settings.get(SCRATCH) or "beside the results"),
        }

    @classmethod
    def cautions(cls, spec: TargetSpec, profile: ProfileSpec) -> list[Notice]:
        """More slots than processors."""
        reason = _crowded(spec)
        if not reason:
            return []
        return [
            Notice(
                code="functional-only",
                severity="warning",
                message=f"functional only: {reason}; ratios of run times mean nothing",
                advice=f"fewer slots: --set slots={processors()}",
            )
        ]

    @classmethod
    def planned_nodes(cls, spec: TargetSpec) -> Sequence[NodeInfo]:
        """This machine."""
        return [NodeInfo(socket.gethostname(), _slots(spec), "up")]

    # -- life ----------------------------------------------------------------------------------
    def parent(self) -> Path:
        """For the queue: in data, or where folders of Loadstone's are."""
        return Path(self.spec.data) if self.spec.data else tree.DEFAULT_PARENT

    # -- use -----------------------------------------------------------------------------------
    def scheduler_spec(self) -> SchedulerSpec:
        """Plain processes, with their queue in the folder."""
        return SchedulerSpec(
            kind="plain",
            state=str(self.folder),
            slots=int(self.number(SLOTS)),
            yield_when_idle=bool(_crowded(self.spec)),
        )

    def scratch(self) -> Scratch:
        """The folder that was named, or one for each job on the desk."""
        return Scratch("folder", str(self.level(SCRATCH)), shared=True, network=False)

    def cross_check_only(self) -> str:
        """Nobody expects accounts of processes."""
        return ""

    def functional_only(self) -> str:
        """More slots than processors."""
        return _crowded(self.spec)

    # -- observation ---------------------------------------------------------------------------
    def data_folder(self) -> Path | None:
        """Where working folders are, if they are in a place of their own."""
        named = str(self.level(SCRATCH))
        return Path(named) if named else None

    def most_processors(self) -> float | None:
        """One for each slot."""
        return self.number(SLOTS)

    def inventory(self) -> dict[str, Any]:
        """As of any cluster, with the processors that jobs can use."""
        return {**super().inventory(), "processors": processors()}


def _crowded(spec: TargetSpec) -> str:
    """Why run times are no measure; empty: they are."""
    slots = _slots(spec)
    if slots <= processors():
        return ""
    return f"{slots} slots share {how_many(processors(), 'processor')}"


def _slots(spec: TargetSpec) -> int:
    return int(float(spec.settings.get(SLOTS, processors())))
