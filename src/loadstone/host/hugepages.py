"""Transparent huge pages, and huge pages that are kept ready by their size.

`vm.nr_hugepages`, those of the machine's usual size, is among the sysctls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.host.levels import OneOf, Whole
from loadstone.host.machine import Machine
from loadstone.host.settings import EARLY, FileSetting
from loadstone.spec.problems import near

PREFIX, POOL = "transparent_hugepages", "hugepages"
PREFIXES = (PREFIX, POOL)

_FOLDER = "/sys/kernel/mm/transparent_hugepage"
_SOURCE = "https://docs.kernel.org/admin-guide/mm/transhuge.html"
_POOLS = {f"{POOL}.2MB": 2048, f"{POOL}.1GB": 1024**2}
"""Setting: size of the page in kB. Those of the x86-64 architecture; arm64 has them too."""
_POOL_SOURCE = "https://docs.kernel.org/admin-guide/mm/hugetlbpage.html"
_FILES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    PREFIX: (
        "enabled",
        "huge pages for ordinary memory: always, where asked for, never",
        ("always", "madvise", "never"),
    ),
    f"{PREFIX}.defrag": (
        "defrag",
        "whether a page fault waits for memory to be compacted",
        ("always", "defer", "defer+madvise", "madvise", "never"),
    ),
    f"{PREFIX}.shmem": (
        "shmem_enabled",
        "huge pages for shared memory, such as a server's buffers",
        ("always", "within_size", "advise", "never", "deny", "force"),
    ),
}


@dataclass(frozen=True)
class PagePool(FileSetting):
    """Pages of one size that are kept ready; the kernel gives fewer where memory is fragmented."""

    def differs(self, asked: str, seen: str) -> str:
        """Says how many there were."""
        return (
            f"host.{self.name} was set to {asked}, but the kernel found room for {seen} only: "
            "memory is too small or too fragmented; ask for them when the machine starts"
        )

    def probed(self, path: Path) -> bool:
        """Writing the number again could take or give pages."""
        return False


def setting(name: str, machine: Machine) -> FileSetting:
    """The setting of that name.

    Raises:
        WrongInputError: If there is none.
    """
    if name in _POOLS:
        folder = f"/sys/kernel/mm/hugepages/hugepages-{_POOLS[name]}kB"
        about = f"huge pages of {name.partition('.')[2]} that are kept ready"
        pages = Whole(0, 2**31 - 1, "pages")
        path = machine.at(f"{folder}/nr_hugepages")
        return PagePool(name, about, pages, _POOL_SOURCE, path=path)
    if name not in _FILES:
        raise WrongInputError(f"there is no host.{name}; {near(name, (*_FILES, *_POOLS))}")
    file, about, words = _FILES[name]
    path = machine.at(f"{_FOLDER}/{file}")
    # The kernel computes min_free_kbytes anew when huge pages are turned on or off.
    moved = (machine.at("/proc/sys/vm/min_free_kbytes"),) if name == PREFIX else ()
    return FileSetting(name, about, OneOf(words), _SOURCE, EARLY, path=path, moved_with_it=moved)


def all_known(machine: Machine) -> Iterator[FileSetting]:
    """Each of them."""
    for name in (*_FILES, *_POOLS):
        yield setting(name, machine)
