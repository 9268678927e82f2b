"""Whether what a trial writes fits where the data lie."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from psutil import swap_memory, virtual_memory

from loadstone.errors import RefusedError
from loadstone.experiments.designs.baselines import baselines
from loadstone.experiments.designs.search import rules_of
from loadstone.factors.base import Parts
from loadstone.factors.registry import apply_changes
from loadstone.host.block import size_of
from loadstone.host.locality import at_address, data_folder
from loadstone.host.machine import Absent
from loadstone.host.mounts import mount_of
from loadstone.placements.place import IN_MEMORY, Place, parse
from loadstone.spec.design import CrashDesign, SearchDesign
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Variant
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.units import format_size


@dataclass(frozen=True)
class Space:
    """The free space for data, as it is before any trial has written.

    A trial's data are gone before the next one's are written: each folder is looked at once.
    """

    _free: dict[Path, int] = field(default_factory=dict)

    def refuse(self, parts: Parts) -> None:
        """Stops before a trial that would fill the space of a server that Loadstone starts.

        Only what is sure is refused: where a file system compresses, or where it is not known how
        much there is, nothing is.

        Raises:
            RefusedError: With what it needs and what is free.
        """
        self._refuse_unmade(parts.target)
        needed, room = growth_bytes(parts), self._room(parts)
        if needed is None or room is None:
            return
        free_bytes, where = room
        if needed > free_bytes:
            raise RefusedError(
                f"a trial needs about {format_size(needed)} for its data, and "
                f"{format_size(free_bytes)} are free in {where}",
                advice="let it write less (shorter measure or soak, lower rate, smaller "
                "file_size), or name a larger place: --data",
            )

    def _refuse_unmade(self, target: TargetSpec) -> None:
        """A server without data, and an image without files, are refused below some free space."""
        from loadstone.targets.walk import each_in

        for each in each_in(target):
            self._refuse_unmade_server(each.spec, each.kind.empty_bytes)

    def _refuse_unmade_server(self, target: TargetSpec, empty_bytes: int) -> None:
        from loadstone.placements.tree import DEFAULT_PARENT

        below = Path(target.data) if target.data else DEFAULT_PARENT
        needs = {f"a new {target.engine}": empty_bytes}
        for place in map(parse, target.storage.named.values()):
            if place.kind not in ("folder", *IN_MEMORY):
                needs[place.text] = (place.size_bytes or 0) * place.members
        for what, needed in needs.items():
            if needed and needed > (free_bytes := self._free_in(below)):
                raise RefusedError(
                    f"{what} needs {format_size(needed)} in {below}, and "
                    f"{format_size(free_bytes)} are free",
                    advice="free some space, write a smaller size, or name a larger place: --data",
                )

    def _room(self, parts: Parts) -> tuple[int, str] | None:
        """Bytes, and of what; None where they are not known, or hold more than as many."""
        target = parts.target
        if at_address(target) or "archive" in target.storage.named:
            return None
        place = parse(target.storage.data) if target.storage.data else None
        if place is not None and place.kind != "folder":
            return self._placed(place, target.data)
        folder = data_folder(target)
        if isinstance(folder, Absent) or _compresses(folder):
            return None
        return self._free_in(folder), str(folder)

    def _placed(self, place: Place, data: str | None) -> tuple[int, str] | None:
        """An image takes space below it only as it is written."""
        from loadstone.placements.mounted import default_size
        from loadstone.placements.tree import DEFAULT_PARENT

        if place.kind == "zram" or any(_is_compression(each) for each in place.mount_options):
            return None
        below = Path(data) if data else DEFAULT_PARENT
        if place.kind in IN_MEMORY:
            available, swap = virtual_memory().available, swap_memory().free
            size_bytes = place.size_bytes or default_size(available)
            return min((size_bytes, place.text), (available + swap, f"memory, for {place.text}"))
        size_bytes = place.size_bytes or default_size(self._free_in(below))
        if _compresses(below):
            return size_bytes, place.text
        return min((size_bytes, place.text), (self._free_in(below), f"{below}, below {place.text}"))

    def _free_in(self, folder: Path) -> int:
        if folder not in self._free:
            existing = next(each for each in (folder, *folder.absolute().parents) if each.exists())
            device_bytes = size_of(existing)
            free = shutil.disk_usage(existing).free if device_bytes is None else device_bytes
            self._free[folder] = free
        return self._free[folder]


def refuse_overfull(experiment: Experiment, variants: Sequence[Variant]) -> None:
    """Stops before an experiment with a trial that would fill the disk of its data.

    Of a search the first level is looked at, over its longest trial; higher ones when they come.
    Baselines of placements are looked at too.

    Raises:
        RefusedError: As `Space.refuse`.
    """
    space = Space()
    for parts in longest_trials(experiment, variants):
        space.refuse(parts)
    for parts in baselines(experiment, variants).values():
        space.refuse(parts)


def most_growth_bytes(experiment: Experiment, variants: Sequence[Variant]) -> int | None:
    """About how much the trial that writes most adds to the database; None if it is not known."""
    found = [growth_bytes(parts) for parts in longest_trials(experiment, variants)]
    return max((each for each in found if each is not None), default=None)


def longest_trials(experiment: Experiment, variants: Sequence[Variant]) -> Iterator[Parts]:
    """Each variant with its longest measured phase; crash trials last seconds and are left out."""
    if isinstance(experiment.design, CrashDesign):
        return
    for variant in variants:
        parts = apply_changes(experiment, variant.changes)
        profile = _longest(experiment, parts.profile)
        yield Parts(parts.workload, parts.target, profile, parts.host)


def growth_bytes(parts: Parts) -> int | None:
    """About how much a trial adds to the database; None if it is not known."""
    from loadstone.targets.registry import target_for
    from loadstone.workloads.registry import workload_of

    workload, target = workload_of(parts.workload), target_for(parts.target)
    return workload.growth_bytes(parts.profile, target)


def _longest(experiment: Experiment, profile: ProfileSpec) -> ProfileSpec:
    if not isinstance(experiment.design, SearchDesign):
        return profile
    rules = rules_of(experiment)
    return profile.model_copy(update={"measure": max(rules.longest_s, rules.soak_s)})


def _compresses(folder: Path) -> bool:
    """Whether the file system of a folder keeps data in less space than they have."""
    mount = mount_of(folder)
    if mount is None:
        return False
    options = f"{mount['options']},{mount['file_system_options']}".split(",")
    return mount["file_system"] == "zfs" or any(_is_compression(each) for each in options)


def _is_compression(option: str) -> bool:
    name, _, value = option.partition("=")
    return name.startswith("compress") and value not in ("no", "none")
