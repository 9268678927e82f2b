"""Storage of the host: mount options, kind of file system, queue of the disk, space."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts
from loadstone.doctor.model import Advice, Measure, Severity, Source
from loadstone.doctor.rules.base import (
    MARIADB_LINUX,
    NOT_SPEED,
    host_rule,
    kernel,
    mariadb_manual,
    postgresql_manual,
    share,
)
from loadstone.units import format_size

_WITH_ACCESS_TIMES = ("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs", "reiserfs")
_IN_MEMORY = ("tmpfs", "ramfs")
_EXT = ("ext3", "ext4")


@host_rule(
    "access-time",
    "every read of a data file is written down as its access time",
    Severity.SPEED,
    Source(
        "mount(8): strictatime, relatime, noatime",
        "https://man7.org/linux/man-pages/man8/mount.8.html",
    ),
)
def access_time(host: HostFacts) -> Advice | None:
    """Neither relatime nor noatime is among the mount options."""
    place = host.place
    if place is None or place.file_system not in _WITH_ACCESS_TIMES:
        return None
    if {"relatime", "noatime"} & set(place.options):
        return None
    kind = place.file_system if place.file_system in ("ext4", "xfs", "btrfs") else "ext4"
    return Advice(
        seen=f"{place.mounted_at} ({place.file_system}) is mounted with strictatime",
        why="each read changes the inode, which is written later; no database needs access times",
        change="noatime among the options in /etc/fstab; "
        f"mount -o remount,noatime {place.mounted_at} until then",
        risk="none for data; programs that look at access times (some mail readers) go wrong",
        measure=Measure(
            "storage.data",
            (f"loop:{kind},strictatime", f"loop:{kind},noatime"),
            "on fresh file systems in files on the same disk",
            cache="cold",
        ),
    )


@host_rule(
    "barriers-off",
    "the file system does not tell the disk to write out its cache",
    Severity.DATA,
    kernel("ext4, barrier", "admin-guide/ext4.html#options"),
)
def barriers_off(host: HostFacts) -> Advice | None:
    """`nobarrier` or `barrier=0` is among the mount options."""
    place = host.place
    if place is None or not {"nobarrier", "barrier=0"} & set(place.options):
        return None
    kind = place.file_system if place.file_system in _EXT else "ext4"
    return Advice(
        seen=f"{place.mounted_at} is mounted with {'/'.join(place.options)}",
        why="after a power loss commits that were acknowledged are missing, and the file system "
        "itself may be damaged, unless the disk's cache survives (battery, capacitors)",
        change="remove nobarrier (barrier=0) from the options of the mount",
        risk="each commit waits for the disk: slower, by what the comparison shows",
        measure=Measure(
            "storage.data",
            (f"loop:{kind},nobarrier", f"loop:{kind}"),
            "with crash trials, it counts the commits that are lost",
            crash="power-loss",
        ),
    )


@host_rule(
    "data-writeback",
    "after a crash files may hold old contents of the disk",
    Severity.LOOK,
    kernel("ext4, data=writeback", "admin-guide/ext4.html#options"),
)
def data_writeback(host: HostFacts) -> Advice | None:
    """`data=writeback` is among the mount options."""
    place = host.place
    if place is None or "data=writeback" not in place.options:
        return None
    return Advice(
        seen=f"{place.mounted_at} is mounted with data=writeback",
        why="metadata may reach the disk before the data it describes: a file written shortly "
        "before a crash can hold old data. It does no harm to what a database has synced "
        "(PostgreSQL's manual names the option for speed), but to what other programs write there",
        change="data=ordered, the default",
        risk="none for data; writing can be slower, by what the comparison shows",
        measure=Measure("storage.data", ("loop:ext4,data=writeback", "loop:ext4")),
    )


@host_rule(
    "volatile-storage",
    "data lies in memory and is gone when the machine stops",
    Severity.DATA,
    kernel("tmpfs", "filesystems/tmpfs.html"),
)
def volatile_storage(host: HostFacts) -> Advice | None:
    """The data folder is on tmpfs or ramfs, or on an overlay mounted `volatile`."""
    place = host.place
    if place is None:
        return None
    if place.file_system not in _IN_MEMORY and "volatile" not in place.options:
        return None
    return Advice(
        seen=f"{place.folder} is on {place.file_system} ({place.mounted_at})",
        why="fsync keeps nothing there: after a restart of the machine the database is gone",
        change="put the data on a disk",
        risk="each commit waits for the disk: slower, by what the comparison shows",
        measure=Measure("storage.data", ("tmpfs:size=8GB", "loop:ext4")),
    )


@host_rule(
    "nfs-soft",
    "data lies on NFS that gives up on writes",
    Severity.DATA,
    postgresql_manual(
        "18.2. Creating a Database Cluster: NFS", "creating-cluster.html#CREATING-CLUSTER-NFS"
    ),
)
def nfs_soft(host: HostFacts) -> Advice | None:
    """The data folder is on NFS with `soft` or `softerr`."""
    place = host.place
    if place is None or not place.file_system.startswith("nfs"):
        return None
    if not {"soft", "softerr"} & set(place.options):
        return None
    return Advice(
        seen=f"{place.mounted_at} ({place.file_system}) is mounted soft",
        why="when the server does not answer in time, a call is broken off with an I/O error, "
        "which the database does not repeat. PostgreSQL's manual requires hard mounts",
        change="hard instead of soft among the mount options; sync in the server's exports",
        risk="programs wait for a server that is away, instead of failing",
        measure=NOT_SPEED,
    )


@host_rule(
    "disk-space",
    "the disk of the data is nearly full",
    Severity.DATA,
    postgresql_manual("27.6.2. Disk Full Failure", "diskusage.html#DISK-FULL"),
)
def disk_space(host: HostFacts) -> Advice | None:
    """Less than 5 % or less than 1 GB is free."""
    place = host.place
    if place is None or place.free_bytes is None or not place.size_bytes:
        return None
    free = share(place.free_bytes, place.size_bytes)
    if free >= 5 and place.free_bytes >= 1024**3:
        return None
    return Advice(
        seen=f"{format_size(place.free_bytes)} of {format_size(place.size_bytes)} are free on "
        f"{place.mounted_at} ({free:.1f} %)",
        why="a database that cannot extend its log stops at once, and file systems slow down as "
        "they fill",
        change="make room, or a larger disk; look for logs that are kept for a standby or an "
        "archive "
        "that is away",
        risk="never delete files of a database's log by hand: they are needed for recovery",
        measure=NOT_SPEED,
    )


@host_rule(
    "scheduler",
    "an I/O scheduler made for fairness on slow disks serves a fast one",
    Severity.SPEED,
    mariadb_manual(
        f"{MARIADB_LINUX}/configuring-linux-for-mariadb#io-scheduler",
        "Configuring Linux for MariaDB: IO scheduler",
    ),
)
def scheduler(host: HostFacts) -> Advice | None:
    """The disk does not rotate or is virtual, and its scheduler is bfq or cfq."""
    disk = host.place.disk if host.place else None
    if disk is None or disk.scheduler not in ("bfq", "cfq"):
        return None
    if disk.rotational and not disk.virtual:
        return None
    better = next((each for each in ("none", "mq-deadline") if each in disk.schedulers), "none")
    return Advice(
        seen=f"scheduler of {disk.name} is {disk.scheduler}",
        why=f"{disk.scheduler} is fair to programs and favours latency over throughput, and spends "
        "more CPU on each request; the device or the hypervisor sorts requests anyhow. MariaDB's "
        "manual recommends none for SSDs and mq-deadline for hard disks",
        change=f"echo {better} > /sys/block/{disk.name}/queue/scheduler, and a udev rule to keep "
        f"it",
        risk="none for data; one greedy program can slow the others",
        measure=Measure("host.queue.scheduler", (disk.scheduler, better), cache="cold"),
    )


@host_rule(
    "read-ahead",
    "each random read brings in much that nobody asked for",
    Severity.LOOK,
    kernel(
        "block queue, read_ahead_kb",
        "admin-guide/abi-stable.html#abi-sys-block-disk-queue-read-ahead-kb",
    ),
)
def read_ahead(host: HostFacts) -> Advice | None:
    """read_ahead_kb is above 1024 on a disk that does not rotate, or is virtual."""
    disk = host.place.disk if host.place else None
    if disk is None or disk.read_ahead_kb is None or disk.read_ahead_kb <= 1024:
        return None
    if disk.rotational and not disk.virtual:
        return None
    return Advice(
        seen=f"read_ahead_kb of {disk.name} is {disk.read_ahead_kb}",
        why="good for scans of whole tables; with random reads through the page cache, where the "
        "kernel takes two near reads for a scan, it fills memory and the disk's time",
        change=f"echo 128 > /sys/block/{disk.name}/queue/read_ahead_kb (the kernel's usual value)",
        risk="none for data; scans of large tables can become slower",
        measure=Measure("host.queue.read_ahead_kb", (disk.read_ahead_kb, 128), cache="cold"),
    )
