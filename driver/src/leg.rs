//! A request on the wire, and what its time went to.

use std::borrow::Cow;

/// What a request is doing. Each moment of a [`Leg`] belongs to one of these, in this order; they are those of
/// the HTTP Archive format (HAR 1.2, `timings`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// It waits until its user may use one connection more.
    Blocked,
    /// The name of the host is looked up.
    Resolve,
    /// A connection is opened.
    Connect,
    /// The handshake of TLS.
    Tls,
    /// It is written and sent.
    Send,
    /// It is sent, and no byte of the answer is there.
    Wait,
    /// From the first byte of the answer to the last.
    Receive,
}

impl Part {
    /// All of them, in their order.
    pub const ALL: [Self; 7] = [
        Self::Blocked,
        Self::Resolve,
        Self::Connect,
        Self::Tls,
        Self::Send,
        Self::Wait,
        Self::Receive,
    ];
}

/// Why a request was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It was asked for.
    Asked,
    /// A redirect led to it.
    Redirect,
    /// Its connection ended just as it was used again, or the try before failed.
    Again,
}

/// The connection that a request was sent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// It was opened for the request.
    New,
    /// It had served before.
    Reused,
}

/// One sending of a request and what came of it: as it was asked for, where a redirect led, or once more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leg {
    /// Why it was sent.
    pub cause: Cause,
    /// When it was begun, in nanoseconds since the driver's start.
    pub begun_ns: u64,
    /// Nanoseconds that each part took, by [`Part`].
    parts_ns: [u64; Part::ALL.len()],
    /// The connection; `None` if it had none.
    pub connection: Option<Connection>,
    /// Status of the answer, if its header came.
    pub status: Option<u16>,
    /// Bytes of the request, before TLS.
    pub sent_bytes: u64,
    /// Bytes of the answer, after TLS.
    pub received_bytes: u64,
    /// The class of the failure because of which it was sent once more.
    pub broken: Option<Cow<'static, str>>,
}

impl Leg {
    /// How long a part took, in nanoseconds.
    pub fn part_ns(&self, part: Part) -> u64 {
        self.parts_ns[part as usize]
    }

    /// When it was over, in nanoseconds since the driver's start.
    pub fn done_ns(&self) -> u64 {
        self.begun_ns + self.parts_ns.iter().sum::<u64>()
    }
}

/// Times the parts of a leg. Times are nanoseconds since the driver's start.
#[derive(Debug)]
pub struct Stopwatch {
    /// What is known so far; its running part is not in it yet.
    pub leg: Leg,
    part: Part,
    since_ns: u64,
}

impl Stopwatch {
    /// Begins with [`Part::Blocked`].
    pub fn start(cause: Cause, now_ns: u64) -> Self {
        Self {
            leg: Leg {
                cause,
                begun_ns: now_ns,
                parts_ns: Default::default(),
                connection: None,
                status: None,
                sent_bytes: 0,
                received_bytes: 0,
                broken: None,
            },
            part: Part::Blocked,
            since_ns: now_ns,
        }
    }

    /// Ends the part that runs, and begins `part`.
    #[inline]
    pub fn turn(&mut self, part: Part, now_ns: u64) {
        self.leg.parts_ns[self.part as usize] += now_ns.saturating_sub(self.since_ns);
        self.part = part;
        self.since_ns = now_ns;
    }

    /// Ends it, whichever part runs.
    pub fn stop(mut self, now_ns: u64) -> Leg {
        self.turn(self.part, now_ns);
        self.leg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_as_long_together_as_the_whole() {
        let mut watch = Stopwatch::start(Cause::Asked, 100);
        for (part, now_ns) in [
            (Part::Resolve, 100),
            (Part::Connect, 130),
            (Part::Send, 150),
            (Part::Wait, 157),
        ] {
            watch.turn(part, now_ns);
        }
        let leg = watch.stop(257);
        let parts = Part::ALL.map(|part| leg.part_ns(part));
        assert_eq!(parts, [0, 30, 20, 0, 7, 100, 0]);
        assert_eq!((leg.begun_ns, leg.done_ns()), (100, 257));
    }

    #[test]
    fn what_ends_early_ends_with_the_part_that_runs() {
        let leg = Stopwatch::start(Cause::Redirect, 100).stop(300);
        assert_eq!((leg.part_ns(Part::Blocked), leg.done_ns()), (200, 300));
    }
}
