"""Network storage that somebody else serves, by its address."""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from loadstone.errors import RefusedError, TargetError, WrongInputError
from loadstone.journal import Entry, undoes
from loadstone.placements import programs
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.target import ProcessSpec, StorageSpec, TargetSpec
from loadstone.targets.address import holds_password, unreadable
from loadstone.targets.base import SettingInfo, Target, TargetContext
from loadstone.targets.capabilities import FOLDERS, OVERWRITING
from loadstone.targets.device.claim import contents
from loadstone.targets.device.target import ERASE, named_again
from loadstone.targets.network_storage import libnfs
from loadstone.targets.network_storage.connection import NetworkStorageConnection

REMOVE_FOLDER = "network-storage-remove-folder"
_PORTS = {"nbd": 10809, "iscsi": 3260, "nfs": 2049}
_FORMS = {
    "nbd": "nbd://host:port/export",
    "iscsi": "iscsi://host:port/target/lun",
    "nfs": "nfs://host/export",
}
_ANSWER_S = 20.0
_HEAD_BYTES = 1 << 20


class StorageAtAddress(Target):
    """What is there before an experiment is there after it, but for a disk that is named twice."""

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """The address; nobody is asked yet."""
        _check_form(cls.engine, spec.server)
        if spec.data or spec.process != ProcessSpec() or spec.storage != StorageSpec():
            raise WrongInputError(
                f"{cls.engine} at an address is not started here", advice="leave data, storage out"
            )
        return {"engine": cls.engine, "server": spec.server}

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Nothing is made: the load decides what is written."""
        return [
            FactorReading(factor=f"target.{name}", requested=level, read_back=level, how="plan")
            for name, level in spec.settings.items()
        ]

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """As `empty`: what it holds is not kept."""
        return self.empty(spec)

    def connection(self) -> NetworkStorageConnection:
        """The address."""
        host = urlsplit(self.spec.server).hostname or ""
        return NetworkStorageConnection(self.engine, self.url(), host)

    def url(self) -> str:
        """Where the load goes."""
        return self.spec.server

    def inventory(self) -> dict[str, Any]:
        """The address."""
        return {"engine": self.engine, "url": self.url()}

    def identity(self) -> str:
        """The address."""
        return self.spec.server

    def _reach(self) -> None:
        """Raises a TargetError if nothing takes a connection there."""
        parts = urlsplit(self.spec.server)
        port = parts.port or _PORTS[self.engine]
        if self.engine == "nfs" and "nfsport=" in parts.query:
            port = int(parts.query.partition("nfsport=")[2].partition("&")[0])
        try:
            socket.create_connection((str(parts.hostname), port), timeout=_ANSWER_S).close()
        except OSError as error:
            raise self._silent(error.strerror or str(error)) from error

    def _silent(self, why: str) -> TargetError:
        return TargetError(
            f"{self.spec.server} does not answer: {why}",
            advice="see whether the server runs, and whether a firewall is between",
        )


class DiskAtAddress(StorageAtAddress):
    """A disk that is only read, unless it is named twice: then all that is on it is lost."""

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Only `erase`, which repeats the address."""
        if name != ERASE:
            return super().setting(spec, name, level)
        return named_again(level, "server", spec.server)

    def check_access(self) -> None:
        """Reads the begin of the disk; one that is to be written over must hold nothing.

        Raises:
            TargetError: If it does not answer in time.
            RefusedError: If something begins on it.
        """
        self._reach()
        with tempfile.TemporaryDirectory() as folder:
            head = Path(folder) / "head"
            self._read_head(head)
            if ERASE in self.spec.settings and (found := contents(head)):
                raise RefusedError(
                    f"{self.spec.server} is not empty: it holds {', '.join(found)}",
                    advice="name a disk of which all may go",
                )

    def disk_bytes(self) -> int:
        """As the server says."""
        told = self._ask("info", "--output=json", "-f", "raw", self.spec.server)
        return int(json.loads(told)["virtual-size"])

    def _read_head(self, head: Path) -> None:
        count = ["bs=1M", "count=1", f"if={self.spec.server}", f"of={head}"]
        self._ask("dd", "-f", "raw", "-O", "raw", *count)

    def _ask(self, *words: str) -> str:
        command = [str(programs.needed("qemu-img")), *words]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_ANSWER_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise self._silent(f"it was not read within {_ANSWER_S:g} s") from error
        if done.returncode != 0:
            raise self._silent(" ".join(done.stderr.split()) or f"exit code {done.returncode}")
        return done.stdout


