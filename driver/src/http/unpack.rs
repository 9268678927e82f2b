//! The body of an answer as its bytes come: counted against its limits and unpacked at once.
//!
//! The packed form is never kept, and the unpacked one never grows beyond its limit, whatever is sent.

mod gunzip;
mod inflate;

use super::answer::Limits;
use super::fault::{Class, Fault};
use super::headers::Headers;
use gunzip::Gunzip;
use inflate::Deflate;

/// Room for a body that is told before its bytes come; a larger one grows.
const MOST_TOLD_BYTES: u64 = 256 * 1024;

/// How a body is packed (`Content-Encoding`).
enum Unpacker {
    Identity,
    Gzip(Box<Gunzip>),
    Deflate(Deflate),
    /// One that was not asked for, with its name.
    Unknown(String),
}

/// A body.
pub(super) struct Body {
    content: Vec<u8>,
    unpacker: Unpacker,
    /// Bytes of the packed form that came.
    received: u64,
    body_bytes: u64,
    inflated_bytes: u64,
}

impl Body {
    /// An empty one.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            content: Vec::new(),
            unpacker: Unpacker::Identity,
            received: 0,
            body_bytes: limits.body_bytes,
            inflated_bytes: limits.inflated_bytes,
        }
    }

    /// Begins the body below `headers`, of `length` bytes if that is known.
    ///
    /// # Errors
    /// [`Class::BodyTooLarge`] for a length beyond the limit.
    pub(super) fn begin(&mut self, headers: &Headers, length: Option<u64>) -> Result<(), Fault> {
        if length.is_some_and(|length| length > self.body_bytes) {
            return Err(self.too_large());
        }
        self.unpacker = unpacker(headers);
        if let (Unpacker::Identity, Some(length)) = (&self.unpacker, length) {
            self.content
                .reserve_exact(length.min(MOST_TOLD_BYTES) as usize);
        }
        Ok(())
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// [`Class::BodyTooLarge`], [`Class::InflatedTooLarge`] and [`Class::BadEncoding`].
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let left = self.body_bytes - self.received;
        let within = match usize::try_from(left) {
            Ok(left) => &bytes[..left.min(bytes.len())],
            Err(_) => bytes,
        };
        self.received += within.len() as u64;
        self.unpack(within)?;
        if within.len() < bytes.len() {
            return Err(self.too_large());
        }
        Ok(())
    }

    fn unpack(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        match &mut self.unpacker {
            Unpacker::Identity => {
                self.content.extend_from_slice(bytes);
                Ok(())
            }
            Unpacker::Gzip(gunzip) => gunzip.add(bytes, &mut self.content, self.inflated_bytes),
            Unpacker::Deflate(deflate) => {
                deflate.add(bytes, &mut self.content, self.inflated_bytes)
            }
            Unpacker::Unknown(_) if bytes.is_empty() => Ok(()),
            Unpacker::Unknown(name) => Err(bad(format!(
                "the body of the answer is packed by {name}, which was not asked for"
            ))),
        }
    }

    /// Says that no more bytes come.
    ///
    /// # Errors
    /// [`Class::BadEncoding`] if the packed form ends before it should. No bytes at all are an empty body.
    pub(super) fn end(&self) -> Result<(), Fault> {
        let is_whole = match &self.unpacker {
            Unpacker::Identity | Unpacker::Unknown(_) => true,
            Unpacker::Gzip(gunzip) => gunzip.is_whole(),
            Unpacker::Deflate(deflate) => deflate.is_whole(),
        };
        if is_whole {
            return Ok(());
        }
        Err(bad(
            "the packed body of the answer is cut: its end is missing",
        ))
    }

    /// Bytes of the packed form that came.
    pub(super) fn received(&self) -> u64 {
        self.received
    }

    /// What was unpacked.
    pub(super) fn into_content(self) -> Vec<u8> {
        self.content
    }

    fn too_large(&self) -> Fault {
        let words = format!(
            "the body of the answer is larger than limits.body_bytes: {}",
            self.body_bytes
        );
        Fault::new(Class::BodyTooLarge, words)
    }
}

fn unpacker(headers: &Headers) -> Unpacker {
    let mut codings = headers
        .list("content-encoding")
        .filter(|coding| !coding.eq_ignore_ascii_case(b"identity"));
    let Some(coding) = codings.next() else {
        return Unpacker::Identity;
    };
    if codings.next().is_some() {
        return Unpacker::Unknown("several codings".to_owned());
    }
    match &coding.to_ascii_lowercase()[..] {
        b"gzip" | b"x-gzip" => Unpacker::Gzip(Box::default()),
        b"deflate" => Unpacker::Deflate(Deflate::default()),
        b"br" => Unpacker::Unknown("br (Brotli)".to_owned()),
        b"zstd" => Unpacker::Unknown("zstd".to_owned()),
        _ => Unpacker::Unknown("an unknown coding".to_owned()),
    }
}

fn bad(words: impl Into<String>) -> Fault {
    Fault::new(Class::BadEncoding, words)
}

#[cfg(test)]
mod tests;
