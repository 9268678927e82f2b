"""Rules about what a server's log says, and about a log that cannot be understood."""

from __future__ import annotations

from loadstone.doctor.facts import Facts, LogFacts, MariaDBFacts, PostgreSQLFacts
from loadstone.doctor.model import Advice, Severity, Subject
from loadstone.doctor.rules import messages_mariadb, messages_postgresql
from loadstone.doctor.rules.base import (
    MARIADB_LOGS,
    mariadb_manual,
    postgresql_manual,
    register,
    share,
)
from loadstone.doctor.rules.message import Message

MESSAGES: tuple[Message, ...] = (*messages_postgresql.MESSAGES, *messages_mariadb.MESSAGES)
"""Every message that the doctor knows; an entry is the first of its subject that it can be."""

_SPEAK = {
    "postgresql": "log_line_prefix = '%m [%p] %e ', which names the SQLSTATE of each entry (or "
    "log_destination = jsonlog, or lc_messages = C), and the log as it will be from then on",
    "mariadb": "lc_messages = en_US in the server's option file, and the log as it will be from "
    "then on",
}
_SOURCES = {
    "postgresql": postgresql_manual(
        "19.8. Error Reporting and Logging: log_line_prefix",
        "runtime-config-logging.html#GUC-LOG-LINE-PREFIX",
    ),
    "mariadb": mariadb_manual(f"{MARIADB_LOGS}/error-log", "Error Log"),
}


def messages_of(subject: Subject) -> tuple[Message, ...]:
    """Those that a server of this kind writes."""
    return tuple(each for each in MESSAGES if each.subject == subject)


def _log_of(facts: Facts, subject: str) -> LogFacts | None:
    server = facts.server
    wanted = PostgreSQLFacts if subject == "postgresql" else MariaDBFacts
    return server.log if isinstance(server, wanted) else None


def _register(message: Message) -> None:
    def look(facts: Facts) -> Advice | None:
        log = _log_of(facts, message.subject)
        server = facts.server
        if log is None or not isinstance(server, (PostgreSQLFacts, MariaDBFacts)):
            return None
        return message.advice(log, server.settings)

    about = f"its log says: {message.shown}"
    register(message.subject, f"log.{message.key}", about, message.severity, message.source, look)


def _register_unreadable(subject: Subject) -> None:
    def look(facts: Facts) -> Advice | None:
        log = _log_of(facts, subject)
        if log is None or (not log.unreadable and log.strange is None):
            return None
        seen, change = f"{log.path}: {log.strange}", "name the right one with --log FILE"
        if log.strange is None:
            seen = (
                f"{log.unreadable} of {log.entries} entries in {log.path} "
                f"({share(log.unreadable, log.entries):.0f} %) are not in English and have no code"
            )
            change = _SPEAK[subject]
        return Advice(
            seen=seen,
            why="what it says was not understood: that nothing was found in it does not mean that "
            "nothing is wrong",
            change=change,
            risk="none",
            measure="nothing to measure: it is about being understood",
        )

    about = "its log cannot be understood"
    register(subject, "log.unreadable", about, Severity.LOOK, _SOURCES[subject], look)


for _message in MESSAGES:
    _register(_message)
for _subject in ("postgresql", "mariadb"):
    _register_unreadable(_subject)
