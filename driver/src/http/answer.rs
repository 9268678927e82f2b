//! An answer, read as its bytes come (RFC 9112), without a socket.
//!
//! However the bytes are cut, the result is the same. What a browser reads is read; what would shift the
//! next answer, or make half an answer look whole, is a [`Fault`].

use std::fmt::{self, Debug};
use std::mem;

use super::chunked::{ChunkReader, Part};
use super::fault::{Class, Fault};
use super::framing::{self, Framing};
use super::head;
use super::headers::Headers;
use super::unpack::Body;

/// How much of an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a head, and of a line between chunks.
    pub header_bytes: usize,
    /// Bytes of a body as they come.
    pub body_bytes: u64,
    /// Bytes of a body that was unpacked.
    pub inflated_bytes: u64,
    /// Interim answers (1xx) before an answer.
    pub interim: u32,
}

/// An answer that is whole.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    /// 200 to 999.
    pub status: u16,
    /// Its header fields; trailers are not among them.
    pub headers: Headers,
    /// Its body, unpacked.
    pub body: Vec<u8>,
    /// Whether the connection can be used again, if no byte came after the answer.
    pub reusable: bool,
    /// Bytes that it took, with interim answers before it.
    pub wire_bytes: u64,
}

/// Shows no value and no body: they may hold secrets.
impl Debug for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Answer")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .field("body_bytes", &self.body.len())
            .field("reusable", &self.reusable)
            .field("wire_bytes", &self.wire_bytes)
            .finish()
    }
}

/// How far an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that belong to the answer. The others are stray: they cost the connection.
    pub taken: usize,
    /// Whether the answer is whole.
    pub done: bool,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnd {
    /// The server closed it.
    Closed,
    /// It was reset.
    Reset,
}

#[derive(Debug)]
enum Stage {
    Head,
    Length { left: u64 },
    Chunks(ChunkReader),
    UntilClose,
    Done,
}

/// Reads one answer.
pub struct AnswerReader {
    limits: Limits,
    head_request: bool,
    has_begun: bool,
    stage: Stage,
    /// What came of a head that did not come in one piece.
    head: Vec<u8>,
    /// Line ends before the status line.
    blank_bytes: usize,
    interim: u32,
    status: u16,
    headers: Headers,
    body: Body,
    reusable: bool,
    wire_bytes: u64,
}

/// Shows nothing of what came, as [`Answer`].
impl Debug for AnswerReader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AnswerReader")
            .field("stage", &self.stage)
            .field("wire_bytes", &self.wire_bytes)
            .finish_non_exhaustive()
    }
}

impl AnswerReader {
    /// For the answer to a request, whose method is HEAD if `head_request`.
    pub fn new(head_request: bool, limits: &Limits) -> Self {
        let most = u32::MAX as usize;
        Self {
            limits: Limits {
                header_bytes: limits.header_bytes.min(most),
                ..*limits
            },
            head_request,
            has_begun: false,
            stage: Stage::Head,
            head: Vec::new(),
            blank_bytes: 0,
            interim: 0,
            status: 0,
            headers: Headers::default(),
            body: Body::new(limits),
            reusable: false,
            wire_bytes: 0,
        }
    }

