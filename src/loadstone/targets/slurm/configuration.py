"""The files by which a Slurm that Loadstone starts is configured.

All of its state is in one folder. Sources: slurm.conf(5), slurmdbd.conf(5), cgroup.conf(5) and
munged(8) of Slurm 22.05 and MUNGE 0.5.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PARTITION = "loadstone"
CLUSTER = "loadstone"
CONTROLLER_PORT, NODE_PORT, ACCOUNTING_PORT = 6817, 6818, 6819
"""Slurm's own defaults: the nodes have a network of their own."""
REMEMBERED_S = 86_400
"""So long the controller knows a job that has ended."""
_KEY_BYTES = 1024


@dataclass(frozen=True)
class ConfiguredNode:
    """A node with slots, as slurm.conf has it."""

    name: str
    address: str
    slots: int
    memory_mib: int


@dataclass(frozen=True)
class Configuration:
    """A Slurm: where its files are, and what it consists of."""

    folder: Path
    head: str
    """Address of the node on which the controller runs."""
    nodes: Sequence[ConfiguredNode]
    user: str
    """Account of all daemons."""
    node_timeout_s: int
    """After which a node that does not answer is down, and its jobs have failed."""
    accounting: bool
    """By slurmdbd, on the head."""

    @property
    def file(self) -> Path:
        """slurm.conf: what SLURM_CONF names."""
        return self.folder / "slurm.conf"

    @property
    def socket(self) -> Path:
        """MUNGE's: one daemon serves all nodes, which see the same files."""
        return self.folder / "munge.socket"

    def log(self, daemon: str) -> Path:
        """What a daemon says: `slurmctld`, `slurmd-n1`."""
        return self.folder / f"{daemon}.log"

    def munged(self) -> list[str | Path]:
        """Arguments of munged. `--force` has it take folders that others own, and run as root."""
        files = {"key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        options = [f"--{name}={self.folder / f'munge.{end}'}" for name, end in files.items()]
        return ["--foreground", "--force", f"--socket={self.socket}", *options]

    def write(self) -> None:
        """Writes all files, and makes the folders that they name."""
        key = self.folder / "munge.key"
        if not key.exists():
            key.touch(mode=0o600)
            key.write_bytes(os.urandom(_KEY_BYTES))
        for name in ("state", *(f"spool-{node.name}" for node in self.nodes)):
            (self.folder / name).mkdir(mode=0o755, exist_ok=True)
        self.file.write_text(self.slurm_conf())
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        if self.accounting:
            dbd = self.folder / "slurmdbd.conf"
            dbd.touch(mode=0o600)
            dbd.write_text(self.slurmdbd_conf())

    def slurm_conf(self) -> str:
        """The text of slurm.conf."""
        folder = self.folder
        values: dict[str, object] = {
            "ClusterName": CLUSTER,
            "SlurmctldHost": f"head({self.head})",
            "SlurmctldPort": CONTROLLER_PORT,
            "SlurmdPort": NODE_PORT,
            "SlurmUser": self.user,
            "SlurmdUser": self.user,
            "AuthType": "auth/munge",
            "AuthInfo": f"socket={self.socket}",
            "CredType": "cred/munge",
            "StateSaveLocation": folder / "state",
            "SlurmdSpoolDir": folder / "spool-%n",
            "SlurmctldPidFile": folder / "slurmctld.pid",
            "SlurmdPidFile": folder / "slurmd-%n.pid",
            "TmpFS": "/tmp",  # noqa: S108 - a node has one of its own
            "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none",
            "JobAcctGatherType": "jobacct_gather/linux",
            "SelectType": "select/cons_tres",
            "SelectTypeParameters": "CR_Core",
            "SlurmdParameters": "config_overrides",
            "SchedulerType": "sched/backfill",
            "SchedulerParameters": "batch_sched_delay=0",
            "EnforcePartLimits": "ALL",
            "PriorityType": "priority/basic",
            "JobRequeue": 0,
            "JobCompType": "jobcomp/filetxt",
            "JobCompLoc": folder / "completions.log",
            "MpiDefault": "none",
            "ReturnToService": 2,
            "MinJobAge": REMEMBERED_S,
            "SlurmdTimeout": self.node_timeout_s,
            "KillWait": 5,
            "MailProg": "/bin/true",
            "PropagateResourceLimits": "NONE",
            **self._accounting(),
        }
        return _lines(values) + "".join(map(_node_line, self.nodes)) + self._partition_line()

    def slurmdbd_conf(self) -> str:
        """The text of slurmdbd.conf. Where its database is it learns by MYSQL_UNIX_PORT."""
        return _lines(
            {
                "DbdHost": "head",
                "DbdAddr": self.head,
                "DbdPort": ACCOUNTING_PORT,
                "SlurmUser": self.user,
                "AuthType": "auth/munge",
                "AuthInfo": f"socket={self.socket}",
                "PidFile": self.folder / "slurmdbd.pid",
                "StorageType": "accounting_storage/mysql",
                "StorageHost": "localhost",
                "StorageUser": "loadstone",
                "StorageLoc": "slurm_acct_db",
            }
        )

    def _accounting(self) -> dict[str, object]:
        if not self.accounting:
            return {"AccountingStorageType": "accounting_storage/none"}
        return {
            "AccountingStorageType": "accounting_storage/slurmdbd",
            "AccountingStorageHost": self.head,
            "AccountingStoragePort": ACCOUNTING_PORT,
            "AccountingStorageUser": self.user,
            "AccountingStoragePass": self.socket,
        }

    def _partition_line(self) -> str:
        names = ",".join(node.name for node in self.nodes)
        return (
            f"PartitionName={PARTITION} Nodes={names} Default=YES MaxTime=INFINITE State=UP "
            "OverSubscribe=NO\n"
        )


def _lines(values: Mapping[str, object]) -> str:
    return "".join(f"{name}={value}\n" for name, value in values.items())


def _node_line(node: ConfiguredNode) -> str:
    """Slots are cores of one socket: `config_overrides` has slurmd believe it."""
    return (
        f"NodeName={node.name} NodeAddr={node.address} NodeHostname={node.name} CPUs={node.slots} "
        f"Boards=1 SocketsPerBoard=1 CoresPerSocket={node.slots} ThreadsPerCore=1 "
        f"RealMemory={node.memory_mib} State=UNKNOWN\n"
    )
