"""Which part of this process's time is the engine's."""

from __future__ import annotations

import threading
import time

from loadstone.runner.usage import EngineMeter

BURNT_S = 0.3


def burn() -> None:
    """Uses processor time of this thread."""
    until_s = time.thread_time() + BURNT_S
    while time.thread_time() < until_s:
        sum(range(1000))


def test_what_a_thread_does_since_its_last_call_is_its_own():
    meter = EngineMeter()
    is_burnt, is_seen = threading.Event(), threading.Event()

    def session() -> None:
        with meter.call():
            pass
        burn()
        is_burnt.set()
        is_seen.wait()

    thread = threading.Thread(target=session)
    thread.start()
    is_burnt.wait()
    before_the_next_call_s = meter.total_s()
    is_seen.set()
    thread.join()
    assert before_the_next_call_s < BURNT_S / 3


def test_what_a_thread_does_within_a_call_is_the_engines():
    meter = EngineMeter()
    with meter.call():
        burn()
        within_s = meter.total_s()
    burn()
    assert within_s > BURNT_S * 0.9
    assert meter.total_s() - within_s < BURNT_S / 3


def test_a_thread_that_has_ended_is_no_trouble():
    meter = EngineMeter()

    def session() -> None:
        with meter.call():
            burn()

    thread = threading.Thread(target=session)
    thread.start()
    thread.join()
    assert BURNT_S * 0.9 < meter.total_s() < BURNT_S * 2
