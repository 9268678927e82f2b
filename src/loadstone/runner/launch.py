"""From a plan on the input to a run: reads it, finds its workload, says what is wrong with it."""

from __future__ import annotations

import sys
from typing import IO

from loadstone.runner.clock import Clock
from loadstone.runner.conductor import Conductor
from loadstone.runner.control import heed_signals, listen
from loadstone.runner.main import PROGRAM
from loadstone.runner.messages import Inbox
from loadstone.runner.plan import RefusalError, parse_plan
from loadstone.runner.registry import workload_of

_SWITCH_INTERVAL_S = 0.0002
"""How long a thread may compute while another waits to go on: it bounds the lag of due times."""


def launch(lines: IO[bytes], output: IO[bytes]) -> int:
    """Runs the plan in the first line.

    Returns:
        The exit code: 0, 1 if the run failed, 2 if the plan was refused.
    """
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    clock, inbox = Clock(), Inbox()
    try:
        plan = parse_plan(lines.readline())
        run = Conductor(plan, workload_of(plan, clock), clock, inbox, output)
    except RefusalError as refusal:
        sys.stderr.write(f"{PROGRAM}: {refusal}\n")
        return 2
    heed_signals(inbox)
    listen(lines, inbox)
    return 0 if run.conduct() else 1
