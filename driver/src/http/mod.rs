//! HTTP/1.1 as browsers speak it: one browser a user, which costs little while its user thinks.
//!
//! Read in this order: [`browser`] (one user: cookies, connections, redirects), [`answer`] (an answer as its
//! bytes come, without a socket), [`network`] (how connections are opened), [`fault`] (how all of it fails).
//! Nothing here knows a scenario. Buffers belong to threads: an idle user has its cookies and its
//! connections.
//!
//! An answer is read as a browser reads it. The head is parsed by the `httparse` crate and packed bodies by
//! `flate2`; where a body ends, and what of it is whole, is decided here, because a load test must not count
//! half an answer as a success.

pub mod answer;
pub mod browser;
mod chunked;
pub mod cookies;
pub mod fault;
mod framing;
mod freshness;
mod head;
pub mod headers;
pub mod network;
pub mod origin;
mod pool;
mod resolver;
pub mod site;
mod sources;
pub mod trust;
mod unpack;
pub mod wire;

pub use answer::{Answer, AnswerReader, Limits, Progress, StreamEnd};
pub(crate) use browser::now_unix_s;
pub use browser::{Browser, Fetched, Method, Notes, Request};
pub use cookies::Jar;
pub use fault::{Class, Fault};
pub use freshness::{Freshness, Validators};
pub use headers::Headers;
pub use network::{Network, NetworkPlan, Timeouts};
pub use origin::Origin;
pub use site::{Counters, Site};
pub use wire::Wire;
