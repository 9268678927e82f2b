//! The load driver of Loadstone: a plan in, frames out.

pub mod session;
