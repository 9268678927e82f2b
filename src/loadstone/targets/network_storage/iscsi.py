"""The target `iscsi`: a disk that tgt serves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from loadstone.host.locality import at_address
from loadstone.placements import iscsi_export
from loadstone.placements.exported import free_ports
from loadstone.placements.iscsi_export import IscsiExport
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target
from loadstone.targets.capabilities import OVERWRITING
from loadstone.targets.device.target import ERASE
from loadstone.targets.network_storage.address import ErasedIscsi, IscsiAtAddress
from loadstone.targets.network_storage.served import WRITES, ServedDisk
from loadstone.targets.network_storage.server import IscsiServer


class Iscsi(ServedDisk):
    """Written as `iscsi_export.WRITES` says."""

    engine = "iscsi"
    capabilities: ClassVar[frozenset[str]] = frozenset(
        {"file-access", OVERWRITING, "fsync", "fdatasync"}
    )
    fio_engine = "libiscsi"
    needed_programs = iscsi_export.PROGRAMS
    levels: ClassVar[dict[str, tuple[str, ...]]] = {WRITES: tuple(iscsi_export.WRITES)}
    kept_socket = f"{iscsi_export.SOCKET}.0.lock"

    @classmethod
    def for_spec(cls, spec: TargetSpec) -> type[Target]:
        """Another at an address."""
        if not at_address(spec):
            return cls
        return ErasedIscsi if ERASE in spec.settings else IscsiAtAddress

    @property
    def iscsi_server(self) -> IscsiServer:
        """As `server`."""
        server = self.server
        assert isinstance(server, IscsiServer)  # noqa: S101 - made below
        return server

    def make_server(self, folder: Path, log: Path) -> IscsiServer:
        """On a free port."""
        server = IscsiServer(folder, log, self.context.journal)
        port = free_ports(1)[0]
        server.export = IscsiExport(server.mark, folder, "cached", port)
        return server

    def configure(self, shared: Path, settings: dict[str, str]) -> None:
        """What it is told after its next start."""
        server = self.iscsi_server
        (image,) = self.files(shared, ())
        writes = settings.get(WRITES, "cached")
        server.export = replace(server.export, image=image, writes=writes)

    def url(self) -> str:
        """Of its one disk."""
        return self.iscsi_server.export.url
