"""The profile `catalogue`: a home folder for each of many users, with small files in it.

A BI server keeps what its users own this way, hashed by the first characters of the user's name.
The load driver makes it, and not fio, whose file engines make empty files in one folder.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

from loadstone.errors import TargetError, WrongInputError
from loadstone.placements import limits
from loadstone.results.record import CheckResult, Fingerprint, MetricValue, Notice
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target
from loadstone.targets.capabilities import FOLDERS
from loadstone.workloads.base import LoadContext, LoadRequest, RunDriver, Workload
from loadstone.workloads.measured import Measured, MetricSpec
from loadstone.workloads.storage.catalogue_checks import CHECKS, checked
from loadstone.workloads.storage.catalogue_files import (
    TOP,
    Contents,
    Homes,
    keep_seed,
    kept_seed,
    read_back,
)
from loadstone.workloads.storage.catalogue_parameters import KEPT, MIX
from loadstone.workloads.storage.names import is_file, names_of, read_names
from loadstone.workloads.storage.parameters import StorageParameters


def calls_per(operation: str) -> str:
    """The metric of the calls that an operation makes over NFS."""
    return f"calls_per_{operation.replace('-', '_')}"


METRICS = (
    MetricSpec("operations_per_s", "operations", "operations/s", True, follows_rate=True),
    MetricSpec("operations_per_cpu_s", "operations per CPU second", "operations/CPU s", True),
    MetricSpec("mb_per_s", "bytes moved", "MB/s", True),
    MetricSpec("stat_misses_percent", "stat calls that read from the disk", "%", False),
    MetricSpec("read_misses_percent", "files whose reading read from the disk", "%", False),
    *(MetricSpec(calls_per(each), f"calls of NFS for each {each}", "calls", False) for each in MIX),
    MetricSpec("median_folder", "homes in the median folder", "homes", False),
    MetricSpec("fullest_folder", "homes in the fullest folder", "homes", False),
)
_BYTES_PER_FILE, _BYTES_PER_HOME = 6200, 4400
"""On disks with blocks of 4096 bytes: half a block is lost in each file; an inode has 256."""
_NAME_MISSES_PERCENT = 1.0
_CROWDED_SHARE = 0.5
"""Of all homes in one hashed folder: hashing has spread little then."""


class Catalogue(Workload[Target]):
    """The workload `storage` with small files of many users."""

    name = "storage"
    origin = "the catalogue of a BI server with 50,000 users, on local disks and on NFSv3"
    usual_engine = "folder"
    requires: ClassVar[frozenset[str]] = frozenset({"file-access", FOLDERS})
    Parameters = StorageParameters
    metrics = METRICS
    headline = "operations_per_s"
    checks = CHECKS
    first_factor = ("workload.layout", "hashed, flat")
    rebuilds = True
    parameters: StorageParameters

    @property
    def homes(self) -> Homes:
        """Who has a home, and where."""
        own = self.parameters
        names = names_of(own.names)
        return Homes(own.homes, own.home_files, own.layout, own.hash_characters, names)

    def files(self) -> Mapping[str, str]:
        """The list of names, if it is one's own."""
        names = self.parameters.names
        return {"names": names} if is_file(names) else {}

    def examine_file(self, parameter: str) -> None:
        """Each name must do as that of a folder."""
        read_names(Path(self.files()[parameter]))

    def data_key(self) -> dict[str, Any]:
        """Which files there are; what is done with them changes none at the beginning."""
        own = self.parameters.model_dump(include={"homes", "home_files", "layout"})
        hashed = self.parameters.layout == "hashed"
        return {
            "profile": self.parameters.profile,
            **own,
            "hash_characters": self.parameters.hash_characters if hashed else 0,
            "names": hashlib.sha256("\n".join(self.homes.names).encode()).hexdigest(),
        }

    def expected_size_bytes(self) -> int:
        """About what files and folders take on a disk."""
        own = self.parameters
        return own.homes * (own.home_files * _BYTES_PER_FILE + _BYTES_PER_HOME)

    def build(self, target: Target, run_driver: RunDriver, seed: int) -> dict[str, float]:
        """Makes all homes with their files, in parallel.

        Returns:
            `load_time_s`, `rows` (files), `size_bytes`, `homes`, `folders` (that hold homes).

        Raises:
            TargetError: If the file system has a limit that is too low, with its name.
        """
        homes = self.homes
        with target.file_tree() as tree:
            too_few = limits.missing_inodes(tree.shown(""), *tree.inodes(), homes.inodes)
            if too_few is not None:
                raise TargetError(
                    too_few, advice="ask for fewer homes, or make it with more: -N, -i"
                )
            keep_seed(tree, seed)
        begin = time.monotonic()
        made = run_driver(
            LoadRequest("load", 2 * (os.cpu_count() or 1), seed, self._driver(seed, mix={}))
        )
        return {
            "load_time_s": time.monotonic() - begin,
            "rows": made["files"],
            "size_bytes": made["bytes"],
            "homes": made["homes"],
            "folders": float(len(homes.parents())),
        }

    def fingerprint(self, target: Target) -> Fingerprint:
        """Names and sizes of all files."""
        digest, files, size_bytes = hashlib.sha256(target.identity().encode()), 0, 0
        with target.file_tree() as tree:
            for name, size in tree.sizes(TOP):
                digest.update(f"{name} {size}\n".encode())
                files, size_bytes = files + 1, size_bytes + size
        rows = {"homes": self.parameters.homes, "files": files}
        return Fingerprint(digest=digest.hexdigest(), rows=rows, size_bytes=size_bytes)

    def examine_place(self, target: TargetSpec, profile: ProfileSpec) -> None:
        """Handles are of NFS."""
        if self.parameters.handles != KEPT and target.engine != "nfs":
            raise WrongInputError(
                f"handles: {self.parameters.handles} does nothing on {target.engine}: only clients "
                "of NFS have any",
                advice="leave it out, or choose the target nfs",
            )

    def arrival(self, profile: ProfileSpec) -> str:
        """Users of the load, each a thread, and the homes."""
        own = self.parameters
        homes = f"{own.homes:,} homes of {own.home_files:,} files, {own.layout}"
        return f"{homes}; {super().arrival(profile)}"

    def loaded(self, profile: ProfileSpec) -> ProfileSpec:
        """As it is given.

        Raises:
            WrongInputError: If there are more users of the load than homes.
        """
        users = profile.most_users if profile.load == "closed" else profile.sessions
        if users > self.parameters.homes:
            raise WrongInputError(
                f"{self.parameters.homes:,} homes are fewer than the {users:,} users of the load, "
                "each of whom changes files in homes of its own",
                advice="raise homes, or lower users",
            )
        return profile

    def plan(self, context: LoadContext[Target]) -> dict[str, Any]:
        """The homes, and the weights of the operations."""
        own = self.parameters
        parameters = self._driver(context.data_seed, own.mix) | {"handles": own.handles}
        return {"name": self.name, "role": "run", "parameters": parameters}

    def measure(self, measured: Measured) -> list[MetricValue]:
        """Rates, what was not in the caches, and how full folders are."""
        count = sum(measured.operations.values())
        in_folders = self.homes.parents().values()
        values = {
            "operations_per_s": count / measured.duration_s,
            "mb_per_s": measured.counters.get("bytes", 0) / measured.duration_s / 1e6,
            "median_folder": float(median(in_folders)),
            "fullest_folder": float(max(in_folders)),
        }
        cpu_s = sum(tick.cpu_user_s + tick.cpu_system_s for tick in measured.ticks)
        if cpu_s > 0:
            values["operations_per_cpu_s"] = count / cpu_s
        values |= self._calls(measured) or self._misses(measured)
        return [spec.of(values[spec.name]) for spec in METRICS if spec.name in values]

    def _misses(self, measured: Measured) -> dict[str, float]:
        """Of files of this machine."""
        kinds = (("stat_misses", "stat"), ("read_misses", "open-read"))
        return {
            f"{name}_percent": 100 * measured.counters.get(name, 0) / count
            for name, operation in kinds
            if (count := measured.operations.get(operation))
        }

    def _calls(self, measured: Measured) -> dict[str, float]:
        """Over NFS: calls for each operation; nothing of other files."""
        return {
            calls_per(operation): measured.counters[f"calls_{operation}"] / count
            for operation in MIX
            if f"calls_{operation}" in measured.counters
            and (count := measured.operations.get(operation))
        }

    def notices(self, measured: Measured) -> list[Notice]:
        """How the homes are spread, and whether the caches held their names."""
        found = [self._spread(), *self._calls_made(measured)]
        values = {each.name: each.value for each in self.measure(measured)}
        missed = values.get("stat_misses_percent", 0.0)
        if missed > _NAME_MISSES_PERCENT:
            files = self.parameters.homes * self.parameters.home_files
            found.append(
                Notice(
                    code="name-cache-misses",
                    severity="warning",
                    message=f"{missed:.1f} % of the stat calls read from the disk: the kernel's "
                    f"caches did not hold the names of {files:,} files",
                    advice="give memory, lower vm.vfs_cache_pressure, or warm up for longer",
                )
            )
        return found

    def check(
        self, target: Target, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """Reads every file back."""
        homes = self.homes
        with target.file_tree() as tree:
            found = read_back(tree, homes, Contents(kept_seed(tree)))
        return checked(found, homes, measured.total_operations, measured.total_errors)

    def _calls_made(self, measured: Measured) -> list[Notice]:
        """Over NFS: which calls, and how many for each operation."""
        made = self._calls(measured)
        if not made:
            return []
        each = (f"{name} {made[calls_per(name)]:.2f}" for name in MIX if calls_per(name) in made)
        counters = measured.counters.items()
        kinds = {name[4:].upper(): int(n) for name, n in counters if name.startswith("nfs_") and n}
        counts = (f"{count:,} {name}" for name, count in sorted(kinds.items(), key=_by_count))
        return [
            Notice(
                code="nfs-calls",
                severity="info",
                message=f"calls of NFS for each operation: {', '.join(each)}; "
                f"in all {', '.join(counts)}",
            )
        ]

    def _spread(self) -> Notice:
        counts = self.homes.parents()
        name, fullest = max(counts.items(), key=lambda item: item[1])
        folders = "1 folder" if len(counts) == 1 else f"{len(counts):,} folders"
        hashed = self.parameters.layout == "hashed"
        crowded = hashed and fullest > max(1, _CROWDED_SHARE * self.parameters.homes)
        message = (
            f"{self.parameters.homes:,} homes lie in {folders}: {median(counts.values()):,.0f} in "
            f"the median one, {fullest:,} in the fullest, {name}"
        )
        return Notice(
            code="crowded-folder" if crowded else "folders",
            severity="warning" if crowded else "info",
            message=message + ("; hashing has not spread them" if crowded else ""),
            advice="names that begin alike share a folder: hash by more characters, or by others"
            if crowded
            else "",
        )

    def _driver(self, data_seed: int, mix: Mapping[str, int]) -> dict[str, Any]:
        homes = self.homes
        return {
            "data_seed": data_seed,
            "homes": homes.count,
            "home_files": homes.files,
            "layout": homes.layout,
            "hash_characters": homes.hash_characters,
            "names": list(homes.names),
            "mix": dict(mix),
            "sync": self.parameters.sync,
        }


def _by_count(counted: tuple[str, int]) -> int:
    return -counted[1]
