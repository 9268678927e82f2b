"""The target `nfs`: a folder that nfs-ganesha exports."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from loadstone.host.locality import at_address
from loadstone.placements import nfs_export, tree
from loadstone.placements.exported import free_ports
from loadstone.placements.nfs_export import NfsExport
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target
from loadstone.targets.capabilities import FOLDERS, OVERWRITING
from loadstone.targets.network_storage.address import NfsAtAddress
from loadstone.targets.network_storage.served import WRITES, ServedStorage
from loadstone.targets.network_storage.server import NfsServer


class Nfs(ServedStorage):
    """Written `cached` (durable when the client commits) or `sync` (every write is)."""

    engine = "nfs"
    capabilities: ClassVar[frozenset[str]] = frozenset({"file-access", FOLDERS, OVERWRITING})
    fio_engine = "nfs"
    needed_programs = nfs_export.PROGRAMS
    needed_libraries: ClassVar[dict[str, str]] = nfs_export.LIBRARIES

    @classmethod
    def for_spec(cls, spec: TargetSpec) -> type[Target]:
        """Another at an address."""
        if not at_address(spec):
            return cls
        return NfsAtAddress

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """As of all, and that the folder can be exported."""
        nfs_export.refuse_unfit_path(Path(spec.data) if spec.data else tree.DEFAULT_PARENT)
        return super().describe(spec)

    @classmethod
    def unavailable(cls) -> str | None:
        """Only root may have a mount table of its own."""
        if os.geteuid() != 0:
            return "nfs-ganesha gets a mount table of its own, which only root may make"
        return super().unavailable()

    @property
    def nfs_server(self) -> NfsServer:
        """As `server`."""
        server = self.server
        assert isinstance(server, NfsServer)  # noqa: S101 - made below
        return server

    def make_server(self, folder: Path, log: Path) -> NfsServer:
        """On free ports, which clients are told."""
        server = NfsServer(folder, log, self.context.journal)
        nfs, mount = free_ports(2)
        server.export = NfsExport(folder, folder, commit=False, ports=(nfs, mount))
        return server

    def configure(self, shared: Path, settings: dict[str, str]) -> None:
        """By the configuration of its next start."""
        server = self.nfs_server
        commit = settings.get(WRITES, "cached") == "sync"
        server.export = replace(server.export, shared=shared.resolve(), commit=commit)

    def clear(self) -> None:
        """Removes all that is in the folder."""
        for path in self.shared.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def url(self) -> str:
        """Of the folder."""
        return self.nfs_server.export.url

    def files(self, shared: Path, names: Sequence[str]) -> list[Path]:
        """Each in the folder."""
        return [shared / name for name in names]
