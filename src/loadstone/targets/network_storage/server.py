"""The servers of network storage that Loadstone starts."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import psutil

from loadstone.host.processes import matching
from loadstone.journal import Journal
from loadstone.placements import iscsi_export, nfs_export, programs
from loadstone.placements.account import own_account
from loadstone.placements.flushes import ServerFlushes, tgt_flushes
from loadstone.placements.iscsi_export import IscsiExport
from loadstone.placements.network import counted, counting_arguments, nbdkit_arguments
from loadstone.placements.nfs_export import NfsExport
from loadstone.targets.owned_server import OwnedServer


class StorageServer(OwnedServer):
    """A server in a folder of its own, known by a path there that is one of its arguments."""

    start_s = 60.0
    mark_name: ClassVar[str]

    def __init__(self, folder: Path, log: Path, journal: Journal) -> None:
        super().__init__(folder, log=log, account=own_account(), journal=journal)

    @classmethod
    def processes_of(cls, folder: Path) -> list[psutil.Process]:
        """Those with the mark; the one that Loadstone started stands first in the list of pids."""
        mark = str(folder / cls.mark_name)
        return matching(lambda words: mark in words[1:])

    @property
    def mark(self) -> Path:
        """Of this server."""
        return self.folder / self.mark_name

    def publish(self) -> None:
        """Tells the server that has just started what to serve, where its command does not."""

    @abstractmethod
    def writes(self) -> str:
        """How the running server writes, by its own words or its command line."""

    def count_flushes(self, sync_some: Callable[[], int]) -> ServerFlushes | None:
        """What the running server does with flushes; None of one that no load flushes.

        Counting costs too much to go on under load: it is done before, and ends with the block.

        Args:
            sync_some: Makes writes with a flush after each, and says how many.
        """
        return None

    def said(self) -> str:
        """What it has said since it was started."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as file:
            file.seek(self._log_begin)
            return file.read().decode(errors="replace")


class NbdServer(StorageServer):
    """nbdkit, with filters that change what the storage promises."""

    title = "nbdkit"
    undo_name = "network-storage-end-nbdkit"
    mark_name = "nbdkit.pid"
    image: Path
    port: int
    wanted: str = "cached"
    write_delay_ms: int = 0
    _counts = False

    def command(self) -> Sequence[str | Path]:
        """On loopback."""
        self.mark.unlink(missing_ok=True)
        writes = None if self.wanted == "cached" else self.wanted
        arguments = nbdkit_arguments(self.image, writes, self.write_delay_ms)
        return [
            *(programs.needed("nbdkit"), "--foreground", "--ipaddr", "127.0.0.1"),
            *("--port", str(self.port), "--pidfile", self.mark),
            *(counting_arguments(arguments, self.folder) if self._counts else arguments),
        ]

    def count_flushes(self, sync_some: Callable[[], int]) -> ServerFlushes:
        """By its filters, for which it is started anew."""
        self.stop()
        self._counts = True
        try:
            self.start({})
            syncs = sync_some()
            self.stop()  # it writes its counts at its end
        finally:
            self._counts = False
        self.start({})
        return counted(self.folder, syncs, None)

    def is_ready(self) -> bool:
        """It has written its pid file."""
        return self.mark.exists() and bool(self.mark.read_text().strip())

    def writes(self) -> str:
        """By the parameter of its filter."""
        words = self._words()
        modes = {"fuamode=force": "sync", "fuamode=discard": "async"}
        return next((mode for word, mode in modes.items() if word in words), "cached")

    def delay_ms(self) -> int:
        """By the parameter of its filter."""
        found = re.search(r"\bwdelay=(\d+)ms", " ".join(self._words()))
        return int(found[1]) if found else 0

    def _words(self) -> list[str]:
        return [word for each in self.processes() for word in each.cmdline()]


class IscsiServer(StorageServer):
    """tgt."""

    title = "tgt"
    undo_name = "network-storage-end-tgt"
    mark_name = iscsi_export.SOCKET
    export: IscsiExport

    def command(self) -> Sequence[str | Path]:
        """It serves nothing before `publish`."""
        return self.export.command()

    def is_ready(self) -> bool:
        """It answers when it is told something."""
        return self.export.is_ready()

    def publish(self) -> None:
        """The one image."""
        self.export.publish()

    def count_flushes(self, sync_some: Callable[[], int]) -> ServerFlushes:
        """By its own words on each command."""
        begin = len(self.said())
        self.export.say_all(really=True)
        try:
            syncs = sync_some()
        finally:
            self.export.say_all(really=False)
        claims = not self.export.has_write_cache()
        return tgt_flushes(self.said()[begin:], syncs, None, claims_no_cache=claims)

    def writes(self) -> str:
        """As it says itself."""
        return self.export.serves_as()


class NfsServer(StorageServer):
    """nfs-ganesha and the rpcbind of its own."""

    title = "nfs-ganesha"
    undo_name = "network-storage-end-ganesha"
    mark_name = "ganesha.pid"
    cause = re.compile(r":(CRIT|FATAL) :")
    stamp = re.compile(r"^.*?\] \w+ ")
    export: NfsExport

    def command(self) -> Sequence[str | Path]:
        """With a configuration that is written anew."""
        return self.export.command()

    def is_ready(self) -> bool:
        """It says so."""
        return nfs_export.INITIALIZED in self.said()

    def writes(self) -> str:
        """By the configuration that it was started with."""
        return "sync" if "NFS_Commit = true" in self.export.config.read_text() else "cached"
