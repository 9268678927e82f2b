"""`loadstone completion`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from loadstone.cli.console import say, say_document
from loadstone.cli.options import Flag, refuse_idle
from loadstone.errors import WrongInputError


def command(
    shell: Literal["bash", "zsh", "fish"],
    /,
    *,
    install: Annotated[bool, Parameter(), Flag] = False,
    output: Path | None = None,
) -> None:
    """Print the completion of a shell, or install it for this user.

    * `loadstone completion bash > /etc/bash_completion.d/loadstone`
    * `loadstone completion zsh --install`

    Args:
        shell: Your shell.
        install: Write it to the shell's usual place, and have the shell read it at its start.
        output: Where to install it instead of the usual place.
    """
    from loadstone.cli.main import build_app

    app = build_app()
    if not install:
        refuse_idle(["--output"] if output else [], "without --install the text is printed")
        say_document(app.generate_completion(prog_name="loadstone", shell=shell))
        return
    try:
        path = app.install_completion(shell=shell, output=output, add_to_startup=output is None)
    except (OSError, RuntimeError) as error:
        raise WrongInputError(f"the completion cannot be installed: {error}") from error
    say(f"completion installed in {path}; it works in shells that are started from now on")
