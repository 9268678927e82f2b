"""What a first experiment file shows of a web application."""

from __future__ import annotations

from loadstone.targets.first_file import FirstFile

FIRST_FILE = FirstFile(
    section="""
target:
  engine: http
  url: http://127.0.0.1:8080    # of the web application: put yours here
  # ca: ca.pem                  # certificates by which it is trusted, if not those of the system
  # reset: ./reset.sh           # puts it into its start state before each trial
""",
    factor=("target.url", "http://127.0.0.1:8080, http://127.0.0.1:8081"),
)
