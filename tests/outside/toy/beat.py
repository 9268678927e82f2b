"""A workload whose load is made by a program of its own: it speaks frames, and nothing else."""

from __future__ import annotations

import json
import os
import select
import sys
import time

from loadstone.protocol.frames import PROTOCOL_VERSION
from loadstone.protocol.programs import Program
from loadstone.targets.connection import Connection
from loadstone.workloads.noop import Noop


class Beat(Noop):
    """A thousand beats in each second."""

    name = "beat"
    origin = "a test of Loadstone's contracts"

    def program(self, connection: Connection) -> Program:
        """This module."""
        return Program("toy-beat", command=(sys.executable, "-m", "toy.beat"))


def main() -> None:
    """Reads a plan and tells frames, as the driver protocol says."""
    if sys.argv[1:] == ["--version"]:
        print(f"toy-beat 1.0 (protocol {PROTOCOL_VERSION})")
        return
    began, plan, counted = time.monotonic(), json.loads(sys.stdin.readline()), 0

    def say(frame: str, **fields: object) -> None:
        line = {"frame": frame, "t_s": time.monotonic() - began, **fields}
        print(json.dumps(line), flush=True)

    say("hello", version=PROTOCOL_VERSION, driver="1.0", pid=os.getpid(), threads=1,
        workload="beat", operations=["beat"], unix_time_s=time.time(), monotonic_s=began,
        nofile=1024, clock_resolution_ns=1)  # fmt: skip
    for phase in plan["phases"]:
        of = {"phase": phase["name"], "phase_kind": phase["kind"]}
        say("event", kind="phase-begin", **of)
        from_s = time.monotonic() - began
        stopped = select.select([sys.stdin], [], [], phase["duration_s"])[0]
        to_s = time.monotonic() - began
        beats = {"beat": {"count": 1000, "rolled_back": 0, "errors": {}, "retries": {}}}
        counted += 1000
        say("tick", seq=0, **of, from_s=from_s, to_s=to_s, operations=beats, late_starts=0,
            dropped=0, due=1000, users=1, in_flight=0, queued=0, reconnects=0, cpu_user_s=0.0,
            cpu_system_s=0.0, rss_bytes=1)  # fmt: skip
        say("event", kind="phase-end", **of)
        if stopped:
            break
    say("end", reason="completed", operations={"beat": {"count": counted, "errors": {}}},
        cpu_user_s=0.0, cpu_system_s=0.0, max_rss_bytes=1, facts={})  # fmt: skip


if __name__ == "__main__":
    main()
