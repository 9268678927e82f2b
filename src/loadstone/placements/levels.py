"""RAID: which levels there are, who makes them, and what they need."""

from __future__ import annotations

from dataclasses import dataclass

from loadstone.errors import WrongInputError

MOST_MEMBERS = 16


@dataclass(frozen=True)
class RaidLevel:
    """A level.

    Attributes:
        least: Members that it needs.
        module: Of the kernel's md.
        of_btrfs: Whether btrfs has it as a profile that survives a crash.
    """

    least: int
    module: str
    of_btrfs: bool = True


LEVELS = {
    "raid0": RaidLevel(2, "raid0"),
    "raid1": RaidLevel(2, "raid1"),
    "raid10": RaidLevel(4, "raid10"),
    "raid5": RaidLevel(3, "raid456", of_btrfs=False),
}


def check(level: str | None, members: int | None, file_system: str) -> int:
    """Sees whether a level can be made of so many members, and tells of how many.

    Args:
        level: Of `LEVELS`, or None: one device.
        members: As asked for; None: as few as the level needs.
        file_system: That lies on it: btrfs makes its own levels, md those of all others.

    Raises:
        WrongInputError: With the reason.
    """
    if level is None:
        if members is not None:
            raise WrongInputError(f"members={members} needs a level: {', '.join(LEVELS)}")
        return 1
    known = LEVELS[level]
    if file_system == "btrfs" and not known.of_btrfs:
        raise WrongInputError(
            f"btrfs loses data with {level} when it crashes (btrfs(5), RAID56 status)",
            advice=f"choose ext4 or xfs, whose {level} the kernel's md makes",
        )
    count = known.least if members is None else members
    if not known.least <= count <= MOST_MEMBERS:
        raise WrongInputError(f"{level} has {known.least} to {MOST_MEMBERS} members; given {count}")
    return count
