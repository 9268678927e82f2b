"""One user of Loadstone in an enclosure, and a full listing of what that user's runs leave."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alone import host_to_itself
from enclosure import Enclosure, signal_to
from listing import listing, zram_devices
from session import until


class Machine:
    """One user's folder, in an enclosure."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tmp").mkdir()
        self.enclosure = Enclosure(folder / "tmp")
        self._started: list[subprocess.Popen[str]] = []
        kept = {"LOADSTONE_STATE": str(folder / "state"), "LOADSTONE_CACHE": str(folder / "cache")}
        self.environment = {**os.environ, **kept}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        program = Path(sys.executable).parent / "loadstone"
        process = self.enclosure.start([program, *arguments], self.folder, self.environment)
        self._started.append(process)
        return process

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=500)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def end(self) -> None:
        """Kills what still runs, as after a test that was broken off."""
        for process in self._started:
            if process.poll() is None:
                signal_to(process, signal.SIGKILL)
                process.communicate()

    def listing(self) -> dict[str, Any]:
        """As seen within, and the limits and processors of the test itself."""
        own = listing()
        within = self.enclosure.listing(self.folder / "tmp")
        return {**within, "own": (own["limits"], own["affinity"])}

    def assert_as_before(self, before: dict[str, Any]) -> None:
        """Compares listings. Compressed memory that others have added meanwhile must go again."""
        now = self.listing()
        added = set(now.pop("zram devices")) - set(before["zram devices"])
        assert now == {kind: each for kind, each in before.items() if kind in now}
        until(f"an end of {added}", lambda: not added & set(zram_devices()))


@contextmanager
def machine_to_itself() -> Iterator[Machine]:
    """An enclosure, while no other test changes the host."""
    folder = Path(tempfile.mkdtemp(prefix="loadstone-trace-"))
    folder.chmod(0o755)
    with host_to_itself():
        machine = Machine(folder)
        try:
            yield machine
        finally:
            machine.end()
            recovered = machine.run("recover")
            machine.enclosure.close()
            # Without its journal nobody could put back what is still changed.
            kept = f"the host is not as it was, its journal is in {folder}: {recovered.stderr}"
            assert recovered.returncode == 0, kept
            shutil.rmtree(folder)
