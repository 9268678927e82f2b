"""A placement: where data lie, as text and as a value.

Written `KIND[:ITEM[,ITEM...]]`. An item is a file system, a size, an option of the kind, or a mount
option: `loop:ext4,size=4GB,noatime,data=journal`. `docs/storage.md` explains the kinds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from loadstone.errors import WrongInputError
from loadstone.placements import levels, options
from loadstone.spec.problems import near

KINDS = {
    "folder": "a folder that exists",
    "loop": "a file with a file system of its own",
    "tmpfs": "a file system in memory",
    "zram": "a file system on compressed memory",
    "nbd": "a file system on network storage, served by nbdkit",
    "nfs": "a file system in an image on an export of NFS, served by nfs-ganesha",
    "iscsi": "a file system on a disk of iSCSI, served by tgt",
    "volatile": "a file system on a device whose unflushed writes a power loss takes",
}
IN_MEMORY = ("tmpfs", "zram")
FILLABLE = ("loop", "tmpfs", "zram")
"""Placements whose space Loadstone can take away for a while."""
NETWORKED = ("nbd", "volatile")
"""Served by nbdkit."""
EXPORTED = ("nfs", "iscsi")
"""Served as a hypervisor gets its storage."""
ALGORITHMS = ("lzo", "lzo-rle", "lz4", "lz4hc", "zstd", "deflate", "842")
WRITES = {
    "sync": "every write is on the disk before it is answered",
    "async": "flushes are answered and not done",
}
LEAST_BYTES = {"ext4": 16 << 20, "xfs": 300 << 20, "btrfs": 256 << 20, "tmpfs": 1 << 20}
"""The smallest file system of each kind that is made."""
_FULL = ("loop", "nbd", *EXPORTED)
"""Placements with an image that can be written in full first."""
_OWN_DEVICES = ("loop", "nbd")
"""Placements whose device can be told what its cache is, and of which several make a level."""
WRITE_CACHES = {
    "back": "the kernel sends flushes to the device",
    "through": "the kernel believes that it needs none, and sends none",
}
_NOT_EXPORTED = {
    ("nfs", "async"): "NFS has no async: its server does every commit that it is asked for",
    **{(kind, "write-delay"): f"the server of {kind} has no write-delay" for kind in EXPORTED},
}
_UNITS = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_SIZE = re.compile(r"(\d+)([KMGT])(I?B)?", re.IGNORECASE)
_DELAY = re.compile(r"(\d+)ms")


@dataclass(frozen=True)
class Place:
    """Where data lie.

    `text` is its one canonical spelling: what means the same is written the same.
    """

    kind: str
    path: str | None = None
    """`folder` only."""
    file_system: str | None = None
    mount_options: tuple[str, ...] = ()
    size_bytes: int | None = None
    """None: chosen by who makes it."""
    writes: str | None = None
    """Of network storage: `sync`, `async`, or None: writes are cached and flushes are done."""
    write_delay_ms: int = 0
    """`nbd`, `volatile`: how much longer each write takes, as over a slow network."""
    algorithm: str | None = None
    """`zram` only; None: the kernel's default."""
    read_delay_ms: int = 0
    """`nbd`: how much longer each read takes."""
    disk_delay_ms: int = 0
    """`nbd`: how much longer each write takes on the server's disk; `async` answers before it."""
    rate_bytes: int | None = None
    """`nbd`: a second of reads, and as many of writes; None: as fast as it is."""
    write_cache: str | None = None
    """`loop`, `nbd`: what the kernel is told of the device: `back` or `through`; None: its word."""
    level: str | None = None
    """`loop`, `nbd`: of `levels.LEVELS`; the placement then has several devices like this one."""
    members: int = 1
    """Of the level."""
    full: bool = False
    """The image is written in full before it is used, so that no write waits for its allocation."""

    @property
    def text(self) -> str:
        """The placement as it is written."""
        if self.kind == "folder":
            return f"folder:{self.path}"
        items = [] if self.kind == "tmpfs" or self.file_system is None else [self.file_system]
        items += [self.level, f"members={self.members}"] if self.level else []
        items += [self.writes] if self.writes else []
        items += [f"write-delay={self.write_delay_ms}ms"] if self.write_delay_ms else []
        items += [f"read-delay={self.read_delay_ms}ms"] if self.read_delay_ms else []
        items += [f"disk-delay={self.disk_delay_ms}ms"] if self.disk_delay_ms else []
        items += [f"rate={size_text(self.rate_bytes)}"] if self.rate_bytes else []
        items += [f"write-cache={self.write_cache}"] if self.write_cache else []
        items += [f"size={size_text(self.size_bytes)}"] if self.size_bytes else []
        items += [f"algorithm={self.algorithm}"] if self.algorithm else []
        items += ["full"] if self.full else []
        return (
            self.kind
            + (":" if items or self.mount_options else "")
            + ",".join([*items, *self.mount_options])
        )

    @property
    def unsafe(self) -> str | None:
        """Why commits that were acknowledged can be lost here, or None.

        `data=writeback` is not among the reasons: fsync still brings a file's data and then its
        metadata to the disk; only files that nobody synced may hold stale blocks after a crash.
        """
        if self.kind in IN_MEMORY:
            return f"{self.kind} keeps the data in memory: a power loss takes them"
        if "nobarrier" in self.mount_options:
            return "nobarrier: the file system never flushes the write cache of its disk"
        if self.write_cache == "through":
            return "write-cache=through: the kernel sends no flushes to the device"
        if self.writes == "async":
            return "async: the storage answers flushes without doing them"
        return None

    @property
    def overhead_only(self) -> bool:
        """Its members share the speed of one disk: the level shows what it costs only.

        Members with a speed of their own have one that is below that of the disk.
        """
        delayed = self.write_delay_ms or self.read_delay_ms or self.disk_delay_ms
        slowed = delayed or self.rate_bytes
        return self.level is not None and not slowed

    @property
    def needs_root(self) -> bool:
        """Whether it is mounted."""
        return self.kind != "folder"

    def volatile(self) -> Place:
        """The same file system with the same mount options on a device that can lose power.

        Raises:
            WrongInputError: If a power loss takes all of it anyway, or it is a folder whose disk is
                not Loadstone's.
        """
        if self.kind in IN_MEMORY:
            raise WrongInputError(
                f"{self.text} is in memory: a power loss takes all of it, which needs no test"
            )
        if self.kind == "folder":
            raise WrongInputError(
                f"the power of the disk below {self.path} cannot be cut",
                advice="name a placement that Loadstone makes, for example loop:ext4",
            )
        if self.level is not None:
            raise WrongInputError(
                f"the power of several devices of one placement cannot be cut: {self.text}"
            )
        return replace(
            self,
            kind="volatile",
            full=False,
            read_delay_ms=0,
            disk_delay_ms=0,
            rate_bytes=None,
            write_cache=None,
        )


