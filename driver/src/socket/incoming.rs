//! Bytes that were received and not yet consumed.

/// First size of the buffer of a connection; it grows when a message needs it.
const INITIAL_BYTES: usize = 2 * 1024;
/// A buffer above this size is given back when it is empty.
const KEEP_BYTES: usize = 64 * 1024;

/// A buffer that is filled at its end and consumed from its start.
#[derive(Debug)]
pub struct Incoming {
    data: Vec<u8>,
    start: usize,
    end: usize,
}

impl Default for Incoming {
    fn default() -> Self {
        Self {
            data: vec![0; INITIAL_BYTES],
            start: 0,
            end: 0,
        }
    }
}

impl Incoming {
    /// What was not consumed yet.
    #[inline]
    pub fn pending(&self) -> &[u8] {
        &self.data[self.start..self.end]
    }

    /// Consumes `count` bytes and gives those after the first `header` of them.
    ///
    /// # Panics
    /// When fewer are pending.
    #[inline]
    pub fn take(&mut self, header: usize, count: usize) -> &[u8] {
        let from = self.start;
        self.start += count;
        assert!(
            self.start <= self.end,
            "more was consumed than was received"
        );
        &self.data[from + header..self.start]
    }

    /// Room for more bytes, at least one; say how many came with [`Incoming::received`].
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

    /// Counts bytes that were written into [`Incoming::room`].
    #[inline]
    pub fn received(&mut self, count: usize) {
        self.end = (self.end + count).min(self.data.len());
    }

    /// Takes some of `bytes`, at most `most`, as a socket would give them; returns how many.
    #[cfg(test)]
    pub fn receive(&mut self, bytes: &[u8], most: usize) -> usize {
        let room = self.room();
        let count = most.min(room.len()).min(bytes.len());
        room[..count].copy_from_slice(&bytes[..count]);
        self.received(count);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_come_out_as_they_went_in(
            sent in proptest::collection::vec(any::<u8>(), 0..20_000),
            steps in proptest::collection::vec((1_usize..5000, 1_usize..5000), 1..20),
        ) {
            let mut buffer = Incoming::default();
            let (mut left, mut seen) = (sent.as_slice(), Vec::new());
            for (receive, consume) in steps.into_iter().cycle() {
                left = &left[buffer.receive(left, receive)..];
                let count = consume.min(buffer.pending().len());
                seen.extend_from_slice(buffer.take(0, count));
                if left.is_empty() && buffer.pending().is_empty() {
                    break;
                }
            }
            prop_assert_eq!(seen, sent);
        }
    }
}
