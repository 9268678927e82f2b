//! What a client asked for, and what a server does with it.

use std::net::IpAddr;
use std::time::{Duration, Instant};

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Number of its connection, from 0.
    pub connection: usize,
    /// Requests that came before it on its connection.
    pub before: usize,
    /// Requests that came before it on all connections.
    pub number: usize,
    /// Where the connection comes from.
    pub peer: IpAddr,
    pub at: Instant,
    pub head: String,
    pub body: Vec<u8>,
}

impl Asked {
    /// Method and path.
    pub fn line(&self) -> &str {
        let line = self.head.lines().next().unwrap_or_default();
        line.trim_end_matches(" HTTP/1.1")
    }

    pub fn path(&self) -> &str {
        let line = self.line();
        line.split_once(' ').map_or(line, |(_, path)| path)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(": "));
        let field = fields.find(|(known, _)| known.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value)
    }
}

/// What the server does with a request, one after the other.
#[derive(Debug, Clone)]
pub enum Act {
    Send(Vec<u8>),
    /// Sends these bytes again and again, until the client closes the connection.
    Flood(Vec<u8>),
    Pause(Duration),
    /// Waits until so many requests have come in all.
    Await(usize),
    /// Waits until the client closes the connection.
    Stall,
    Close,
    Reset,
}

/// A `200` with this body.
pub fn ok(body: &str) -> Vec<Act> {
    answer("200 OK", &[], body)
}

/// An answer with this status, these lines in its header, and this body.
pub fn answer(status: &str, lines: &[&str], body: &str) -> Vec<Act> {
    let mut text = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len());
    for line in lines {
        text += line;
        text += "\r\n";
    }
    vec![Act::Send(format!("{text}\r\n{body}").into())]
}
