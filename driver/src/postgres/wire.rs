//! The read buffer and the frames of messages in it.

use super::Error;

/// First size of the buffer of a connection; it grows when a message needs it.
const INITIAL_BYTES: usize = 2 * 1024;
/// A buffer above this size is given back when it is empty.
const KEEP_BYTES: usize = 64 * 1024;
/// No answer to our statements comes near this; a larger length is not PostgreSQL.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;
const HEADER_BYTES: usize = 5;

/// One message of the server, borrowed from the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Kind of the message.
    pub tag: u8,
    /// What follows the length.
    pub body: &'a [u8],
}

/// Bytes that were received and not yet consumed.
#[derive(Debug)]
pub struct ReadBuffer {
    data: Vec<u8>,
    start: usize,
    end: usize,
}

impl Default for ReadBuffer {
    fn default() -> Self {
        Self {
            data: vec![0; INITIAL_BYTES],
            start: 0,
            end: 0,
        }
    }
}

impl ReadBuffer {
    /// Position of the next whole message: its kind and the range of its body.
    ///
    /// # Errors
    /// A protocol error if the length makes no sense.
    #[inline]
    fn frame(&self) -> Result<Option<(u8, usize, usize)>, Error> {
        let pending = &self.data[self.start..self.end];
        let Some((header, _)) = pending.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
        if !(4..=MAX_MESSAGE_BYTES).contains(&length) {
            return Err(Error::protocol(format!(
                "a message of kind {:?} claims a length of {length} bytes: this is not PostgreSQL",
                char::from(header[0])
            )));
        }
        let end = self.start + 1 + length;
        Ok((end <= self.end).then_some((header[0], self.start + HEADER_BYTES, end)))
    }

    /// Takes the next whole message, if it is there.
    ///
    /// # Errors
    /// A protocol error if the length makes no sense.
    #[inline]
    pub fn next_message(&mut self) -> Result<Option<Message<'_>>, Error> {
        let Some((tag, from, to)) = self.frame()? else {
            return Ok(None);
        };
        self.start = to;
        Ok(Some(Message {
            tag,
            body: &self.data[from..to],
        }))
    }

    /// Whether a call of [`ReadBuffer::next_message`] would give a message or an error.
    #[inline]
    pub fn has_message(&self) -> bool {
        !matches!(self.frame(), Ok(None))
    }

    /// Kind of the next message; only of use after [`ReadBuffer::has_message`].
    #[inline]
    pub fn peek_tag(&self) -> u8 {
        self.data.get(self.start).copied().unwrap_or(0)
    }

    /// Room for more bytes, at least one; say how many came with [`ReadBuffer::received`].
    #[inline]
    pub fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.data.len() > KEEP_BYTES {
                self.data = vec![0; INITIAL_BYTES];
            }
        } else if self.end == self.data.len() {
            self.make_room();
        }
        &mut self.data[self.end..]
    }

    fn make_room(&mut self) {
        self.data.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end * 2 > self.data.len() {
            self.data.resize(self.data.len() * 2, 0);
        }
    }

    /// Counts bytes that were written into [`ReadBuffer::room`].
    #[inline]
    pub fn received(&mut self, count: usize) {
        self.end = (self.end + count).min(self.data.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn feed(buffer: &mut ReadBuffer, mut bytes: &[u8], step: usize) -> Vec<(u8, Vec<u8>)> {
        let mut seen = Vec::new();
        while !bytes.is_empty() {
            let room = buffer.room();
            let count = step.min(room.len()).min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            buffer.received(count);
            bytes = &bytes[count..];
            while let Some(message) = buffer.next_message().unwrap() {
                seen.push((message.tag, message.body.to_vec()));
            }
        }
        seen
    }

    proptest! {
        #[test]
        fn messages_come_out_as_they_went_in(
            sent in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..5000)), 1..20),
            step in 1_usize..4000,
        ) {
            let mut bytes = Vec::new();
            for (tag, body) in &sent {
                bytes.push(*tag);
                bytes.extend(u32::try_from(body.len() + 4).unwrap().to_be_bytes());
                bytes.extend(body);
            }
            prop_assert_eq!(feed(&mut ReadBuffer::default(), &bytes, step), sent);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
            let mut buffer = ReadBuffer::default();
            for part in bytes.chunks(700) {
                let room = buffer.room();
                let count = part.len().min(room.len());
                room[..count].copy_from_slice(&part[..count]);
                buffer.received(count);
                while let Ok(Some(_)) = buffer.next_message() {}
            }
        }
    }
}
