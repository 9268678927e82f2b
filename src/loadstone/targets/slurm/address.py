"""The address of an existing Slurm: `slurm://partition?account=NAME&qos=NAME`.

There is no host in it: the commands that are installed here know their cluster, by SLURM_CONF or by
the site's own configuration.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from loadstone.schedulers.base import SchedulerSpec
from loadstone.targets.address import check_parts, holds_password, unreadable

FORM = "write slurm://PARTITION, or slurm://PARTITION?account=NAME&qos=NAME"
_PARTS = ("account", "qos")
_NAME = re.compile(r"[A-Za-z0-9_.+-]*")


@dataclass(frozen=True)
class SlurmAddress:
    """A partition, and who pays. What is empty is the site's default."""

    partition: str
    account: str = ""
    qos: str = ""

    @classmethod
    def parse(cls, server: str) -> SlurmAddress:
        """Reads an address.

        Raises:
            WrongInputError: If it is none, or holds a password.
        """
        try:
            parts = urlsplit(server)
        except ValueError:
            raise unreadable(FORM) from None
        if "@" in parts.netloc:
            raise holds_password()
        said = dict(parse_qsl(parts.query, keep_blank_values=True))
        check_parts(said, _PARTS, FORM)
        names = (parts.netloc, *said.values())
        if parts.scheme != "slurm" or parts.path.strip("/") or not all(map(_NAME.fullmatch, names)):
            raise unreadable(FORM)
        return cls(parts.netloc, said.get("account", ""), said.get("qos", ""))

    def scheduler_spec(self, time_limit_s: int) -> SchedulerSpec:
        """How its commands are called; SLURM_CONF is kept, so that `recover` finds the cluster too.

        Args:
            time_limit_s: Of a job that names none.
        """
        where = os.environ.get("SLURM_CONF")
        return SchedulerSpec(
            kind="slurm",
            environment={"SLURM_CONF": where} if where else {},
            partition=self.partition,
            account=self.account,
            qos=self.qos,
            time_limit_s=time_limit_s,
        )
