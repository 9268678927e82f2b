//! A client of NFSv3 in this process: no client of the kernel, no mount, and no cache but the one of whoever
//! uses it.
//!
//! The messages are those of the crate `nfs3_client`. Calls block: a connection belongs to one thread, and
//! each call is one request and its reply (RFC 1813, and RFC 5531 below it).

mod config;
mod connection;
mod error;
mod mount;
mod socket;

use config::Config;
pub use connection::{Connection, PROCEDURES, Stable};
pub use error::{Error, errno_of};
pub use mount::Export;
pub use nfs3_client::nfs3_types::nfs3::{nfs_fh3 as Handle, nfsstat3 as Status};

/// Procedures of NFSv3 made since they were asked for last, in the order of [`PROCEDURES`].
pub type Calls = [u64; PROCEDURES.len()];
