"""Parameters of `storage`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from loadstone.errors import WrongInputError
from loadstone.host.memory_group import LEAST_BYTES
from loadstone.placements.place import parse_size, size_text
from loadstone.spec.problems import near
from loadstone.units import Duration
from loadstone.workloads.storage.catalogue_parameters import CATALOGUE, CatalogueParameters
from loadstone.workloads.storage.curves import depths_of
from loadstone.workloads.storage.profiles import PROFILES
from loadstone.workloads.storage.tests import MOST_PASS_S

Sync = Literal["none", "fsync", "fdatasync", "dsync"]
"""After each write: nothing; a flush call; or each write with O_DSYNC."""


class StorageParameters(CatalogueParameters):
    """What is measured, and how."""

    profile: str = Field(default="cdm8", description="Tests: `loadstone list storage` has them.")
    fio: str | None = Field(
        default=None, description="A job file of fio, in the place of a profile; kept as its text."
    )
    test: str | None = Field(
        default=None, description="The one test of the profile that is measured; default: all."
    )
    depths: str | None = Field(
        default=None,
        description="A test is measured at each of these queue depths: `1..64` doubles, `1,4,16` "
        "names them. Default: as the profile says.",
    )
    file_size: str | None = Field(
        default=None, description="Of each test file, as `1GB`; default: the profile's."
    )
    passes: int | None = Field(
        default=None, ge=1, le=1000, description="Of each test; default: the profile's."
    )
    pass_length: Duration | None = Field(
        default=None,
        ge=0.1,
        le=MOST_PASS_S,
        description="Of a pass; default: the profile's.",
    )
    pause: Duration | None = Field(
        default=None,
        ge=0,
        le=MOST_PASS_S,
        description="Between two tests; default: the profile's.",
    )
    sync: Sync = Field(default="none", description="What follows each write.")
    direct: bool = Field(default=True, description="Ask for I/O past the page cache.")
    compressible: int = Field(
        default=0, ge=0, le=100, description="Percent of the data that compress away."
    )
    memory: str | None = Field(
        default=None,
        description="What the load may have of it with its page cache, as `256MB`: a control group "
        "bounds it, so that files are larger than memory. Default: all there is.",
    )

    @field_validator("depths", "file_size", "memory", "test", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        """What is written as a plain number, as one depth, is meant as text."""
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return str(value) if is_number else value

    @field_validator("profile")
    @classmethod
    def _known(cls, value: str) -> str:
        names = [*PROFILES, CATALOGUE]
        if value not in names:
            raise ValueError(f"there is no profile {value!r}; {near(value, names)}")
        return value

    @field_validator("file_size")
    @classmethod
    def _a_size(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                parse_size(value)
            except WrongInputError as error:
                raise ValueError(str(error)) from None
        return value

    @field_validator("memory")
    @classmethod
    def _enough(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                wanted = parse_size(value)
            except WrongInputError as error:
                raise ValueError(str(error)) from None
            if wanted < LEAST_BYTES:
                raise ValueError(
                    f"{value} is too little: fio itself needs {size_text(LEAST_BYTES)}"
                )
        return value

    @field_validator("depths")
    @classmethod
    def _rising(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                depths_of(value)
            except WrongInputError as error:
                raise ValueError(str(error)) from None
        return value

    @model_validator(mode="after")
    def _as_the_file_says(self) -> StorageParameters:
        """A job file says itself what a profile and the other parameters would."""
        own = {"fio", "memory", "passes", "pass_length", "pause"}
        fields = type(self).model_fields
        said = [n for n in fields if n not in own and getattr(self, n) != fields[n].default]
        if self.fio is not None and said:
            raise ValueError(f"{said[0]} would have no effect: the job file says what is done")
        return self

    @model_validator(mode="after")
    def _of_one_profile(self) -> StorageParameters:
        """A parameter that does nothing in this profile is refused."""
        fields, catalogue = type(self).model_fields, self.profile == CATALOGUE
        of_both = {"profile", "sync"}
        none = set(fields) - of_both - set(CatalogueParameters.model_fields)
        none = none if catalogue else set(CatalogueParameters.model_fields)
        strange = sorted(n for n in none if getattr(self, n) != fields[n].default)
        if strange:
            whose = f"is not of profile {CATALOGUE}" if catalogue else f"is of profile {CATALOGUE}"
            raise ValueError(f"{strange[0]} {whose}; this one is {self.profile}: leave it out")
        return self
