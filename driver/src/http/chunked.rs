//! A body in chunks (RFC 9112, section 7.1), read as its bytes come.
//!
//! Extensions and trailers are passed over. Lines may end with LF alone, and spaces may follow a size, as
//! browsers allow. Nothing is kept but the state, so memory is flat.

use super::fault::{Class, Fault};

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'b> {
    /// Bytes of the body.
    Data(&'b [u8]),
    /// All bytes were taken, and the body goes on.
    More,
    /// The body and its trailers are over.
    End,
}

/// Reads chunks.
#[derive(Debug)]
pub(super) struct ChunkReader {
    stage: Stage,
    /// Bytes of this line with a size, or of all trailers.
    line_bytes: usize,
    most_line_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Digits of a size.
    Size { size: u64, has_digits: bool },
    /// Spaces after a size.
    Blank { size: u64 },
    /// An extension after a size.
    Extension { size: u64 },
    /// LF after CR at the end of a line with a size.
    SizeLf { size: u64 },
    /// Bytes of a chunk.
    Data { left: u64 },
    /// CR or LF after a chunk.
    DataEnd,
    /// LF after CR after a chunk.
    DataLf,
    /// First byte of a trailer, or of the empty line that ends all.
    TrailerStart,
    /// Within a trailer.
    Trailer,
    /// LF after CR in the empty line.
    TrailerLf,
    /// It is over.
    End,
}

impl ChunkReader {
    /// A line with a size, and all trailers together, may have `most_line_bytes`.
    pub(super) fn new(most_line_bytes: usize) -> Self {
        Self {
            stage: FIRST,
            line_bytes: 0,
            most_line_bytes,
        }
    }

    /// The next part of `bytes`, and how many of them it took; to be called again with the rest.
    ///
    /// # Errors
    /// [`Class::BadChunk`] for what is not a chunk; [`Class::HeaderTooLarge`] for lines beyond the limit.
    pub(super) fn next<'b>(&mut self, bytes: &'b [u8]) -> Result<(usize, Part<'b>), Fault> {
        for (at, byte) in bytes.iter().enumerate() {
            if let Stage::Data { left } = self.stage {
                let data = &bytes[at..];
                let count = usize::try_from(left).map_or(data.len(), |left| left.min(data.len()));
                self.stage = match left - count as u64 {
                    0 => Stage::DataEnd,
                    left => Stage::Data { left },
                };
                return Ok((at + count, Part::Data(&data[..count])));
            }
            self.step(*byte)?;
            if self.stage == Stage::End {
                return Ok((at + 1, Part::End));
            }
        }
        Ok((bytes.len(), Part::More))
    }

    fn step(&mut self, byte: u8) -> Result<(), Fault> {
        let before = self.stage;
        self.stage = after(before, byte)?;
        // A line is counted anew where a size or the trailers begin.
        let begins = match self.stage {
            Stage::TrailerStart => before != Stage::Trailer,
            Stage::Data { .. } => true,
            stage => stage == FIRST,
        };
        self.line_bytes = if begins { 0 } else { self.line_bytes + 1 };
        if self.line_bytes > self.most_line_bytes {
            let words = "a line between the chunks of the answer's body is larger than \
                         limits.header_bytes";
            return Err(Fault::new(Class::HeaderTooLarge, words));
        }
        Ok(())
    }
}

const FIRST: Stage = Stage::Size {
    size: 0,
    has_digits: false,
};

