"""The address of an existing Grid Engine: `gridengine://queue?project=NAME&distributed=PE`.

There is no host in it: the commands that are installed here know their cluster, by SGE_ROOT and
SGE_CELL or by the site's own configuration.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from loadstone.schedulers.base import SchedulerSpec
from loadstone.targets.address import check_parts, holds_password, unreadable

FORM = "write gridengine://QUEUE, or gridengine://QUEUE?project=NAME&compact=PE&distributed=PE"
_PLACEMENTS = ("compact", "distributed")
_PARTS = ("project", *_PLACEMENTS)
_NAME = re.compile(r"[A-Za-z0-9_.+-]*")
_WHERE = ("SGE_ROOT", "SGE_CELL", "SGE_CLUSTER_NAME", "SGE_QMASTER_PORT", "SGE_EXECD_PORT")


@dataclass(frozen=True)
class GridEngineAddress:
    """A queue, a project and parallel environments; what is empty is the site's default."""

    queue: str
    project: str = ""
    environments: Mapping[str, str] = field(default_factory=dict)
    """Placement: the parallel environment of its jobs."""

    @classmethod
    def parse(cls, server: str) -> GridEngineAddress:
        """Reads an address.

        Raises:
            WrongInputError: If it is none, or holds a password.
        """
        parts = urlsplit(server)
        if "@" in parts.netloc:
            raise holds_password()
        said = dict(parse_qsl(parts.query, keep_blank_values=True))
        check_parts(said, _PARTS, FORM)
        names = (parts.netloc, *said.values())
        wrong = parts.scheme != "gridengine" or bool(parts.path.strip("/"))
        if wrong or not all(map(_NAME.fullmatch, names)):
            raise unreadable(FORM)
        named = {each: said[each] for each in _PLACEMENTS if said.get(each)}
        return cls(parts.netloc, said.get("project", ""), named)

    def scheduler_spec(self, time_limit_s: int) -> SchedulerSpec:
        """How its commands are called; where they find it is kept for `recover`, too.

        Args:
            time_limit_s: Of a job that names none.
        """
        return SchedulerSpec(
            kind="gridengine",
            environment={name: os.environ[name] for name in _WHERE if os.environ.get(name)},
            queue=self.queue,
            account=self.project,
            parallel_environments=dict(self.environments),
            time_limit_s=time_limit_s,
        )
