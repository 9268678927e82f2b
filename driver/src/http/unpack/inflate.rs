//! The coding `deflate`, and the step that it shares with `gzip`.

use flate2::{Decompress, FlushDecompress, Status};

use super::bad;
use crate::http::fault::{Class, Fault};

/// Room that is offered to a step: little for a few bytes, because it is zeroed for each.
const LEAST_ROOM_BYTES: usize = 256;
const MOST_ROOM_BYTES: usize = 32 * 1024;

/// Unpacks `input` to the end of `out`, until the input or the stream ends. Gives the bytes of the input
/// that were taken, and whether the stream has ended; if it has not, all were taken.
///
/// # Errors
/// [`Class::BadEncoding`] for what is not DEFLATE; [`Class::InflatedTooLarge`] when `out` has more than
/// `most` bytes. Its memory never grows beyond `most` + 1.
pub(super) fn inflate(
    stream: &mut Decompress,
    input: &[u8],
    out: &mut Vec<u8>,
    most: u64,
) -> Result<(usize, bool), Fault> {
    let mut taken = 0;
    loop {
        let (rest, start) = (&input[taken..], out.len());
        let room = make_room(out, rest.len(), most);
        let before = (stream.total_in(), stream.total_out());
        let status = stream.decompress(rest, &mut out[start..], FlushDecompress::None);
        let consumed = (stream.total_in() - before.0) as usize;
        let written = (stream.total_out() - before.1) as usize;
        out.truncate(start + written);
        taken += consumed;
        let Ok(status) = status else {
            return Err(bad("the packed body of the answer is corrupt"));
        };
        if out.len() as u64 > most {
            let words = format!(
                "the unpacked body of the answer is larger than limits.inflated_bytes: {most}"
            );
            return Err(Fault::new(Class::InflatedTooLarge, words));
        }
        if status == Status::StreamEnd {
            return Ok((taken, true));
        }
        // Room that is left says that the stream waits for more input.
        if written < room && taken == input.len() {
            return Ok((taken, false));
        }
        if written == 0 && consumed == 0 {
            return Err(bad("the packed body of the answer is corrupt"));
        }
    }
}

/// Makes room at the end of `out` for what `input` bytes may become, at least one byte; returns how much.
fn make_room(out: &mut Vec<u8>, input: usize, most: u64) -> usize {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let left = most.saturating_add(1).saturating_sub(out.len());
    let wanted = input.saturating_mul(4);
    let room = wanted.clamp(LEAST_ROOM_BYTES, MOST_ROOM_BYTES).min(left);
    let needed = out.len() + room;
    if out.capacity() < needed {
        let doubled = out.capacity().saturating_mul(2).max(needed);
        out.reserve_exact(doubled.min(out.len() + left) - out.len());
    }
    out.resize(needed, 0);
    room
}

/// The coding `deflate`: a zlib stream (RFC 1950), or DEFLATE alone (RFC 1951), as some servers send it.
pub(super) enum Deflate {
    /// Of the first two bytes, which tell the one from the other, this came.
    Start(Option<u8>),
    /// Within the stream.
    Stream(Decompress),
    /// The stream is over, and its sum was right.
    End,
}

impl Default for Deflate {
    fn default() -> Self {
        Self::Start(None)
    }
}

impl Deflate {
    /// Unpacks the next bytes to the end of `out`.
    ///
    /// # Errors
    /// As [`inflate`]; [`Class::BadEncoding`] also for bytes after the end.
    pub(super) fn add(&mut self, bytes: &[u8], out: &mut Vec<u8>, most: u64) -> Result<(), Fault> {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            let taken = match self {
                Self::Start(first) => match (*first, bytes) {
                    (None, [only]) => {
                        *first = Some(*only);
                        1
                    }
                    (None, [one, two, ..]) => {
                        *self = Self::Stream(Decompress::new(is_zlib(*one, *two)));
                        0
                    }
                    (Some(one), _) => {
                        let mut stream = Decompress::new(is_zlib(one, bytes[0]));
                        inflate(&mut stream, &[one], out, most)?;
                        *self = Self::Stream(stream);
                        0
                    }
                    (None, []) => 0,
                },
                Self::Stream(stream) => {
                    let (taken, has_ended) = inflate(stream, bytes, out, most)?;
                    if has_ended {
                        *self = Self::End;
                    }
                    taken
                }
                Self::End => return Err(bad("bytes follow the packed body of the answer")),
            };
            bytes = &bytes[taken..];
        }
        Ok(())
    }

    /// Whether nothing is missing: the stream is over, or not a byte came.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Self::Start(None) | Self::End)
    }
}

/// Whether a stream that begins so has the header of zlib (RFC 1950, section 2.2).
fn is_zlib(one: u8, two: u8) -> bool {
    one & 0x0f == 8 && one >> 4 <= 7 && u16::from_be_bytes([one, two]).is_multiple_of(31)
}
