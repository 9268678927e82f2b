"""The same benchmark for owners of an Essbase licence: files for their server, and its log.

Nothing here was ever run on a live Essbase server. It follows Oracle's documentation: *Scripting
Reference for Oracle Essbase* (MaxL) and *Calculation and Query Reference for Oracle Essbase*.
"""