    /// Takes bytes that came, up to the end of the answer.
    ///
    /// # Errors
    /// A [`Fault`] of the class of what is wrong with them; the connection is of no more use.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Progress, Fault> {
        self.has_begun |= !bytes.is_empty();
        let mut taken = 0;
        while taken < bytes.len() && !self.is_done() {
            taken += self.step(&bytes[taken..])?;
        }
        self.wire_bytes += taken as u64;
        Ok(Progress {
            taken,
            done: self.is_done(),
        })
    }

    /// Says that the connection has ended: no failure if the answer is whole, or is over just then.
    ///
    /// # Errors
    /// [`Class::Closed`] or [`Class::Reset`] without a whole header, [`Class::ShortBody`] within the body,
    /// [`Class::BadEncoding`] when a body that lasts until the end was packed and is cut.
    pub fn ended(&mut self, how: StreamEnd) -> Result<(), Fault> {
        match self.stage {
            Stage::Done => Ok(()),
            Stage::Head => Err(self.without_head(how)),
            Stage::UntilClose if how == StreamEnd::Closed => self.finish_body(),
            _ => Err(self.short_body()),
        }
    }

    /// Whether a byte of an answer came.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// The status of the answer, once its header has come.
    pub fn status(&self) -> Option<u16> {
        (self.status > 0).then_some(self.status)
    }

    /// The answer; to be asked when it is whole.
    pub fn finish(self) -> Answer {
        Answer {
            status: self.status,
            headers: self.headers,
            body: self.body.into_content(),
            reusable: self.reusable,
            wire_bytes: self.wire_bytes,
        }
    }

    fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    /// Takes one or more of `bytes`, of which there are some.
    fn step(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        match &mut self.stage {
            Stage::Head => self.read_head(bytes),
            Stage::Length { left } => {
                let count =
                    usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                *left -= count as u64;
                let is_over = *left == 0;
                self.body.add(&bytes[..count])?;
                if is_over {
                    self.finish_body()?;
                }
                Ok(count)
            }
            Stage::Chunks(chunks) => {
                let (count, part) = chunks.next(bytes)?;
                match part {
                    Part::Data(data) => self.body.add(data)?,
                    Part::More => {}
                    Part::End => self.finish_body()?,
                }
                Ok(count)
            }
            Stage::UntilClose => self.body.add(bytes).map(|()| bytes.len()),
            Stage::Done => Ok(0),
        }
    }

    fn finish_body(&mut self) -> Result<(), Fault> {
        self.body.end()?;
        self.stage = Stage::Done;
        Ok(())
    }

    fn read_head(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        if self.head.is_empty() {
            let is_line_end = |byte: &&u8| matches!(**byte, b'\r' | b'\n');
            let blank = bytes.iter().take_while(is_line_end).count();
            if blank > 0 {
                return self.skip_blank(blank);
            }
        }
        let (held, most) = (self.head.len(), self.limits.header_bytes);
        let within = &bytes[..bytes.len().min(most - held)];
        let end = if held == 0 {
            // A head that came in one piece is read where it lies.
            head::check_start(within)?;
            let end = head::end(within, 0);
            match end {
                Some(end) => self.take_head(&within[..end])?,
                None => self.head.extend_from_slice(within),
            }
            end
        } else {
            self.head.extend_from_slice(within);
            head::check_start(&self.head)?;
            let end = head::end(&self.head, held.saturating_sub(2));
            if let Some(end) = end {
                let head = mem::take(&mut self.head);
                self.take_head(&head[..end])?;
            }
            end
        };
        match end {
            Some(end) => Ok(end - held),
            None if within.len() < bytes.len() => Err(self.head_too_large()),
            None => Ok(bytes.len()),
        }
    }

    /// Old servers send a line end too many after a body.
    fn skip_blank(&mut self, count: usize) -> Result<usize, Fault> {
        self.blank_bytes = self.blank_bytes.saturating_add(count);
        if self.blank_bytes > self.limits.header_bytes {
            return Err(self.head_too_large());
        }
        Ok(count)
    }

    fn take_head(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let head = head::parse(bytes)?;
        match head.status {
            101 => {
                let words =
                    "the server switched to another protocol (101), which was not asked for";
                return Err(Fault::new(Class::UnexpectedUpgrade, words));
            }
            ..200 => {
                self.interim += 1;
                if self.interim > self.limits.interim {
                    let most = self.limits.interim;
                    let words = format!("more interim answers (1xx) than limits.interim: {most}");
                    return Err(Fault::new(Class::TooManyInterim, words));
                }
                return Ok(());
            }
            _ => {}
        }
        let (framing, reusable) = framing::of(&head, self.head_request)?;
        self.status = head.status;
        self.headers = head.headers;
        self.reusable = reusable;
        self.stage = match framing {
            Framing::None | Framing::Length(0) => Stage::Done,
            Framing::Length(left) => {
                self.body.begin(&self.headers, Some(left))?;
                Stage::Length { left }
            }
            Framing::Chunks => {
                self.body.begin(&self.headers, None)?;
                Stage::Chunks(ChunkReader::new(self.limits.header_bytes))
            }
            Framing::UntilClose => {
                self.body.begin(&self.headers, None)?;
                Stage::UntilClose
            }
        };
        Ok(())
    }

    fn head_too_large(&self) -> Fault {
        let most = self.limits.header_bytes;
        let words = format!("the header of the answer is larger than limits.header_bytes: {most}");
        Fault::new(Class::HeaderTooLarge, words)
    }

    fn without_head(&self, how: StreamEnd) -> Fault {
        let (class, what) = match how {
            StreamEnd::Closed => (Class::Closed, "the server closed the connection"),
            StreamEnd::Reset => (Class::Reset, "the connection was reset"),
        };
        let when = if self.has_begun {
            "within the header of its answer"
        } else {
            "before it answered"
        };
        Fault::new(class, format!("{what} {when}"))
    }

    fn short_body(&self) -> Fault {
        let came = self.body.received();
        let words = match self.stage {
            Stage::Length { left } => {
                let all = u128::from(came) + u128::from(left);
                format!("the connection ended after {came} of the {all} bytes of the body")
            }
            Stage::Chunks(_) => {
                format!(
                    "the connection ended after {came} bytes of the body, before its last chunk"
                )
            }
            _ => format!("the connection was reset after {came} bytes of the body"),
        };
        Fault::new(Class::ShortBody, words)
    }
}

#[cfg(test)]
mod tests;