/// The stage after `byte`, for all stages but that of data.
fn after(stage: Stage, byte: u8) -> Result<Stage, Fault> {
    Ok(match (stage, byte) {
        (Stage::Size { size, .. }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => Stage::Size {
            size: with_digit(size, byte)?,
            has_digits: true,
        },
        (
            Stage::Size {
                size,
                has_digits: true,
            }
            | Stage::Blank { size },
            _,
        ) => after_size(size, byte)?,
        (Stage::Extension { size }, b'\r') => Stage::SizeLf { size },
        (Stage::Extension { size } | Stage::SizeLf { size }, b'\n') => of_size(size),
        (Stage::Extension { size }, _) => Stage::Extension { size },
        (Stage::DataEnd, b'\r') => Stage::DataLf,
        (Stage::DataEnd | Stage::DataLf, b'\n') => FIRST,
        (Stage::TrailerStart, b'\r') => Stage::TrailerLf,
        (Stage::TrailerStart | Stage::TrailerLf, b'\n') => Stage::End,
        (Stage::Trailer, b'\n') => Stage::TrailerStart,
        (Stage::TrailerStart | Stage::Trailer, _) => Stage::Trailer,
        (Stage::DataEnd | Stage::DataLf, _) => {
            return Err(bad(
                "a chunk of the answer's body does not end where its size says",
            ));
        }
        (Stage::TrailerLf, _) => {
            return Err(bad("the chunks of the answer's body have no valid end"));
        }
        _ => return Err(bad("a chunk of the answer's body has no valid size")),
    })
}

fn after_size(size: u64, byte: u8) -> Result<Stage, Fault> {
    match byte {
        b' ' | b'\t' => Ok(Stage::Blank { size }),
        b';' => Ok(Stage::Extension { size }),
        b'\r' => Ok(Stage::SizeLf { size }),
        b'\n' => Ok(of_size(size)),
        _ => Err(bad("a chunk of the answer's body has no valid size")),
    }
}

fn of_size(size: u64) -> Stage {
    match size {
        0 => Stage::TrailerStart,
        left => Stage::Data { left },
    }
}

fn with_digit(size: u64, byte: u8) -> Result<u64, Fault> {
    let digit = (byte as char).to_digit(16).unwrap_or_default();
    size.checked_mul(16)
        .map(|size| size + u64::from(digit))
        .ok_or_else(|| bad("a chunk of the answer's body has a size beyond 64 bits"))
}

fn bad(words: &str) -> Fault {
    Fault::new(Class::BadChunk, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body, and how many bytes were taken until its end if it came.
    fn read(bytes: &[u8], piece: usize) -> Result<(Vec<u8>, Option<usize>), Class> {
        let (mut reader, mut body, mut taken) = (ChunkReader::new(64), Vec::new(), 0);
        for mut rest in bytes.chunks(piece) {
            while !rest.is_empty() {
                let (count, part) = reader.next(rest).map_err(|fault| fault.class)?;
                assert!(count > 0);
                taken += count;
                rest = &rest[count..];
                match part {
                    Part::Data(data) => body.extend_from_slice(data),
                    Part::More => assert!(rest.is_empty()),
                    Part::End => return Ok((body, Some(taken))),
                }
            }
        }
        Ok((body, None))
    }

    fn each(bytes: &[u8]) -> Result<(Vec<u8>, Option<usize>), Class> {
        let whole = read(bytes, bytes.len().max(1));
        for piece in [1, 2, 7] {
            assert_eq!(read(bytes, piece), whole);
        }
        whole
    }

    #[test]
    fn extensions_trailers_spaces_and_bare_line_feeds_are_read() {
        for chunks in [
            "5\r\nhello\r\n0\r\n\r\n",
            "5;a=b\r\nhello\r\n0\r\nX-T: 1\r\n\r\n",
            "2\r\nhe\r\n3;x=\"y;z\"\r\nllo\r\n000;last\r\nA: 1\r\nB: 2\r\n\r\n",
            "5 \t\r\nhello\r\n0\r\n\r\n",
            "0005 ;a\nhello\n0\nX: 1\n\n",
        ] {
            let stray = format!("{chunks}HTTP/1.1");
            let expected = Ok((b"hello".to_vec(), Some(chunks.len())));
            assert_eq!(each(stray.as_bytes()), expected, "{chunks:?}");
        }
    }

    #[test]
    fn what_is_not_a_chunk_is_refused() {
        for chunks in [
            "\r\nhello",
            ";a\r\n",
            "x\r\n",
            "-5\r\n",
            "0x5\r\n",
            "5 5\r\nhello",
            "5\rhello",
            "5;a\rb\r\n",
            "5\r\nhello!",
            "5\r\nhello\r\r\n",
            "0\r\n\rX: 1\r\n",
            "FFFFFFFFFFFFFFFFF\r\n",
        ] {
            assert_eq!(each(chunks.as_bytes()), Err(Class::BadChunk), "{chunks:?}");
        }
    }

    #[test]
    fn the_largest_size_is_read() {
        let chunks = b"FFFFFFFFFFFFFFFF\r\nhello";
        assert_eq!(each(chunks), Ok((b"hello".to_vec(), None)));
    }

    #[test]
    fn lines_are_bounded_one_by_one_and_trailers_together() {
        let line = format!("1;{}\r\nx\r\n", "a".repeat(50));
        let many = line.repeat(9) + "0\r\n\r\n";
        assert_eq!(
            each(many.as_bytes()),
            Ok((b"x".repeat(9), Some(many.len())))
        );
        for chunks in [
            format!("5;{}", "a".repeat(80)),
            "0".repeat(80),
            format!("0\r\n{}", "X: 1\r\n".repeat(20)),
        ] {
            assert_eq!(
                each(chunks.as_bytes()),
                Err(Class::HeaderTooLarge),
                "{chunks:?}"
            );
        }
    }
}
