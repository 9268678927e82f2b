"""What a load can be: the one table of limits.

The models of an experiment take their limits from here, and so do its JSON schema and the runner.
The load driver has the table in `driver/src/plan/limits.rs`; a test holds that the two are the
same. What a program would refuse is thus refused by `loadstone plan`.
"""

from __future__ import annotations

MOST_SESSIONS = 1_000_000
"""Users, or sessions of an open load."""
MOST_RATE_PER_S = 1e9
MOST_QUEUED = 100_000_000
"""Due operations that may wait for a session."""
MOST_THREADS = 1024
"""Worker threads of one process."""
MOST_PROCESSES = 256
"""Processes of one load."""
LONGEST_S = 1e8
"""Of phases and waits: three years."""
SHORTEST_PHASE_S = 0.001

LONGEST_DELAY_S = 10.0
"""By which each operation is slowed down."""

MOST_SERVICE_TIME_US = 3.6e9
MOST_SIGMA = 10.0
"""Of the logarithm of a service time."""

MOST_WAREHOUSES = 100_000
MOST_CARDS = 10_000
"""Of one transaction in the deck of order entry."""

MOST_STATIONS = 100_000
MOST_EVENTS_PER_S = 1e6
"""Of one station; so are the elements."""
LEAST_EVENTS_PER_S = 1e-3
MOST_ELEMENTS = 20_000
MOST_SEGMENT_EVENTS = 1_000_000_000_000
MOST_BUFFER_EVENTS = 10_000_000_000
MOST_BATCH_EVENTS = 1_000_000
SHORTEST_INTERVAL_S = 0.001
"""From one bulk insert of a station to the next."""
LONGEST_INTERVAL_S = 60.0
LONGEST_THRESHOLD_S = 10_000.0
LONGEST_LATE_S = 3600.0

MOST_SESSIONS_OF_RUNNER = 10_000
"""Each is a thread."""

MOST_HOMES = 10_000_000
MOST_HOME_FILES = 10_000
"""Of a catalogue: users with a home folder, and the files that each begins with."""
