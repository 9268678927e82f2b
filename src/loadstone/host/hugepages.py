"""Transparent huge pages; `vm.nr_hugepages` is among the sysctls."""

from __future__ import annotations

from collections.abc import Iterator

from loadstone.errors import WrongInputError
from loadstone.host.levels import OneOf
from loadstone.host.machine import Machine
from loadstone.host.settings import EARLY, FileSetting
from loadstone.spec.problems import near

PREFIX = "transparent_hugepages"

_FOLDER = "/sys/kernel/mm/transparent_hugepage"
_SOURCE = "https://docs.kernel.org/admin-guide/mm/transhuge.html"
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


def setting(name: str, machine: Machine) -> FileSetting:
    """The setting of that name.

    Raises:
        WrongInputError: If there is none.
    """
    if name not in _FILES:
        raise WrongInputError(f"there is no host.{name}; {near(name, _FILES)}")
    file, about, words = _FILES[name]
    path = machine.at(f"{_FOLDER}/{file}")
    # The kernel computes min_free_kbytes anew when huge pages are turned on or off.
    moved = (machine.at("/proc/sys/vm/min_free_kbytes"),) if name == PREFIX else ()
    return FileSetting(name, about, OneOf(words), _SOURCE, EARLY, path=path, moved_with_it=moved)


def all_known(machine: Machine) -> Iterator[FileSetting]:
    """Each of them."""
    for name in _FILES:
        yield setting(name, machine)
