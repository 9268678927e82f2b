"""What Loadstone's own sessions set, so that they do not hang on the settings under test.

The sessions of the load keep those: they are what is measured.
"""

from __future__ import annotations

_OWN: tuple[tuple[str, str, int], ...] = (
    ("statement_timeout", "0", 13),
    ("lock_timeout", "0", 13),
    ("idle_in_transaction_session_timeout", "0", 13),
    ("idle_session_timeout", "0", 14),
    ("transaction_timeout", "0", 17),
    ("default_transaction_read_only", "off", 13),
    ("default_transaction_isolation", "read committed", 13),
    ("default_transaction_deferrable", "off", 13),
    ("search_path", '"$user", public', 13),
    ("default_tablespace", "", 13),
    ("temp_tablespaces", "", 13),
    ("standard_conforming_strings", "on", 13),
    ("quote_all_identifiers", "off", 13),
    ("transform_null_equals", "off", 13),
    ("check_function_bodies", "on", 13),
    ("datestyle", "ISO, MDY", 13),
    ("intervalstyle", "postgres", 13),
)
"""Setting, its value, and the first major version that has it; each may be set by every user.

The time limit of statements is first: it holds for the rest of them.
"""
READING_ALL = {
    "max_parallel_workers_per_gather": "8",
    "max_parallel_workers": "8",
    "work_mem": "64MB",
    "jit": "off",
}
"""While whole tables are read: as many workers as they are worth, whatever is under test. Each of
them would compile each query anew, which takes longer than these do."""
NAMES = frozenset(name for name, _, _ in _OWN)
ENCODING = "UTF8"
SETTINGS = """
(SELECT name, unit, context, vartype, boot_val, min_val, max_val, enumvals,
        CASE source WHEN 'session' THEN reset_val ELSE setting END AS setting,
        CASE source WHEN 'session'
             THEN concat(reset_val, CASE WHEN reset_val ~ '^[1-9]' THEN unit END)
             ELSE current_setting(name) END AS shown,
        CASE WHEN source <> 'session' THEN source
             WHEN reset_val IS NOT DISTINCT FROM boot_val THEN 'default'
             ELSE 'configuration' END AS source
 FROM pg_settings) AS settings
"""
"""`pg_settings` as a session sees it that sets nothing itself; asked in one of Loadstone's own."""


def statements(major: int) -> str:
    """The statements with which a session of Loadstone's own begins."""
    known = [(name, value) for name, value, since in _OWN if major >= since]
    return "; ".join(f"SELECT set_config('{name}', '{value}', false)" for name, value in known)
