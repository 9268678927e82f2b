//! The event archive, after the archiver of CERN's control systems: stations store value changes in a
//! history that switches segments.
//!
//! How every event is stored exactly once. Only events that a station's buffer accepts get a number, 1, 2,
//! 3 and so on. A batch is the oldest events that wait; one transaction stores it together with the number
//! of its last event (the station's mark), so the mark says what is stored. When a commit was sent and not
//! answered, the station reads its mark before it goes on: the batch is stored as a whole, or not at all and
//! sent again.
//!
//! How every event gets into the segment of its time. A station reads the routes (the segments that take
//! events) after the last event of a batch became due. The keeper switches in a transaction that those who
//! read the routes must wait for, and lets the new segment begin later than that transaction has that
//! right. So a station that has read the old routes has only events from before the new segment's begin.

mod closer;
pub mod engine;
mod keeper;
pub mod mariadb;
mod operator;
pub mod parameters;
pub mod postgres;
mod replay;
mod segments;
mod session;
pub mod source;
pub mod sqlite;
mod station;
pub mod station_buffer;

pub use session::{Archive, ArchiveSession};
