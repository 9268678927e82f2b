//! The load driver of Loadstone: a plan in, frames out.
//!
//! Read in this order: [`plan`] (what is asked), [`run`] (the story of one run), [`worker`] (one
//! thread of it), [`drive`] (the one loop), [`frames`] (what is told).

pub mod acknowledgements;
pub mod archive;
pub mod board;
pub mod catalogue;
pub mod cells;
pub mod clock;
pub mod conductor;
pub mod control;
pub mod cpu_meter;
pub mod decimal;
pub mod drive;
pub mod frames;
pub mod http;
pub mod job_thread;
pub mod kept;
#[cfg(not(test))] // The runs of all workloads, compiled: programs start them, no test in here does.
pub mod launch;
pub mod leg;
pub mod log_in;
pub mod mysql;
pub mod names;
pub mod nfs;
pub mod noop;
pub mod oltp;
pub mod opening;
pub mod orders;
pub mod pacing;
pub mod parameters;
pub mod phase_recorders;
pub mod plan;
pub mod point_select;
pub mod postgres;
pub mod process;
pub mod race;
pub mod random;
pub mod recorder;
pub mod reporter;
pub mod retry;
pub mod run;
pub mod schedule;
pub mod server;
pub mod session;
pub mod socket;
pub mod sqlite;
pub mod statements;
pub mod text_rows;
pub mod timer;
pub mod traces;
pub mod users;
pub mod web;
pub mod worker;
