"""The tools of the HTTP benchmarks: how each is told to fetch one page, again and again.

`scripts/http-tools` installs those that are not Loadstone's. A tool that is missing says so.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.http_driver import driver_plans
from loadstone.load.locate import check_driver

PAGE = "/page.html"
_INSTALLED = Path(__file__).parent.parent / ".tools" / "http"
_SCRIPTS = Path(__file__).parent / "http"
_INSTALL = "scripts/http-tools"


class MissingError(Exception):
    """A tool that is not installed; the text says how it is."""


@dataclass(frozen=True)
class Work:
    """What a tool is to do."""

    base: str
    """Of the address, without a slash at its end."""
    cookie: str
    """That the server sets; a tool without a store of cookies sends it from the beginning."""
    users: int
    seconds: int
    think_s: float = 0.0
    """Constant, after each request; each user begins at a moment of its own within it."""
    processes: int = 1
    ca: Path | None = None

    @property
    def url(self) -> str:
        """Of the page."""
        return self.base + PAGE


@dataclass(frozen=True)
class Command:
    """A process of a tool."""

    words: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    said: str = ""
    """A line on its standard input, which stays open."""


class Tool(ABC):
    """A load generator."""

    name: str
    note: str = ""
    """What it does not do as the others do."""

    @abstractmethod
    def program(self) -> str:
        """The path of its program.

        Raises:
            MissingError: If it is not installed.
        """

    @abstractmethod
    def commands(self, work: Work) -> list[Command]:
        """One for each of its processes."""

    @abstractmethod
    def failure(self, code: int, output: str) -> str | None:
        """What went wrong in a run that came to its end; None: every answer was a `200`."""

    def version(self) -> str:
        """As it says itself."""
        said = subprocess.run(
            [self.program(), *self.version_words], capture_output=True, text=True, check=False
        )
        found = re.search(r"\d+(\.\d+)+", said.stdout + said.stderr)
        return found[0] if found else "of an unknown version"

    version_words: Sequence[str] = ("--version",)


def _installed(path: str, name: str) -> str:
    own = _INSTALLED / path
    found = str(own) if own.is_file() else shutil.which(name)
    if found is None:
        raise MissingError(f"missing: run {_INSTALL}")
    return found


class Loadstone(Tool):
    """The load driver, one worker thread a process."""

    name = "loadstone-driver"

    def program(self) -> str:
        """Found as Loadstone itself finds it."""
        return check_driver().command[0]

    def commands(self, work: Work) -> list[Command]:
        """A plan for each process."""
        plans = driver_plans(
            work.base,
            PAGE,
            users=work.users,
            seconds=work.seconds,
            think_s=work.think_s,
            processes=work.processes,
            ca=work.ca,
        )
        return [Command([self.program()], said=json.dumps(plan)) for plan in plans]

    def failure(self, code: int, output: str) -> str | None:
        """Its last frame tells of all errors."""
        end = json.loads(output.strip().splitlines()[-1])
        errors = {name: each["errors"] for name, each in end.get("operations", {}).items()}
        if code or end.get("reason") != "completed" or any(errors.values()):
            return f"code {code}, {end.get('reason')}, errors {errors}"
        return None


class K6(Tool):
    """k6; its script is `benchmarks/http/visit.js`."""

    name = "k6"
    version_words = ("version",)

    def program(self) -> str:
        """Built by Go."""
        return _installed("bin/k6", "k6")

    def commands(self, work: Work) -> list[Command]:
        """Virtual users whose cookies are kept from iteration to iteration."""
        words = [
            *(self.program(), "run", "--quiet", "--no-usage-report", "--address", "127.0.0.1:0"),
            *("--vus", str(work.users), "--duration", f"{work.seconds}s"),
            *("--env", f"URL={work.url}", "--env", f"THINK_S={work.think_s:g}"),
            str(_SCRIPTS / "visit.js"),
        ]
        return [Command(words)]

    def failure(self, code: int, output: str) -> str | None:
        """A threshold of its script ends it with another code."""
        return f"code {code}: {output[-500:]}" if code else None


class Locust(Tool):
    """Locust with its faster client; its file is `benchmarks/http/locustfile.py`."""

    name = "Locust"
    note = "FastHttpUser, one process"

    def program(self) -> str:
        """In an environment of its own."""
        return _installed("locust/bin/locust", "locust")

    def commands(self, work: Work) -> list[Command]:
        """All users at once, or a thousand a second."""
        words = [
            *(self.program(), "--locustfile", str(_SCRIPTS / "locustfile.py"), "--headless"),
            *("--users", str(work.users), "--spawn-rate", str(min(work.users, 1000))),
            *("--run-time", f"{work.seconds}s", "--host", work.base),
            *("--only-summary", "--loglevel", "ERROR", "--stop-timeout", "5"),
        ]
        return [Command(words, {"PAGE": PAGE, "THINK_S": f"{work.think_s:g}"})]

    def failure(self, code: int, output: str) -> str | None:
        """It ends with 1 if a request failed."""
        return f"code {code}: {output[-500:]}" if code else None


class Goose(Tool):
    """Goose; its program is the crate `benchmarks/goose`."""

    name = "Goose"

    def program(self) -> str:
        """Built by cargo."""
        return _installed("bin/goose-visit", "goose-visit")

    def commands(self, work: Work) -> list[Command]:
        """All users at once, or five hundred a second."""
        words = [
            *(self.program(), "--host", work.base, "--users", str(work.users)),
            *("--increase-rate", str(min(work.users, 500)), "--run-time", f"{work.seconds}s"),
            *("--no-telnet", "--no-websocket", "--no-reset-metrics", "--quiet"),
        ]
        return [Command(words, {"PAGE": PAGE, "THINK_S": f"{work.think_s:g}"})]

    def failure(self, code: int, output: str) -> str | None:
        """Its program ends with 1 if a request failed."""
        return f"code {code}: {output[-500:]}" if code else None


class Oha(Tool):
    """oha."""

    name = "oha"
    note = "a fixed cookie; no think time, paced by a rate over all connections instead"

    def program(self) -> str:
        """Built by cargo."""
        return _installed("bin/oha", "oha")

    def commands(self, work: Work) -> list[Command]:
        """As many workers as users."""
        rate = math.ceil(work.users / work.think_s) if work.think_s else 0
        words = [
            *(self.program(), "--no-tui", "-c", str(work.users), "-z", f"{work.seconds}s"),
            *(("-q", str(rate)) if rate else ()),
            *("-H", f"Cookie: {work.cookie}", work.url),
        ]
        return [Command(words)]

    def failure(self, code: int, output: str) -> str | None:
        """It lists the answers by their status."""
        statuses = {int(found) for found in re.findall(r"\[(\d{3})\] \d+ responses", output)}
        return None if code == 0 and statuses == {200} else f"code {code}: {output[-500:]}"


class Wrk(Tool):
    """wrk with one thread; its script is `benchmarks/http/visit.lua`."""

    name = "wrk"
    note = "a fixed cookie, one request for all connections"
    version_words = ("-v",)

    def program(self) -> str:
        """Debian's."""
        return _installed("bin/wrk", "wrk")

    def commands(self, work: Work) -> list[Command]:
        """The script sends the cookie, and waits where users think."""
        words = [
            *(self.program(), "-t", "1", "-c", str(work.users), "-d", f"{work.seconds}s"),
            *("-s", str(_SCRIPTS / "visit.lua"), work.url),
        ]
        think_ms = str(round(work.think_s * 1000))
        environment = {"COOKIE": work.cookie, "THINK_MS": think_ms, "USERS": str(work.users)}
        return [Command(words, environment)]

    def failure(self, code: int, output: str) -> str | None:
        """The script tells how many requests failed, by their status too."""
        return None if code == 0 and "failed: 0\n" in output else f"code {code}: {output[-500:]}"


OURS = Loadstone()
PEERS: tuple[Tool, ...] = (K6(), Locust(), Goose(), Oha(), Wrk())
