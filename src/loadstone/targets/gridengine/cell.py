"""The files of a Grid Engine that Loadstone starts: a root of its own, with all of its state.

SGE_ROOT is a folder that holds what the package brings, by links, and a cell. Nothing below `/var`
or `/etc` is written, so two runs do not meet, and a Grid Engine of this machine's is left alone.
Sources: sge_bootstrap(5), sge_conf(5), sge_queue_conf(5), sge_pe(5), sched_conf(5), host_conf(5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

INSTALLED = Path("/var/lib/gridengine")
"""SGE_ROOT of the Debian package."""
PROGRAMS = Path("/usr/lib/gridengine")
"""Where the package has daemons and commands; those in PATH are scripts that call them."""
QUEUE = "loadstone.q"
CELL = "default"
QMASTER_PORT, EXECD_PORT = 6444, 6445
"""Grid Engine's own: the nodes have a network of their own."""
_MOST_SLOTS = 9999


@dataclass(frozen=True)
class Cell:
    """One Grid Engine: where its files are, and what it consists of."""

    folder: Path
    head: str
    """The node on which qmaster runs."""
    nodes: Mapping[str, int]
    """Name: slots."""
    user: str
    """Account of the daemons."""
    silent_s: int
    """A node that was not heard of for so long is counted as lost."""

    # -- where things are ----------------------------------------------------------------------
    @property
    def root(self) -> Path:
        """SGE_ROOT."""
        return self.folder / "root"

    @property
    def common(self) -> Path:
        """Of the cell: bootstrap, act_qmaster, the accounting."""
        return self.root / CELL / "common"

    @property
    def spool(self) -> Path:
        """Of qmaster: its database, and what it says in `qmaster/messages`."""
        return self.folder / "spool"

    @property
    def database(self) -> Path:
        """Of qmaster: all objects and jobs."""
        return self.spool / "database"

    @property
    def node_spool(self) -> Path:
        """Each execd has a folder of its own in it."""
        return self.folder / "node-spool"

    @property
    def objects(self) -> Path:
        """What spooldefaults reads, a folder for each kind."""
        return self.folder / "objects"

    @property
    def queue_file(self) -> Path:
        """The queue, for `qconf -Aq`."""
        return self.folder / "queue"

    @property
    def scheduling(self) -> Path:
        """How the scheduler works, for `qconf -Msconf`."""
        return self.folder / "scheduling"

    def log(self, daemon: str) -> Path:
        """What a daemon says: `sge_qmaster`, `sge_execd-n1`."""
        return self.folder / f"{daemon}.log"

    def variables(self) -> dict[str, str]:
        """Of all daemons and commands: where the cell is."""
        return {
            "SGE_ROOT": str(self.root),
            "SGE_CELL": CELL,
            "SGE_QMASTER_PORT": str(QMASTER_PORT),
            "SGE_EXECD_PORT": str(EXECD_PORT),
        }

    def environments(self) -> dict[str, str]:
        """Ranks of each node: the parallel environment that places as many on each host."""
        return {str(number): f"ranks{number}" for number in range(1, self._most + 1)}

    # -- what is written -----------------------------------------------------------------------
    def write(self) -> None:
        """Writes all files, and makes the folders that they name."""
        spools = (self.database, self.spool / "qmaster", self.node_spool)
        for folder in (self.common, *spools):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o755)
        for each in INSTALLED.glob("*"):
            link = self.root / each.name
            if each.name != CELL and not link.is_symlink():
                link.symlink_to(each.resolve())
        _write(self.common / "bootstrap", self._bootstrap())
        (self.common / "act_qmaster").write_text(f"{self.head}\n")
        _write(self.objects / "configuration", self._configuration())
        for kind, name, fields in self._objects():
            _write(self.objects / kind / name, fields)
        _write(self.queue_file, self._queue())

    def schedule_as(self, present: str) -> None:
        """Writes how the scheduler works, from what `qconf -ssconf` tells."""
        fields = {line.split(None, 1)[0]: line.split(None, 1)[-1] for line in _lines(present)}
        _write(self.scheduling, {**fields, **_SCHEDULING})

    def _bootstrap(self) -> dict[str, object]:
        return {
            "admin_user": self.user,
            "default_domain": "none",
            "ignore_fqdn": "true",
            "spooling_method": "berkeleydb",
            "spooling_lib": "libspoolb",
            "spooling_params": self.database,
            "binary_path": PROGRAMS,
            "qmaster_spool_dir": self.spool / "qmaster",
            "security_mode": "none",
            "listener_threads": 2,
            "worker_threads": 2,
            "scheduler_threads": 1,
        }

    def _configuration(self) -> dict[str, object]:
        """As of sge_conf(5): root may submit; the accounting is written at once."""
        return {
            "execd_spool_dir": self.node_spool,
            "mailer": "/bin/true",
            "xterm": "/bin/true",
            "load_sensor": "none",
            "prolog": "none",
            "epilog": "none",
            "shell_start_mode": "posix_compliant",
            "login_shells": "sh,bash",
            "min_uid": 0,
            "min_gid": 0,
            "user_lists": "none",
            "xuser_lists": "none",
            "projects": "none",
            "xprojects": "none",
            "enforce_project": "false",
            "enforce_user": "auto",
            "load_report_time": "00:00:02",
            "max_unheard": _clock(self.silent_s),
            "reschedule_unknown": "00:00:00",
            "loglevel": "log_warning",
            "administrator_mail": "none",
            "set_token_cmd": "none",
            "pag_cmd": "none",
            "token_extend_time": "none",
            "shepherd_cmd": "none",
            "qmaster_params": "ENABLE_FORCED_QDEL=true",
            "execd_params": "none",
            "reporting_params": "accounting=true reporting=false flush_time=00:00:01 joblog=false "
            "sharelog=00:00:00 accounting_flush_time=00:00:00",
            "finished_jobs": 100,
            "gid_range": "20000-21000",
            "qlogin_command": "builtin",
            "qlogin_daemon": "builtin",
            "rlogin_command": "builtin",
            "rlogin_daemon": "builtin",
            "rsh_command": "builtin",
            "rsh_daemon": "builtin",
            "max_aj_instances": 2000,
            "max_aj_tasks": 75000,
            "max_u_jobs": 0,
            "max_jobs": 0,
            "max_advance_reservations": 0,
            "auto_user_oticket": 0,
            "auto_user_fshare": 0,
            "auto_user_default_project": "none",
            "auto_user_delete_time": 86400,
            "delegated_file_staging": "false",
            "reprioritize": 0,
            "jsv_url": "none",
            "jsv_allowed_mod": "ac,h,i,e,o,j,M,N,p,w",
        }

    def _objects(self) -> Iterator[tuple[str, str, Mapping[str, object]]]:
        """Kind, name and fields of each host and parallel environment."""
        for host in (self.head, *self.nodes):
            yield "adminhosts", host, {"hostname": host}
            yield "submithosts", host, {"hostname": host}
        for host in self.nodes:
            yield "exechosts", host, {"hostname": host, **_HOST}
        for number, name in self.environments().items():
            rule = {"pe_name": name, "slots": _MOST_SLOTS, "allocation_rule": number}
            yield "pes", name, {**rule, **_ENVIRONMENT}

    def _queue(self) -> dict[str, object]:
        by_node = [f"[{name}={slots}]" for name, slots in self.nodes.items()]
        return {
            "qname": QUEUE,
            "hostlist": " ".join(self.nodes),
            "pe_list": " ".join(self.environments().values()),
            "slots": ",".join(["0", *by_node]),
            **_QUEUE,
        }

    @property
    def _most(self) -> int:
        return max(self.nodes.values())


