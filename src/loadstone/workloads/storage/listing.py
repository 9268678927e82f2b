"""The profiles as a list shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loadstone.spec.profile import ProfileSpec
from loadstone.workloads.storage.catalogue import Catalogue
from loadstone.workloads.storage.catalogue_parameters import CATALOGUE, MIX
from loadstone.workloads.storage.parameters import StorageParameters
from loadstone.workloads.storage.profiles import PROFILES
from loadstone.workloads.storage.wanted import profile_of, whole_s


@dataclass(frozen=True)
class ListedProfile:
    """A profile as it is where nothing else is said.

    Attributes:
        name: As `--profile` takes it.
        tests: Their names, in order; of the catalogue its operations, which are made together.
        passes: Of each test that count; None of one that has no passes.
        seconds: All tests, with pauses and passes that do not count.
        origin: Where it comes from.
    """

    name: str
    tests: list[str]
    passes: int | None
    seconds: float
    origin: str


def listed_profiles() -> Iterator[ListedProfile]:
    """All of them; that of the driver, whose operations are mixed, comes last."""
    for name, profile in PROFILES.items():
        own = StorageParameters(profile=name)
        tests = [each.name for each in profile_of(own).tests]
        yield ListedProfile(name, tests, profile.passes, whole_s(own), profile.origin)
    usual = ProfileSpec()
    seconds = usual.warm_up + usual.measured_s
    yield ListedProfile(CATALOGUE, list(MIX), None, seconds, Catalogue.origin)
