//! What a load can be. The table is `src/loadstone/limits.py`, where `loadstone plan` and the JSON schema
//! have it from; `tests/unit/test_limits.py` holds that this is the same.

/// Users, or sessions of an open load.
pub const MOST_SESSIONS: u32 = 1_000_000;
/// Arrivals a second.
pub const MOST_RATE_PER_S: f64 = 1e9;
/// Due operations that may wait for a session.
pub const MOST_QUEUED: u32 = 100_000_000;
/// Worker threads of one process.
pub const MOST_THREADS: u32 = 1024;
/// Processes of one load.
pub const MOST_PROCESSES: u32 = 256;
/// Of phases and waits.
pub const LONGEST_S: f64 = 1e8;
/// Shorter phases make no sense.
pub const SHORTEST_PHASE_S: f64 = 0.001;

/// By which each operation is slowed down.
pub const LONGEST_DELAY_S: f64 = 10.0;

/// Of an operation of `noop`: an hour.
pub const MOST_SERVICE_TIME_US: f64 = 3.6e9;
/// Of the logarithm of a service time.
pub const MOST_SIGMA: f64 = 10.0;

/// Warehouses of order entry.
pub const MOST_WAREHOUSES: u32 = 100_000;
/// Of one transaction in the deck of order entry.
pub const MOST_CARDS: u32 = 10_000;

/// Stations of the event archive.
pub const MOST_STATIONS: u32 = 100_000;
/// Of one station.
pub const MOST_EVENTS_PER_S: f64 = 1e6;
/// Of one station.
pub const LEAST_EVENTS_PER_S: f64 = 1e-3;
/// Of one station. The number of an element among those of all stations fits into an `i32`.
pub const MOST_ELEMENTS: u32 = 20_000;
/// Of one segment.
pub const MOST_SEGMENT_EVENTS: u64 = 1_000_000_000_000;
/// That a station can hold back.
pub const MOST_BUFFER_EVENTS: u64 = 10_000_000_000;
/// Of one bulk insert.
pub const MOST_BATCH_EVENTS: u64 = 1_000_000;
/// From one bulk insert of a station to the next.
pub const SHORTEST_INTERVAL_S: f64 = 0.001;
/// From one bulk insert of a station to the next.
pub const LONGEST_INTERVAL_S: f64 = 60.0;
/// A bulk insert that takes longer counts as buffering.
pub const LONGEST_THRESHOLD_S: f64 = 10_000.0;
/// That an event is late at most.
pub const LONGEST_LATE_S: f64 = 3600.0;

/// Users with a home folder in a catalogue.
pub const MOST_HOMES: u32 = 10_000_000;
/// Files that each home begins with.
pub const MOST_HOME_FILES: u32 = 10_000;
