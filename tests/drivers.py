"""The load drivers that run below a command."""

import psutil


def drivers_of(pid: int) -> list[psutil.Process]:
    """Those below a process, at any depth; other children may end while they are looked at."""
    return [child for child in psutil.Process(pid).children(recursive=True) if _is_driver(child)]


def _is_driver(process: psutil.Process) -> bool:
    try:
        # The kernel cuts a process's name at 15 characters.
        return process.name().startswith("loadstone-driv")
    except psutil.NoSuchProcess:
        return False
