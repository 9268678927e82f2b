"""Loadstone: a performance lab for data platforms."""

__version__ = "0.1.0"