_HOST = {
    "load_scaling": "NONE",
    "complex_values": "NONE",
    "load_values": "NONE",
    "processors": 0,
    "user_lists": "NONE",
    "xuser_lists": "NONE",
    "projects": "NONE",
    "xprojects": "NONE",
    "usage_scaling": "NONE",
    "report_variables": "NONE",
}
_ENVIRONMENT = {
    "user_lists": "NONE",
    "xuser_lists": "NONE",
    "start_proc_args": "NONE",
    "stop_proc_args": "NONE",
    "control_slaves": "TRUE",
    "job_is_first_task": "FALSE",
    "urgency_slots": "min",
    "accounting_summary": "TRUE",
    "qsort_args": "NONE",
}
_INFINITE = tuple(
    f"{kind}_{what}"
    for what in ("rt", "cpu", "fsize", "data", "stack", "core", "rss", "vmem")
    for kind in ("s", "h")
)
_QUEUE = {
    "seq_no": 0,
    "load_thresholds": "NONE",
    "suspend_thresholds": "NONE",
    "nsuspend": 1,
    "suspend_interval": "00:05:00",
    "priority": 0,
    "min_cpu_interval": "00:05:00",
    "processors": "UNDEFINED",
    "qtype": "BATCH",
    "ckpt_list": "NONE",
    "rerun": "FALSE",
    "tmpdir": "/tmp",  # noqa: S108 - a node has one of its own
    "shell": "/bin/sh",
    "prolog": "NONE",
    "epilog": "NONE",
    "shell_start_mode": "posix_compliant",
    "starter_method": "NONE",
    "suspend_method": "NONE",
    "resume_method": "NONE",
    "terminate_method": "NONE",
    "notify": "00:00:60",
    "owner_list": "NONE",
    "user_lists": "NONE",
    "xuser_lists": "NONE",
    "subordinate_list": "NONE",
    "complex_values": "NONE",
    "projects": "NONE",
    "xprojects": "NONE",
    "calendar": "NONE",
    "initial_state": "default",
    **dict.fromkeys(_INFINITE, "INFINITY"),
}
_SCHEDULING = {
    "schedule_interval": "0:0:1",
    "flush_submit_sec": 1,
    "flush_finish_sec": 1,
    "schedd_job_info": "true",
    "queue_sort_method": "seqno",
    "job_load_adjustments": "NONE",
    "load_formula": "slots",
}
"""Jobs begin within a second, tell why they wait, and take nodes in their order, not by load."""


def _write(path: Path, fields: Mapping[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{name} {value}\n" for name, value in fields.items()))


def _lines(text: str) -> Sequence[str]:
    return [line for line in text.splitlines() if line.strip()]


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