class NbdAtAddress(DiskAtAddress):
    """A disk of NBD that is only read."""

    engine = "nbd"
    capabilities: ClassVar[frozenset[str]] = frozenset({"file-access", "fsync"})


class IscsiAtAddress(DiskAtAddress):
    """A disk of iSCSI that is only read."""

    engine = "iscsi"
    capabilities: ClassVar[frozenset[str]] = frozenset({"file-access", "fsync", "fdatasync"})


class ErasedNbd(NbdAtAddress):
    """One that was named twice."""

    capabilities: ClassVar[frozenset[str]] = NbdAtAddress.capabilities | {OVERWRITING}


class ErasedIscsi(IscsiAtAddress):
    """One that was named twice."""

    capabilities: ClassVar[frozenset[str]] = IscsiAtAddress.capabilities | {OVERWRITING}


class NfsAtAddress(StorageAtAddress):
    """A folder of our own in an export, which is removed at the end."""

    engine = "nfs"
    capabilities: ClassVar[frozenset[str]] = frozenset({"file-access", FOLDERS, OVERWRITING})

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._name = f"loadstone-{secrets.token_hex(6)}"
        self._entry: Entry | None = None

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """As of all, and that there is what makes, reads back and removes the folder."""
        if reason := libnfs.absent():
            raise TargetError(f"{spec.server} cannot be reached: {reason}")
        return super().describe(spec)

    def check_access(self) -> None:
        """Mounts it, as fio does.

        Raises:
            TargetError: If it does not answer in time, or does not let us in.
        """
        self._reach()
        with libnfs.mounted(self.spec.server):
            pass

    def open(self) -> None:
        """Makes the folder, journalled."""
        self._entry = self.context.journal.before(
            f"make a folder {self._name} in {self.spec.server.partition('?')[0]}",
            REMOVE_FOLDER,
            url=self.spec.server,
            name=self._name,
        )
        with libnfs.mounted(self.spec.server) as export:
            try:
                export.make(self._name)
            except libnfs.RefusedCallError:
                self.context.journal.undone(self._entry)
                self._entry = None
                raise

    def close(self) -> None:
        """Removes the folder with the test files."""
        if self._entry is not None:
            self.context.journal.undo(self._entry)
            self._entry = None

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Removes all that is in the folder."""
        with self.file_tree() as tree:
            tree.clear()
        return super().empty(spec)

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Keeps what is there: the load decides what is written."""
        return super().empty(spec)

    def file_tree(self) -> AbstractContextManager[libnfs.NfsFolder]:
        """By libnfs: another client than that of the load."""
        return libnfs.mounted(self.url())

    def url(self) -> str:
        """Of the folder; of the export as long as it is not made."""
        made = self._entry is not None
        return libnfs.within(self.spec.server, self._name) if made else self.spec.server


@undoes(REMOVE_FOLDER)
def _remove_folder(data: dict[str, Any]) -> None:
    with libnfs.mounted(data["url"]) as export:
        export.remove(data["name"])


def _check_form(engine: str, server: str) -> None:
    """Raises a WrongInputError for an address that is none of this protocol, or has a password."""
    try:
        parts = urlsplit(server)
        port_is_number = parts.port is None or parts.port > 0
    except ValueError:
        raise unreadable(f"write {_FORMS[engine]}") from None
    if "%" in parts.netloc.rpartition("@")[0] or parts.password:
        raise holds_password()
    if parts.scheme != engine or not parts.hostname or not port_is_number:
        raise unreadable(f"write {_FORMS[engine]}")
