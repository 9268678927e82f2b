"""The target `nbd`: a disk that nbdkit serves, with filters that change what it promises."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from loadstone.errors import WrongInputError
from loadstone.host.locality import at_address
from loadstone.placements.exported import free_ports
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import SettingInfo, Target
from loadstone.targets.capabilities import OVERWRITING
from loadstone.targets.device.target import ERASE
from loadstone.targets.network_storage.address import ErasedNbd, NbdAtAddress
from loadstone.targets.network_storage.served import WRITES, ServedDisk
from loadstone.targets.network_storage.server import NbdServer

_DELAY = "write_delay"
_NO_DELAY = "0ms"
_FORM = re.compile(r"(\d{1,5})ms")


class Nbd(ServedDisk):
    """Written `cached` (flushes are done), `sync` (every write is) or `async` (nothing is)."""

    engine = "nbd"
    capabilities: ClassVar[frozenset[str]] = frozenset({"file-access", OVERWRITING, "fsync"})
    fio_engine = "nbd"
    needed_programs = ("nbdkit",)
    levels: ClassVar[dict[str, tuple[str, ...]]] = {
        WRITES: ("cached", "sync", "async"),
        _DELAY: (),
    }

    @classmethod
    def for_spec(cls, spec: TargetSpec) -> type[Target]:
        """Another at an address."""
        if not at_address(spec):
            return cls
        return ErasedNbd if ERASE in spec.settings else NbdAtAddress

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """`write_delay` is a time: how much longer each write takes, as over a slow network."""
        if cls.plain_name(name) == _DELAY:
            _delay_ms(str(level))
            return SettingInfo(_DELAY, "restart", default=_NO_DELAY)
        return super().setting(spec, name, level)

    @property
    def nbd_server(self) -> NbdServer:
        """As `server`."""
        server = self.server
        assert isinstance(server, NbdServer)  # noqa: S101 - made below
        return server

    def make_server(self, folder: Path, log: Path) -> NbdServer:
        """On a free port."""
        server = NbdServer(folder, log, self.context.journal)
        server.port = free_ports(1)[0]
        return server

    def configure(self, shared: Path, settings: dict[str, str]) -> None:
        """By the command line of its next start."""
        server = self.nbd_server
        (server.image,) = self.files(shared, ())
        server.wanted = settings.get(WRITES, "cached")
        server.write_delay_ms = _delay_ms(settings.get(_DELAY, _NO_DELAY))

    def url(self) -> str:
        """The default export."""
        return f"nbd://127.0.0.1:{self.nbd_server.port}"

    def read_back(self) -> dict[str, Level]:
        """By the command line of the running server."""
        return {**super().read_back(), _DELAY: f"{self.nbd_server.delay_ms()}ms"}


def _delay_ms(text: str) -> int:
    found = _FORM.fullmatch(text)
    if found is None or int(found[1]) > 60_000:
        raise WrongInputError(f"{text!r} is no write_delay: write for example 2ms")
    return int(found[1])
