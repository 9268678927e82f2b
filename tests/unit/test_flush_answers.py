"""What becomes of a flush: three answers, each with what was counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loadstone.placements.flushes import (
    FlushAnswer,
    ServerFlushes,
    judge,
    server_flushes,
    tgt_flushes,
)

STATS = """total: 20 ops, 0.011 s, 36.00 KiB, 3.2 MiB/s
write: 8 ops, 0.000102 s, 32.00 KiB, 306.37 MiB/s op, 2.84 MiB/s total
flush: 10 ops, 0.000002 s, 0 bytes, 0 bytes/s op, 0 bytes/s total
"""
PASSED = """2026-11-26 23:25:41.176637 Preconnect id=3 readonly=0 ...
2026-11-26 23:25:41.386403 connection=4 Write id=1 offset=0x3dc000 count=0x1000 fua=0 ...
2026-11-26 23:25:41.386416 connection=4 ...Write id=1 return=0
2026-11-26 23:25:41.388455 connection=4 Flush id=2 ...
2026-11-26 23:25:41.388504 connection=4 ...Flush id=2 return=0
2026-11-26 23:25:41.389354 connection=4 Write id=3 offset=0x2f60000 count=0x1000 fua=1 ...
2026-11-26 23:25:41.389377 connection=4 ...Write id=3 return=0
"""
TGT = """tgtd: target_cmd_queue(1126) 0x5609d39bfc10 8a 1
tgtd: bs_rdwr_request(348) io done 0x5609d39bfc10 8a 0 4096
tgtd: target_cmd_queue(1126) 0x5609d39bfc10 91 1
tgtd: bs_rdwr_request(348) io done 0x5609d39bfc10 91 0 0
"""
TGT_SKIPS = """tgtd: target_cmd_queue(1126) 0x5609d39bfc10 9e 1
tgtd: target_cmd_queue(1126) 0x5609d39bfc10 8a 1
tgtd: target_cmd_queue(1126) 0x5609d39bfc10 91 1
tgtd: bs_aio_cmd_submit(224) skipped cmd:0x5609d39bfc10 op:91
"""
HONEST = ServerFlushes(8, 8, arrived=10, passed_on=10, writes=8, written_through=0)
DROPPING = ServerFlushes(8, 8, arrived=10, passed_on=0, writes=8, written_through=0)
THROUGH = ServerFlushes(8, 8, arrived=10, passed_on=0, writes=8, written_through=8)


def answer(syncs: int, left_kernel: int | None, server: ServerFlushes | None = None) -> FlushAnswer:
    found = judge(syncs, left_kernel, server, device="loop0")
    assert found is not None
    return found.answer


def test_the_filters_of_nbdkit_are_read() -> None:
    assert server_flushes(STATS, PASSED, 8, 9) == ServerFlushes(8, 9, 10, 1, 8, 1)


def test_the_words_of_tgt_are_read() -> None:
    done = tgt_flushes(TGT, 1, None, claims_no_cache=False)
    assert done == ServerFlushes(1, None, arrived=1, passed_on=1, writes=1, written_through=0)
    skipped = tgt_flushes(TGT_SKIPS, 1, 1, claims_no_cache=True)
    assert skipped == ServerFlushes(1, 1, 1, 0, 1, 0, claims_no_cache=True)
    assert (done.drops, skipped.drops) == (False, True)


@pytest.mark.parametrize(
    ("reached", "server", "expected"),
    [
        (0, DROPPING, FlushAnswer.DROPPED),  # and not: none left the kernel, which saw none
        (9, DROPPING, FlushAnswer.DROPPED),  # others flush the same disk
        (0, HONEST, FlushAnswer.NOT_SENT),
        (50, HONEST, FlushAnswer.UNKNOWN),
        (None, HONEST, FlushAnswer.UNKNOWN),
        (50, THROUGH, FlushAnswer.UNKNOWN),
    ],
)
def test_of_a_load_without_the_kernel_the_server_is_asked_first(
    reached: int | None, server: ServerFlushes, expected: FlushAnswer
) -> None:
    served = replace(server, left_kernel=None, claims_no_cache=True)
    found = judge(50, reached, served, device="vda")
    assert found is not None
    assert found.answer is expected
    assert "it says that it has no write cache" in found.text


def test_a_server_that_was_asked_for_nothing_has_zeros() -> None:
    assert server_flushes("", "", 0, 0) == ServerFlushes(0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize("server", [None, HONEST, DROPPING])
def test_what_never_left_the_kernel_was_not_sent(server: ServerFlushes | None) -> None:
    assert answer(50, 0, server) is FlushAnswer.NOT_SENT


def test_what_our_server_received_and_did_not_pass_on_was_dropped() -> None:
    assert answer(50, 74, DROPPING) is FlushAnswer.DROPPED


@pytest.mark.parametrize("server", [None, HONEST, THROUGH])
def test_all_else_cannot_be_judged(server: ServerFlushes | None) -> None:
    assert answer(50, 74, server) is FlushAnswer.UNKNOWN


def test_a_device_without_a_counter_is_not_said_to_get_none() -> None:
    assert answer(50, None) is FlushAnswer.UNKNOWN


def test_a_device_that_takes_durable_writes_needs_no_flush() -> None:
    found = judge(50, 0, by_write=True)
    assert found is not None
    assert found.answer is FlushAnswer.UNKNOWN


def test_without_a_sync_there_is_no_answer() -> None:
    assert judge(0, 0) is None


def test_the_evidence_has_its_figures() -> None:
    found = judge(50, 74, DROPPING, device="loop0")
    assert found is not None
    for part in ("50 syncs", "74 flushes sent to loop0", "received 10", "passed on 0"):
        assert part in found.text


@pytest.mark.parametrize("left_kernel", [None, 0, 50])
@pytest.mark.parametrize("server", [None, HONEST, DROPPING, THROUGH])
def test_no_answer_is_a_verdict_on_a_disk(
    left_kernel: int | None, server: ServerFlushes | None
) -> None:
    found = judge(50, left_kernel, server)
    assert found is not None
    for word in ("honest", "lies", "lying", " ms"):
        assert word not in found.text
