"""Puts this folder on the path: tests of every kind share the modules that lie beside it."""
