"""From a plan on the input to a run of fio; says what is wrong with a plan."""

from __future__ import annotations

import sys
from typing import IO

from loadstone.fio.conductor import Conductor
from loadstone.fio.main import PROGRAM
from loadstone.fio.plan import parse_plan
from loadstone.runner.clock import Clock
from loadstone.runner.control import heed_signals, listen
from loadstone.runner.messages import Inbox
from loadstone.runner.plan import RefusalError


def launch(lines: IO[bytes], output: IO[bytes]) -> int:
    """Runs the plan in the first line.

    Returns:
        The exit code: 0, 1 if the run failed, 2 if the plan was refused.
    """
    clock, inbox = Clock(), Inbox()
    try:
        plan = parse_plan(lines.readline())
    except RefusalError as refusal:
        sys.stderr.write(f"{PROGRAM}: {refusal}\n")
        return 2
    heed_signals(inbox)
    listen(lines, inbox)
    return 0 if Conductor(plan, clock, inbox, output).conduct() else 1
