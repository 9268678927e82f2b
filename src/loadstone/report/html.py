"""The stand-alone page: one file with the bundle and the document in it, no network."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError
from loadstone.report.model.document import ReportDocument
from loadstone.results.files import whole_file

PLACEHOLDER = "__LOADSTONE_DOCUMENT__"
"""Stands in the bundle where the document goes, once."""

_BUNDLE = "bundle/report.html"


def write_html(document: ReportDocument, path: Path) -> None:
    """Writes the page.

    Args:
        document: What it shows.
        path: The file; its folder must exist.

    Raises:
        TargetError: If the bundle was not built.
        WrongInputError: If the file cannot be written.
    """
    page = read_bundle().replace(PLACEHOLDER, embedded(document), 1)
    try:
        with whole_file(path) as draft:
            draft.write_text(page, "utf-8")
    except OSError as error:
        raise WrongInputError(
            f"cannot write {path}: {error.strerror}", advice="name another file with --html"
        ) from error


def read_bundle() -> str:
    """The pages as built, with the placeholder in them.

    Raises:
        TargetError: If there is none, or it is of another build.
    """
    file = resources.files("loadstone.report") / _BUNDLE
    if not file.is_file():
        raise TargetError(
            "the page of the report is not built, so no HTML can be written",
            advice="run `make web` once (needs Node.js 20 or newer); the terminal needs no page",
        )
    bundle = file.read_text("utf-8")
    if bundle.count(PLACEHOLDER) != 1:
        raise TargetError("the page of the report is damaged", advice="run `make web` again")
    return bundle


def embedded(document: ReportDocument) -> str:
    """The document as JSON that no HTML parser can take for markup.

    Within a script element only `</script` and `<!--` mean something (HTML standard, 4.12.1.3);
    with `<` written as an escape neither can occur.
    """
    return document.model_dump_json().replace("<", "\\u003c")
