"""Shared memory of a server that is killed while it makes it."""

import secrets
import subprocess
import sys
from pathlib import Path

import psutil
from listing import unused_shared_memory

from loadstone.targets.postgresql import shared_memory

MAKER = """
import ctypes, mmap, os, sys
opened, mapped, key = sys.argv[1:]
made = ctypes.CDLL(None, use_errno=True).shmget(int(key), 56, 0o1600)
descriptor = os.open(opened, os.O_CREAT | os.O_RDWR, 0o600)
second = os.open(mapped, os.O_CREAT | os.O_RDWR, 0o600)
os.ftruncate(second, 4096)
held = mmap.mmap(second, 4096)
os.close(second)
print(made, flush=True)
sys.stdin.read()
"""
"""Makes a System V segment that it does not attach yet, and POSIX segments opened and mapped."""


def test_what_is_made_and_not_yet_attached_mapped_or_filled_goes() -> None:
    """A server whose disk fails makes its memory anew, and may be killed at any point of that."""
    handles = [secrets.randbits(31) for _ in range(2)]
    opened, mapped = (Path(f"/dev/shm/PostgreSQL.{handle}") for handle in handles)
    key = secrets.randbits(30) + 1
    with subprocess.Popen(
        [sys.executable, "-c", MAKER, opened, mapped, str(key)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as maker:
        assert maker.stdout is not None
        identifier = int(maker.stdout.readline())
        memory = shared_memory.held_by([psutil.Process(maker.pid)])
        maker.kill()
    assert identifier >= 0
    assert memory.segments == {shared_memory.Segment(key, identifier)}
    assert memory.files == {opened, mapped}
    unused = set(unused_shared_memory())
    left = {each for each in unused if any(str(one) in each for one in (key, opened, mapped))}
    assert len(left) == 3
    memory.remove()
    assert not left & set(unused_shared_memory())
