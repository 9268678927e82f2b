"""Engines that answer SQL, each behind the same few methods."""
