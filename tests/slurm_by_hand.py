"""A Slurm made by hand, apart from Loadstone: n1 and n2 with two processors each, on loopback.

All of it runs as whoever makes it: an ordinary user has daemons and jobs of his own. Several
daemons of one machine are told apart by their names and ports.
"""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from packages import do_without
from session import until

from loadstone.placements.exported import free_ports
from loadstone.schedulers.base import SchedulerSpec

PROGRAMS = {
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "munged": "munge",
    "sbatch": "slurm-client",
}
"""Needed, each with its Debian package."""
PARTITION = "debug"
_FOLDERS = ":/usr/sbin:/sbin"


def missing() -> str | None:
    """Why there can be none here; None if there can."""
    path = os.environ["PATH"] + _FOLDERS
    lacking = next((each for each in PROGRAMS if shutil.which(each, path=path) is None), None)
    return lacking and f"{lacking} is missing (Debian: {PROGRAMS[lacking]})"


class SlurmByHand:
    """A running Slurm; its commands find it by `environment`."""

    def __init__(
        self, folder: Path, settings: str = "", partition: str = "", database: Path | None = None
    ) -> None:
        """Makes nothing yet.

        Args:
            folder: Empty; its path is short, for there is a socket in it.
            settings: More lines of slurm.conf; they replace those of the same name.
            partition: More of the line of the partition.
            database: Socket of a MariaDB: slurmdbd then keeps accounts, and each user may run
                one job at a time.
        """
        self.folder = folder
        self.conf = folder / "slurm.conf"
        self.environment = {
            **os.environ,
            "PATH": os.environ["PATH"] + _FOLDERS,
            "SLURM_CONF": str(self.conf),
        }
        self._settings = settings
        self._partition = partition
        self._database = database
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        self._configure()
        files = ("key-file=key", "pid-file=pid", "log-file=log", "seed-file=seed")
        options = [f"--{each.replace('=', f'={self.folder}/munge.')}" for each in files]
        socket_option = f"--socket={self.folder}/munge.socket"
        self._start("munged", "munged", "--foreground", "--force", socket_option, *options)
        until("munged", (self.folder / "munge.socket").exists)
        if self._database is not None:
            self._start_accounting(self._database)
        self._start("slurmctld", "slurmctld", "-D", "-f", str(self.conf))
        for name in ("n1", "n2"):
            self.start_node(name)
        until("idle nodes", self._idle)

    def start_node(self, name: str) -> None:
        self._start(f"slurmd-{name}", "slurmd", "-D", "-N", name, "-f", str(self.conf))

    def stop(self) -> None:
        """Ends jobs and daemons, whatever state they are in."""
        self.signal("slurmctld", signal.SIGCONT)
        with suppress(subprocess.SubprocessError):
            self.run("scancel", f"--user={getpass.getuser()}")
            until("an end of all jobs", lambda: not self.run("squeue", "--noheader"))
        for process in self._daemons.values():
            process.kill()
            process.wait()
        for process in self._left():
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def run(self, *words: str) -> str:
        """Runs a command of Slurm; returns what it says."""
        return subprocess.run(
            words, env=self.environment, check=True, capture_output=True, text=True, timeout=60
        ).stdout.strip()

    def signal(self, daemon: str, number: signal.Signals) -> None:
        """Sends a signal to a daemon: SIGSTOP has the controller hang."""
        self._daemons[daemon].send_signal(number)

    def completed(self, prefix: str = "") -> list[str]:
        """Names of the jobs in the completion log, one for each time that one has ended."""
        log = self.folder / "completions.log"
        lines = log.read_text().splitlines() if log.exists() else []
        names = [field.partition("=")[2] for line in lines for field in line.split()
                 if field.startswith("Name=")]  # fmt: skip
        return sorted(each for each in names if each.startswith(prefix))

    def spec(self, **fields: object) -> SchedulerSpec:
        """By which Loadstone's scheduler uses it."""
        environment = {"SLURM_CONF": str(self.conf)}
        extra = fields.pop("environment", {})
        assert isinstance(extra, Mapping)
        return SchedulerSpec.model_validate(
            {
                "kind": "slurm",
                "partition": PARTITION,
                "environment": {**environment, **extra},
                **fields,
            }
        )

    def shim(self, command: str, script: str) -> str:
        """A script in the place of a command, in a folder that is to come first in PATH.

        Args:
            command: `sbatch`.
            script: Of the shell; `real "$@"` calls the real command, `$calls` is a file of its own.

        Returns:
            The folder.
        """
        real = shutil.which(command)
        assert real is not None
        folder = self.folder / f"shim-{command}"
        folder.mkdir(exist_ok=True)
        (folder / "calls").unlink(missing_ok=True)
        calls = shlex.quote(str(folder / "calls"))
        head = f'#!/bin/sh\ncalls={calls}\nreal() {{ {shlex.quote(real)} "$@"; }}\n'
        (folder / command).write_text(head + script)
        (folder / command).chmod(0o755)
        return str(folder)

    def _start_accounting(self, database: Path) -> None:
        self.environment["MYSQL_UNIX_PORT"] = str(database)
        self._start("slurmdbd", "slurmdbd", "-D")

        def registered() -> bool:
            with suppress(subprocess.SubprocessError):
                self.run("sacctmgr", "--immediate", "add", "cluster", "byhand")
                return True
            return False

        until("slurmdbd", registered)
        for words in (
            "add qos one MaxJobsPerUser=1",
            "add account people",
            f"add user {getpass.getuser()} account=people qos=one defaultqos=one",
        ):
            self.run("sacctmgr", "--immediate", *words.split())

    def _start(self, name: str, *words: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self._daemons[name] = subprocess.Popen(
                words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def _idle(self) -> bool:
        for name, process in self._daemons.items():
            said = (self.folder / f"{name}.log").read_text()[-800:]
            assert process.poll() is None, f"{name} has ended: {said}"
        try:
            told = self.run("sinfo", "--noheader", "--Node", "--format=%N %T")
            return set(told.splitlines()) == {"n1 idle", "n2 idle"}
        except subprocess.SubprocessError:
            return False

    def _left(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if process.environ().get("SLURM_CONF") == str(self.conf):
                    found.append(process)
        return [each for each in found if each.pid != os.getpid()]

    def _configure(self) -> None:
        folder, host, user = self.folder, socket.gethostname(), getpass.getuser()
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o600)
        for name in ("state", "spool-n1", "spool-n2"):
            (folder / name).mkdir()
        controller, *ports = free_ports(3)
        plain = f"""
ClusterName=byhand
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/completions.log
MpiDefault=none
EnforcePartLimits=ALL
SchedulerParameters=batch_sched_delay=0
ReturnToService=2
KillWait=1
MailProg=/bin/true
"""
        replaced = {line.partition("=")[0] for line in self._settings.split()}
        if self._database is not None:
            port = free_ports(1)[0]
            plain = plain.replace("accounting_storage/none", "accounting_storage/slurmdbd")
            plain += f"""
AccountingStorageHost=127.0.0.1
AccountingStoragePort={port}
AccountingStoragePass={folder}/munge.socket
AccountingStorageEnforce=limits,qos
"""
            dbd = folder / "slurmdbd.conf"
            dbd.touch(mode=0o600)
            dbd.write_text(
                f"DbdHost={host}\nDbdAddr=127.0.0.1\nDbdPort={port}\nSlurmUser={user}\n"
                f"AuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\n"
                f"PidFile={folder}/slurmdbd.pid\nStorageType=accounting_storage/mysql\n"
                "StorageHost=localhost\nStorageUser=loadstone\nStorageLoc=slurm_acct_db\n"
            )
        lines = [line for line in plain.split() if line.partition("=")[0] not in replaced]
        lines += self._settings.split()
        lines += [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 Boards=1 "
            "SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1000"
            for name, port in zip(("n1", "n2"), ports, strict=True)
        ]
        lines.append(
            f"PartitionName={PARTITION} Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP "
            + self._partition
        )
        self.conf.write_text("\n".join(lines) + "\n")
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")


@contextmanager
def slurm_by_hand(
    settings: str = "", partition: str = "", database: Path | None = None
) -> Iterator[SlurmByHand]:
    """A Slurm that runs within the block; the test is skipped where it is not installed."""
    if reason := missing():
        do_without(reason)
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    found = SlurmByHand(folder, settings, partition, database)
    try:
        found.start()
        yield found
    finally:
        found.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def bench() -> Iterator[SchedulerSpec]:
    """For the suite of all schedulers."""
    with slurm_by_hand() as slurm:
        yield slurm.spec()
