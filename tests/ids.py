"""Which tests are gone since a commit, and which are new.

    python tests/ids.py v1.0          what `make test` runs
    python tests/ids.py v1.0 --long   all tests

Both trees are collected with the libraries of this one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent


def ids_in(tree: Path, options: Sequence[str]) -> set[str]:
    """The names of all tests of a tree.

    Raises:
        subprocess.CalledProcessError: If they cannot be collected.
    """
    words = ["-m", "pytest", "--collect-only", "--quiet", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        [sys.executable, *words, "tests"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return {line for line in done.stdout.splitlines() if "::" in line}


def main(arguments: Sequence[str]) -> int:
    """Prints a line for each test that one of the two trees alone has.

    Returns:
        0 if none is gone, 1 if one is, 2 for wrong words.
    """
    if not arguments or arguments[0].startswith("-"):
        print("ids: give a commit: python tests/ids.py v1.0", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "then"
        subprocess.run(
            ["git", "worktree", "add", "--quiet", "--detach", tree, arguments[0]],
            cwd=ROOT,
            check=True,
        )
        try:
            then, now = ids_in(tree, arguments[1:]), ids_in(ROOT, arguments[1:])
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)
    for sign, names in (("-", then - now), ("+", now - then)):
        for name in sorted(names):
            print(sign, name)
    print(f"{len(then):,} tests then, {len(now):,} now", file=sys.stderr)
    return 1 if then - now else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
