"""Streams of steps: long statements, or stages of several, each stream in a session of its own.

The plan has the text of every statement. The runner knows nothing of the workload: it makes the
steps in their order, measures each from just before it is sent until its last row has arrived, ends
those that take too long, and keeps answers and plans as files.
"""
