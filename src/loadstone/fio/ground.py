"""What fio works on: files of a folder, a device, or network storage."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from loadstone.runner.plan import RefusalError, Strict, read_model
from loadstone.workloads.storage.files import file_name
from loadstone.workloads.storage.fio_binary import NETWORK_ENGINES
from loadstone.workloads.storage.room import unfit

Text = Annotated[str, Field(min_length=1)]


class FilesConnection(Strict):
    """Files of a folder."""

    protocol: Literal["files"]
    folder: Text


class DeviceConnection(Strict):
    """A block device."""

    protocol: Literal["device"]
    path: Text
    size_bytes: Annotated[int, Field(ge=0)] = 0


class ServedConnection(Strict):
    """Network storage that fio reaches itself."""

    protocol: Literal["nbd", "nfs", "iscsi"]
    url: Text


_CONNECTIONS: dict[str, type[FilesConnection | DeviceConnection | ServedConnection]] = {
    "files": FilesConnection,
    "device": DeviceConnection,
    "nbd": ServedConnection,
    "nfs": ServedConnection,
    "iscsi": ServedConnection,
}


@dataclass(frozen=True)
class Ground:
    """Where the bytes go.

    Attributes:
        protocol: Of the connection.
        place: Folder, path or address.
    """

    protocol: str
    place: str

    @property
    def engine(self) -> str | None:
        """Fio's engine for it; None where any of the kernel's will do."""
        return NETWORK_ENGINES.get(self.protocol)

    @property
    def has_files(self) -> bool:
        """Whether its test files are files of this machine."""
        return self.protocol == "files"

    def path(self, file: str, compressible: int) -> Path:
        """Of a test file of a folder."""
        return Path(self.place) / file_name(file, compressible)

    def options(self, file: str, compressible: int) -> dict[str, str]:
        """Fio's words for a test file here."""
        match self.protocol:
            case "files":
                return {"filename": escaped(str(self.path(file, compressible)))}
            case "device":
                return {"filename": escaped(self.place)}
            case "nbd":
                return {"uri": self.place}
            case "nfs":
                return {"nfs_url": self.place, "filename": f"/{file_name(file, compressible)}"}
            case _:
                return {"filename": escaped(self.place)}


def escaped(path: str) -> str:
    """A path in which fio's separator of names is none."""
    return path.replace(":", "\\:")


def ground_of(connection: dict[str, Any]) -> Ground:
    """Reads a plan's `connection`.

    Raises:
        RefusalError: It is nothing that fio can work on.
    """
    protocol = connection.get("protocol")
    model = _CONNECTIONS.get(protocol) if isinstance(protocol, str) else None
    if model is None:
        raise RefusalError("connection.protocol", f"fio has no way to {protocol!r}")
    match read_model(model, connection, within="connection"):
        case FilesConnection(folder=place) | DeviceConnection(path=place):
            pass
        case ServedConnection(url=place):
            pass
    problem = unfit(place)
    if problem is not None:
        raise RefusalError("connection", problem)
    return Ground(str(protocol), place)
