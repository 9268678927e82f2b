"""Parameters of the profile `catalogue`."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, field_validator

from loadstone.limits import MOST_HOME_FILES, MOST_HOMES
from loadstone.spec.base import Spec
from loadstone.workloads.mix import Mix, check_mix
from loadstone.workloads.storage.names import GIVEN

CATALOGUE = "catalogue"
"""The profile that the load driver makes, and not fio."""
KEPT: Final = "kept"
"""What a client of NFS does with handles of folders, usually."""
MIX = {
    "create": 5,
    "stat": 40,
    "open-read": 30,
    "list": 10,
    "write-fsync-rename": 10,
    "delete": 5,
}
"""Operations of a catalogue, with their weights."""


class CatalogueParameters(Spec):
    """Who has a home, and what is done with the files."""

    homes: int = Field(
        default=10_000,
        ge=1,
        le=MOST_HOMES,
        description="Of `catalogue`: users with a home folder.",
    )
    home_files: int = Field(
        default=4, ge=1, le=MOST_HOME_FILES, description="Of `catalogue`: files of each home."
    )
    layout: Literal["hashed", "flat"] = Field(
        default="hashed", description="Of `catalogue`: `users/st/steve` or `users/steve`."
    )
    hash_characters: int = Field(
        default=2,
        ge=1,
        le=64,
        description="Of a name in `catalogue`, for the folder of a hashed home.",
    )
    names: str = Field(
        default=GIVEN,
        description="Of users in `catalogue`: `numbered`, `given` (a list of given names), or a "
        "file with one a line; from the second round on a number is put behind each.",
    )
    mix: Mix = Field(
        default=MIX,
        description="Of `catalogue`: weight of each operation; one that is not named is not made. "
        "Short: `stat=40,open-read=30`.",
    )

    handles: Literal["kept", "looked-up"] = Field(
        default=KEPT,
        description="Of `catalogue` over NFS: handles of folders are kept, or every folder on the "
        "way is looked up in each operation.",
    )

    @field_validator("mix")
    @classmethod
    def _sensible(cls, mix: dict[str, int]) -> dict[str, int]:
        check_mix(mix, MIX)
        if mix.get("delete") and not mix.get("create"):
            raise ValueError("only created files are deleted: give create a weight too")
        return mix
