"""What Loadstone's own sessions set, so that they do not hang on the settings under test.

The sessions of the load keep those: they are what is measured.
"""

from __future__ import annotations

OWN: dict[str, str] = {
    "max_statement_time": "0",
    "wait_timeout": "31536000",
    "interactive_timeout": "31536000",
    "idle_transaction_timeout": "0",
    "idle_readonly_transaction_timeout": "0",
    "idle_write_transaction_timeout": "0",
    "lock_wait_timeout": "86400",
    "innodb_lock_wait_timeout": "3600",
    "net_read_timeout": "3600",
    "net_write_timeout": "3600",
    "max_session_mem_used": "9223372036854775807",
    # NO_UNSIGNED_SUBTRACTION: differences of unsigned numbers may be negative, as in the standard.
    "sql_mode": "'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,"
    "NO_ENGINE_SUBSTITUTION,NO_UNSIGNED_SUBTRACTION'",
    "completion_type": "'NO_CHAIN'",
    "sql_auto_is_null": "0",
    "sql_big_selects": "1",
    "sql_quote_show_create": "1",
    "sql_safe_updates": "0",
    "sql_select_limit": "18446744073709551615",
    "div_precision_increment": "4",
    "group_concat_max_len": "1048576",
    "check_constraint_checks": "1",
    "foreign_key_checks": "1",
    "unique_checks": "1",
}
"""Variable of a session: its value, as SQL has it."""
STATEMENTS = (
    "SET " + ", ".join(f"SESSION {name} = {value}" for name, value in OWN.items()),
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE",
)
"""With which a session of Loadstone's own begins."""
