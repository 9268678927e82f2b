"""An outage in the midst of the measured load: the server is away for a while, the load goes on."""

from __future__ import annotations

import time

from loadstone.errors import TargetError
from loadstone.experiments.lab import Lab
from loadstone.experiments.loading import Load
from loadstone.results.record import OutageRecord
from loadstone.spec.model import OutageSpec
from loadstone.targets.walk import part_of

_LOOK_EVERY_S = 0.1
_PATIENCE_S = 60.0
"""A server that ran out of space restarts by itself, and may fail at it once more."""
_WORDS = {
    "pause": "pausing",
    "stop": "stopping",
    "kill": "killing",
    "full-disk": "filling the disk of",
}


def suffer(load: Load, lab: Lab, outage: OutageSpec, begin_s: float) -> OutageRecord:
    """Waits for the moment, puts the server out of service and brings it back.

    The server is not looked at meanwhile: that it does not answer is what is asked for.

    Args:
        load: Runs.
        lab: Whose target it is.
        outage: What happens.
        begin_s: When the measured load began, on the trial's clock.

    Returns:
        When it was.

    Raises:
        TargetError: If the load ends before, or the server does not come back.
    """
    if not _reached(load, lab, begin_s + outage.after):
        lab.interrupts.check()
        load.driver.wait()
        raise TargetError("the load ended before the outage")
    server = part_of(lab.target, outage.part) if outage.part else lab.target
    lab.observer.activity(f"{_WORDS[outage.kind]} {outage.part or 'the server'}")
    from_s = load.driver.clock_s()
    with server.outage(outage.kind):
        _reached(load, lab, from_s + outage.lasts)
        to_s = load.driver.clock_s()
        lab.observer.activity(f"bringing {outage.part or 'the server'} back")
    _await_answer(lab)
    back_s = load.driver.clock_s() - to_s
    lab.observer.activity("running the load")
    return OutageRecord(kind=outage.kind, part=outage.part, from_s=from_s, to_s=to_s, back_s=back_s)


def _await_answer(lab: Lab) -> None:
    """Waits until the server answers again, and starts it if it ended of its own.

    Raises:
        TargetError: If it does not answer in time.
        InterruptedTrialError: If the user does not want to wait.
    """
    give_up_at = time.monotonic() + _PATIENCE_S
    while True:
        lab.interrupts.check()
        try:
            lab.target.start()
            lab.target.check_ready()
        except TargetError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(_LOOK_EVERY_S)
        else:
            return


def _reached(load: Load, lab: Lab, at_s: float) -> bool:
    """Waits until a time of the trial's clock; False if the load ended or is to end before."""
    while (left_s := at_s - load.driver.clock_s()) > 0:
        if lab.interrupts.requested or load.ended.wait(min(left_s, _LOOK_EVERY_S)):
            return False
    return True
