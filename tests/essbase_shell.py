"""Writes the log that a MaxL shell would write of a kit's script, with times that a test decides.

After the examples in Oracle's documentation; no server was asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

SHELL = " Essbase MaxL Shell 64-bit - Release 11.1.2 (ESB11.1.2.4.0B193)"


@dataclass
class Shell:
    """A shell whose statements take as long as they are told."""

    takes_s: Callable[[str], float]
    """Of a statement."""
    says_times: bool = True
    """The server says what a calculation took."""
    echoes: bool = True
    """The log has the statements themselves."""
    fails_at: str = ""
    """The statement that has this in it fails."""
    clock_set_s: Callable[[str], float] = lambda _line: 0.0
    """By how much the clock is set forward during a statement."""
    now: datetime = datetime(2024, 3, 11, 23, 59, 50)

    def log(self, script: str) -> str:
        """The log of a script, to its end or to its first error."""
        found: list[str] = []
        for line in script.splitlines():
            if not line or line.startswith(("/*", "iferror", "spool", "set", "logout", "exit")):
                continue
            if line.startswith("define"):
                break
            found += [f"MAXL> {line}"] if self.echoes else []
            if line == "version;":
                found += ["", SHELL, ""]
            elif line.startswith("echo"):
                found.append(line.removeprefix('echo "').removesuffix('";'))
            else:
                found += self._statement(line)
                if self.fails_at and self.fails_at in line:
                    return "\n".join([*found, "loadstone: failed", ""])
        return "\n".join([*found, ""])

    def _statement(self, line: str) -> list[str]:
        took_s = self.takes_s(line)
        self.now += timedelta(seconds=took_s + self.clock_set_s(line))
        said = [" OK/INFO - 1056013 - done."]
        if self.fails_at and self.fails_at in line:
            said = ["   ERROR - 1012008 - it went wrong."]
        elif self.says_times and (script := re.search(r"'(\w+)';$", line)) and "calcul" in line:
            name = f"{script[1]}.csc"
            said = [
                f" OK/INFO - 1012579 - Total Calc Elapsed Time for [{name}] : [{took_s}] seconds."
            ]
        stamp = f"      essmsh timestamp: {self.now:%a %b %d %H:%M:%S %Y}"
        return ["", *said, "", stamp, ""]
