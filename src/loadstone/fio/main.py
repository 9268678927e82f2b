"""The entry of `loadstone-fio`."""

from __future__ import annotations

from loadstone.protocol.entry import Launch, run_program

PROGRAM = "loadstone-fio"


def main() -> None:
    """Answers `--version`, or runs the plan of standard input."""
    run_program(PROGRAM, _launch)


def _launch() -> Launch:
    from loadstone.fio.launch import launch

    return launch


if __name__ == "__main__":
    main()
