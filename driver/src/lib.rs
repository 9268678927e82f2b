//! The load driver of Loadstone: a plan in, frames out.

pub mod oltp;
pub mod point_select;
pub mod postgres;
pub mod session;
