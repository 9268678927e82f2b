"""What a load wants of the machine that makes it."""

from __future__ import annotations

from dataclasses import dataclass

from loadstone.protocol.programs import Program
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.connection import Connection


@dataclass(frozen=True)
class Wanted:
    """Sessions, and what each of them opens."""

    profile: ProfileSpec
    """As the workload has loaded it: worker threads, processes, processors."""
    sessions: int
    """The most that are open at a time."""
    connection: Connection
    """As the workload uses it: its files, and the servers that each session connects to."""
    program: Program
    """That opens them."""
