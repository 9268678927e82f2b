//! Packets and their fields: 3 bytes of length, a sequence number, the body; integers little-endian.

use super::Error;
use crate::socket::Incoming;

/// Bytes before the body of a packet.
pub const HEADER_BYTES: usize = 4;
/// A body of this length goes on in the next packet. No answer of ours comes near it.
pub const MOST_BODY_BYTES: usize = 0xff_ff_ff;

/// Length of the next packet's body, when all of it is there.
///
/// # Errors
/// A protocol error for a body that is cut into several packets.
#[inline]
pub fn next_length(pending: &[u8]) -> Result<Option<usize>, Error> {
    let Some((header, body)) = pending.split_first_chunk::<HEADER_BYTES>() else {
        return Ok(None);
    };
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
    if length == MOST_BODY_BYTES {
        return Err(Error::protocol(
            "an answer of 16 MB and more is not read here",
        ));
    }
    Ok((length <= body.len()).then_some(length))
}

/// The next packet's body, when all of it is there.
///
/// # Errors
/// As [`next_length`].
#[inline]
pub fn next_packet(incoming: &mut Incoming) -> Result<Option<&[u8]>, Error> {
    let length = next_length(incoming.pending())?;
    Ok(length.map(|length| incoming.take(HEADER_BYTES, HEADER_BYTES + length)))
}

/// Begins a packet; returns where, for [`end_packet`].
#[inline]
pub fn begin_packet(buf: &mut Vec<u8>, sequence: u8) -> usize {
    let start = buf.len();
    buf.extend_from_slice(&[0, 0, 0, sequence]);
    start
}

/// Writes the length of the packet that began at `start`.
///
/// # Errors
/// A protocol error if it does not fit one packet.
#[inline]
pub fn end_packet(buf: &mut [u8], start: usize) -> Result<(), Error> {
    let length = buf.len() - start - HEADER_BYTES;
    if length >= MOST_BODY_BYTES {
        return Err(Error::protocol(format!(
            "a command of {length} bytes does not fit one packet"
        )));
    }
    let [a, b, c, _] = (length as u32).to_le_bytes();
    buf[start..start + 3].copy_from_slice(&[a, b, c]);
    Ok(())
}

/// Writes a length-encoded integer.
#[inline]
pub fn put_length(buf: &mut Vec<u8>, value: usize) {
    match value {
        0..=250 => buf.push(value as u8),
        251..=0xffff => {
            buf.push(0xfc);
            buf.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            buf.push(0xfd);
            buf.extend_from_slice(&(value as u32).to_le_bytes()[..3]);
        }
        _ => {
            buf.push(0xfe);
            buf.extend_from_slice(&(value as u64).to_le_bytes());
        }
    }
}

/// Writes bytes with their length.
#[inline]
pub fn put_bytes(buf: &mut Vec<u8>, bytes: &[u8]) {
    put_length(buf, bytes.len());
    buf.extend_from_slice(bytes);
}

/// Reads fields one after the other.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Reads from the start of `body`.
    #[inline]
    pub fn new(body: &'a [u8]) -> Self {
        Self { rest: body }
    }

    /// What was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// A protocol error if there are fewer; so with its siblings below.
    #[inline]
    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (value, rest) = self.rest.split_first_chunk::<N>().ok_or_else(truncated)?;
        self.rest = rest;
        Ok(*value)
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// See [`Fields::fixed`].
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (value, rest) = self.rest.split_at_checked(count).ok_or_else(truncated)?;
        self.rest = rest;
        Ok(value)
    }

    /// A 16-bit integer.
    ///
    /// # Errors
    /// See [`Fields::fixed`].
    #[inline]
    pub fn u16(&mut self) -> Result<u16, Error> {
        self.fixed().map(u16::from_le_bytes)
    }

    /// A 32-bit integer.
    ///
    /// # Errors
    /// See [`Fields::fixed`].
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.fixed().map(u32::from_le_bytes)
    }

    /// A length-encoded integer.
    ///
    /// # Errors
    /// See [`Fields::fixed`].
    #[inline]
    pub fn length(&mut self) -> Result<u64, Error> {
        let [first] = self.fixed()?;
        match first {
            0..=250 => Ok(u64::from(first)),
            0xfc => self.u16().map(u64::from),
            0xfd => {
                let [a, b, c] = self.fixed()?;
                Ok(u64::from(u32::from_le_bytes([a, b, c, 0])))
            }
            0xfe => self.fixed().map(u64::from_le_bytes),
            _ => Err(Error::protocol("a length that is none")),
        }
    }

    /// Bytes with their length before them.
    ///
    /// # Errors
    /// See [`Fields::fixed`].
    #[inline]
    pub fn bytes(&mut self) -> Result<&'a [u8], Error> {
        let length = usize::try_from(self.length()?).map_err(|_| truncated())?;
        self.take(length)
    }

    /// Bytes up to a zero byte, which is passed over; without one all that is left.
    pub fn until_zero(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| *byte == 0);
        let (value, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.get(1..).unwrap_or_default();
        value
    }
}

fn truncated() -> Error {
    Error::protocol("a packet ends before its fields do")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lengths_come_back(value: u64) {
            for value in [value, value >> 32, value >> 40, value >> 48, value >> 56] {
                let mut buf = Vec::new();
                put_length(&mut buf, value as usize);
                prop_assert_eq!(Fields::new(&buf).length(), Ok(value));
            }
        }

        #[test]
        fn packets_come_out_as_they_went_in(
            sent in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..5000), 1..20),
            step in 1_usize..4000,
        ) {
            let mut bytes = Vec::new();
            for body in &sent {
                let start = begin_packet(&mut bytes, 7);
                bytes.extend(body);
                end_packet(&mut bytes, start).unwrap();
            }
            let (mut incoming, mut seen, mut left) = (Incoming::default(), Vec::new(), &bytes[..]);
            while !left.is_empty() {
                left = &left[incoming.receive(left, step)..];
                while let Some(body) = next_packet(&mut incoming).unwrap() {
                    seen.push(body.to_vec());
                }
            }
            prop_assert_eq!(seen, sent);
        }

        #[test]
        fn any_bytes_are_read_or_refused(body in proptest::collection::vec(any::<u8>(), 0..60)) {
            let mut fields = Fields::new(&body);
            while !fields.rest().is_empty() && fields.bytes().is_ok() {
                fields.until_zero();
            }
        }
    }
}
