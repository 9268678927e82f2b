"""Clusters for which Loadstone makes nothing but a folder."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.journal import Entry
from loadstone.placements import tree
from loadstone.placements.account import own_account
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.cluster import Cluster


class ClusterWithFolder(Cluster):
    """A cluster with a folder of the experiment's, which is journalled and removed."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._made: tuple[Path, Entry] | None = None

    @abstractmethod
    def parent(self) -> Path:
        """Where the folder is made."""

    @property
    def folder(self) -> Path:
        """The folder.

        Raises:
            TargetError: If the target is not open.
        """
        if self._made is None:
            raise TargetError("the target is not open")
        return self._made[0]

    def open(self) -> None:
        """Makes the folder."""
        if self._made is None:
            owner = self.context.owner
            self._made = tree.make(self.context.journal, self.parent(), own_account(), owner)

    def close(self) -> None:
        """Ends what is left of all jobs, and removes the folder."""
        super().close()
        if self._made is not None:
            self.context.journal.undo(self._made[1])
            self._made = None
