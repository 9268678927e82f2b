//! The coding `gzip` (RFC 1952): one or several members, each with its sum and its length.

use flate2::{Crc, Decompress};

use super::bad;
use super::inflate::inflate;
use crate::http::fault::Fault;

const MAGIC: [u8; 2] = [0x1f, 0x8b];
const DEFLATE: u8 = 8;
/// Bytes that every member begins with, and position of its flags in them.
const FIXED_BYTES: u8 = 10;
const METHOD_AT: u8 = 2;
const FLAGS_AT: u8 = 3;
const TRAILER_BYTES: usize = 8;

const HAS_SUM: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0b1110_0000;

/// Unpacks members.
pub(super) struct Gunzip {
    stage: Stage,
    /// Of this member: the parts of its header that are still to come.
    flags: u8,
    has_member: bool,
    stream: Decompress,
    /// Sum and length of what this member became.
    crc: Crc,
}

#[derive(Clone, Copy)]
enum Stage {
    /// Before the first member, or after one.
    Between,
    /// The next byte is that of this position.
    Fixed { at: u8 },
    /// The length of the extra field: its first byte if that came.
    ExtraLength { first: Option<u8> },
    /// The extra field.
    Extra { left: u16 },
    /// The file's name or the comment, up to a zero byte.
    Text,
    /// The sum of the header.
    Sum { left: u8 },
    /// What is packed.
    Data,
    /// Sum and length.
    Trailer {
        bytes: [u8; TRAILER_BYTES],
        at: usize,
    },
}

impl Default for Gunzip {
    fn default() -> Self {
        Self {
            stage: Stage::Between,
            flags: 0,
            has_member: false,
            stream: Decompress::new(false),
            crc: Crc::new(),
        }
    }
}

impl Gunzip {
    /// Unpacks the next bytes to the end of `out`, which must not have more than `most` bytes.
    ///
    /// # Errors
    /// As [`inflate`]; [`Class::BadEncoding`](crate::http::fault::Class) also for what is not gzip, and for
    /// a sum or a length that is not that of what was packed.
    pub(super) fn add(&mut self, bytes: &[u8], out: &mut Vec<u8>, most: u64) -> Result<(), Fault> {
        let mut bytes = bytes;
        while let [first, rest @ ..] = bytes {
            if !matches!(self.stage, Stage::Data) {
                self.stage = self.after(*first)?;
                bytes = rest;
                continue;
            }
            let start = out.len();
            let (taken, has_ended) = inflate(&mut self.stream, bytes, out, most)?;
            self.crc.update(&out[start..]);
            bytes = &bytes[taken..];
            if has_ended {
                self.stage = Stage::Trailer {
                    bytes: [0; TRAILER_BYTES],
                    at: 0,
                };
            }
        }
        Ok(())
    }

    /// Whether nothing is missing: the last member is over, or not a byte came.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.stage, Stage::Between)
    }

    /// The stage after `byte` of a header or a trailer.
    fn after(&mut self, byte: u8) -> Result<Stage, Fault> {
        Ok(match self.stage {
            // Zeros may fill up the room after a member.
            Stage::Between if byte == 0 && self.has_member => Stage::Between,
            Stage::Between if byte == MAGIC[0] => Stage::Fixed { at: 1 },
            Stage::Between if self.has_member => {
                return Err(bad("bytes follow the packed body of the answer"));
            }
            Stage::Between => return Err(bad("the body of the answer is not gzip, as it says")),
            Stage::Fixed { at } => self.fixed(at, byte)?,
            Stage::ExtraLength { first: None } => Stage::ExtraLength { first: Some(byte) },
            Stage::ExtraLength { first: Some(first) } => {
                self.extra(u16::from_le_bytes([first, byte]))
            }
            Stage::Extra { left } => self.extra(left - 1),
            Stage::Text if byte == 0 => self.part(),
            Stage::Sum { left: 1 } => self.part(),
            Stage::Sum { left } => Stage::Sum { left: left - 1 },
            Stage::Trailer { mut bytes, at } => {
                bytes[at] = byte;
                self.trailer(bytes, at + 1)?
            }
            same @ (Stage::Text | Stage::Data) => same,
        })
    }

    fn fixed(&mut self, at: u8, byte: u8) -> Result<Stage, Fault> {
        let is_right = match at {
            1 => byte == MAGIC[1],
            METHOD_AT => byte == DEFLATE,
            FLAGS_AT => byte & RESERVED == 0,
            _ => true,
        };
        if !is_right {
            return Err(bad("the body of the answer is not gzip, as it says"));
        }
        if at == FLAGS_AT {
            self.flags = byte;
        }
        Ok(match at + 1 {
            FIXED_BYTES => self.part(),
            at => Stage::Fixed { at },
        })
    }

    /// The next part of the header that is there, in the order of RFC 1952, or what is packed.
    fn part(&mut self) -> Stage {
        for (flag, stage) in [
            (HAS_EXTRA, Stage::ExtraLength { first: None }),
            (HAS_NAME, Stage::Text),
            (HAS_COMMENT, Stage::Text),
            (HAS_SUM, Stage::Sum { left: 2 }),
        ] {
            if self.flags & flag != 0 {
                self.flags &= !flag;
                return stage;
            }
        }
        if self.has_member {
            self.stream.reset(false);
            self.crc.reset();
        }
        Stage::Data
    }

    fn extra(&mut self, left: u16) -> Stage {
        match left {
            0 => self.part(),
            left => Stage::Extra { left },
        }
    }

    fn trailer(&mut self, bytes: [u8; TRAILER_BYTES], at: usize) -> Result<Stage, Fault> {
        if at < TRAILER_BYTES {
            return Ok(Stage::Trailer { bytes, at });
        }
        let [a, b, c, d, length @ ..] = bytes;
        let sum = u32::from_le_bytes([a, b, c, d]);
        if sum != self.crc.sum() || u32::from_le_bytes(length) != self.crc.amount() {
            let words = "the packed body of the answer is corrupt: its sum or its length is wrong";
            return Err(bad(words));
        }
        self.has_member = true;
        Ok(Stage::Between)
    }
}
