"""`loadstone report`."""

from __future__ import annotations

import json as json_module
import webbrowser
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from loadstone.cli.console import say, say_document
from loadstone.cli.find import find_result
from loadstone.cli.options import Flag, Output


def command(
    result: str,
    /,
    *,
    html: Path | None = None,
    open: Annotated[bool, Parameter(), Flag] = False,
    output: Output = Output(),  # noqa: B008
) -> None:
    """Write the report of a result as one HTML file that needs no network.

    * `loadstone report oltp-ladder --open`

    Args:
        result: An experiment, as `loadstone list` names it, or its folder.
        html: The file; default: report.html in the experiment's folder.
        open: Show it in the browser.
        output: Where results lie and how to answer.
    """
    from loadstone.report.document import build_document
    from loadstone.report.html import write_html

    folder = find_result(output, result).experiment
    path = html or folder / "report.html"
    write_html(build_document(folder), path)
    if output.json:
        say_document(json_module.dumps({"version": 1, "html": str(path)}))
    else:
        say(f"the report is in {path}")
    if open:
        webbrowser.open(path.resolve().as_uri())
