"""The entry of `loadstone-fio`."""

from __future__ import annotations

import os
import sys
import traceback

PROGRAM = "loadstone-fio"
VERSION = "0.1.0"
PROTOCOL_VERSION = 3


def main() -> None:
    """Answers `--version`, or reads a plan from standard input and runs it."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.stdout.write(f"{PROGRAM} {VERSION} (protocol {PROTOCOL_VERSION})\n")
        return
    if arguments:
        sys.stderr.write(f"{PROGRAM}: takes no arguments but --version; the plan is read\n")
        sys.exit(2)
    code = 1
    try:
        from loadstone.fio.launch import launch

        code = launch(sys.stdin.buffer, sys.stdout.buffer)
    except Exception:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        # The thread that reads the input must not keep the process.
        os._exit(code)


if __name__ == "__main__":
    main()
