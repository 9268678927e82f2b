"""The applications there are, each imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from loadstone.applications.base import AnyApplication, Application
from loadstone.errors import WrongInputError
from loadstone.registered import Registered, unfit_class
from loadstone.spec.problems import dotted, near, problems_of

APPLICATIONS: Registered[type[AnyApplication]] = Registered(
    {
        "flow": "loadstone.applications.flow.application:Flow",
        "pstm": "loadstone.applications.pstm.application:Pstm",
        "pattern": "loadstone.applications.pattern:Pattern",
        "command": "loadstone.applications.command:Command",
    },
    group="loadstone.applications",
    unfit=unfit_class(Application, named_by="name"),
)


def application_class(name: str) -> type[AnyApplication]:
    """The application of that name.

    Raises:
        WrongInputError: If there is none that can be used.
    """
    if name not in APPLICATIONS:
        raise WrongInputError(
            APPLICATIONS.left_out.get(name)
            or f"there is no application {name!r}; {near(name, APPLICATIONS)}"
        )
    return APPLICATIONS[name]


def application_of(name: str, parameters: Mapping[str, Any]) -> AnyApplication:
    """The application with its parameters.

    Args:
        name: Of the application.
        parameters: As they were written: those of `applications.NAME`.

    Raises:
        WrongInputError: If there is no such application, or a parameter is wrong.
    """
    cls = application_class(name)
    try:
        return cls(cls.Parameters.model_validate(parameters))
    except ValidationError as error:
        first = problems_of(error, cls.Parameters, parameters)[0]
        field = dotted(("applications", name, *first.path))
        raise WrongInputError(f"{field}: {first.message}") from error