def parse(text: str) -> Place:
    """Reads a placement.

    Raises:
        WrongInputError: With what is wrong and what is known.
    """
    kind, _, rest = text.strip().partition(":")
    if kind not in KINDS:
        raise WrongInputError(f"{text!r} is no placement: {near(kind, KINDS)}")
    if kind == "folder":
        return _folder(text, rest)
    items = rest.split(",") if rest else []
    if "" in (item.strip() for item in items):
        raise WrongInputError(f"{text!r}: an item is missing between two commas")
    try:
        return _checked(_with_items(Place(kind), [item.strip() for item in items]))
    except WrongInputError as error:
        raise WrongInputError(f"{text!r}: {error.message}", advice=error.advice) from None


def parse_size(text: str) -> int:
    """Reads `8GB`, `8GiB`, `8G`; a kB has 1024 bytes, as elsewhere in Loadstone. Returns bytes.

    Raises:
        WrongInputError: If it is no size.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or int(match[1]) == 0:
        raise WrongInputError(f"{text!r} is not a size: write for example 8GB or 512MB")
    return int(match[1]) * _UNITS[match[2].upper() + "B"]


def size_text(size_bytes: int) -> str:
    """Writes a size as `parse_size` reads it, with the largest unit that divides it."""
    for unit, unit_bytes in reversed(_UNITS.items()):
        if size_bytes % unit_bytes == 0:
            return f"{size_bytes // unit_bytes}{unit.replace('KB', 'kB')}"
    raise ValueError(f"{size_bytes} bytes are no whole number of kB")


def _folder(text: str, path: str) -> Place:
    if not path.startswith("/"):
        raise WrongInputError(f"{text!r}: a folder is named from the root: folder:/path")
    return Place("folder", path=str(PurePosixPath(path)))


def _with_items(place: Place, items: list[str]) -> Place:
    for item in items:
        place = _with_item(place, item)
    return place


def _with_item(place: Place, item: str) -> Place:
    name, separator, value = item.partition("=")
    if name in options.FILE_SYSTEMS and not separator and place.kind != "tmpfs":
        _once(place.file_system is None, "two file systems", item)
        return replace(place, file_system=name)
    if name == "size" and separator:
        _once(place.size_bytes is None, "two sizes", item)
        return replace(place, size_bytes=parse_size(value))
    of_kind = _option_of_kind(place, item)
    if of_kind is not None or item in place.mount_options:
        return of_kind or place
    return replace(place, mount_options=(*place.mount_options, item))


def _option_of_kind(place: Place, item: str) -> Place | None:
    """The placement with an option of its kind, or None if the item is none."""
    name, _, value = item.partition("=")
    if place.kind == "zram" and name == "algorithm":
        if value not in ALGORITHMS:
            raise WrongInputError(f"zram has no algorithm {value!r}; {near(value, ALGORITHMS)}")
        return replace(place, algorithm=value)
    if place.kind in _FULL and item == "full":
        return replace(place, full=True)
    found = _option_of_server(place, item)
    if found is None and place.kind in _OWN_DEVICES:
        found = _option_of_device(place, item)
    return found


def _option_of_server(place: Place, item: str) -> Place | None:
    """The placement with what its server does, or is made to do."""
    name, _, value = item.partition("=")
    if why := _NOT_EXPORTED.get((place.kind, name)):
        raise WrongInputError(why, advice="choose nbd for that")
    if item in WRITES and place.kind in (*NETWORKED, *EXPORTED):
        _once(place.writes in (None, item), "sync and async contradict each other", item)
        return replace(place, writes=item)
    if place.kind in NETWORKED and name == "write-delay":
        return replace(place, write_delay_ms=_delay_ms(value))
    if place.kind == "nbd" and name == "read-delay":
        return replace(place, read_delay_ms=_delay_ms(value))
    if place.kind == "nbd" and name == "disk-delay":
        return replace(place, disk_delay_ms=_delay_ms(value))
    if place.kind == "nbd" and name == "rate":
        return replace(place, rate_bytes=parse_size(value))
    return None


def _option_of_device(place: Place, item: str) -> Place | None:
    """The placement with what the kernel is told of its devices, or how many there are."""
    name, separator, value = item.partition("=")
    if name == "write-cache":
        if value not in WRITE_CACHES:
            raise WrongInputError(f"write-cache has no {value!r}; {near(value, WRITE_CACHES)}")
        return replace(place, write_cache=value)
    if item in levels.LEVELS:
        _once(place.level in (None, item), "two levels", item)
        return replace(place, level=item)
    if name == "members" and separator:
        if not value.isdecimal():
            raise WrongInputError(f"{value!r} is no number of members: write for example members=4")
        return replace(place, members=int(value))
    return None


def _once(first: bool, message: str, item: str) -> None:
    if not first:
        raise WrongInputError(f"{message}: the second is {item!r}")


def _delay_ms(value: str) -> int:
    match = _DELAY.fullmatch(value)
    if match is None or not 0 < int(match[1]) <= 60_000:
        raise WrongInputError(f"{value!r} is no delay: write for example write-delay=2ms")
    return int(match[1])


def _checked(place: Place) -> Place:
    """The placement with its file system filled in and its mount options tried."""
    file_system = "tmpfs" if place.kind == "tmpfs" else place.file_system or "ext4"
    mount_options = dict.fromkeys(
        options.plain_spelling(file_system, each) for each in place.mount_options
    )
    options.check(file_system, mount_options, _other_words(place.kind))
    least = LEAST_BYTES[file_system]
    if place.size_bytes is not None and place.size_bytes < least:
        raise WrongInputError(
            f"{size_text(place.size_bytes)} is too small: {file_system} needs {size_text(least)}"
        )
    if place.disk_delay_ms and (place.writes is None or place.write_delay_ms + place.read_delay_ms):
        raise WrongInputError(
            "disk-delay stands with sync or async, and without write-delay and read-delay: "
            "a server has one delay"
        )
    asked = place.members if place.members != 1 else None
    return replace(
        place,
        file_system=file_system,
        mount_options=tuple(mount_options),
        members=levels.check(place.level, asked, file_system),
    )


def _other_words(kind: str) -> list[str]:
    words = ["size"] if kind == "tmpfs" else ["size", *options.FILE_SYSTEMS]
    words += ["algorithm"] if kind == "zram" else []
    words += [*WRITES, "write-delay"] if kind in NETWORKED else []
    words += {"nfs": ["sync"], "iscsi": [*WRITES]}.get(kind, [])
    words += ["read-delay", "disk-delay", "rate"] if kind == "nbd" else []
    words += ["write-cache", "members", *levels.LEVELS] if kind in _OWN_DEVICES else []
    return words + (["full"] if kind in _FULL else [])
