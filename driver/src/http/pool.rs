//! Buffers of a thread. No idle connection, no idle user and no request that waits for its answer holds one.

use std::cell::RefCell;
use std::fmt::{self, Debug};
use std::ops::{Deref, DerefMut};

/// The most that one read brings.
const READ_BYTES: usize = 64 * 1024;
/// Buffers of requests that a thread keeps.
const MOST_SPARE: usize = 64;
/// Capacity of the largest buffer that is kept.
const MOST_SPARE_BYTES: usize = 64 * 1024;

thread_local! {
    static READ: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into_boxed_slice());
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Lends the thread's read buffer to `read`. What was read must be used up when it returns.
///
/// # Panics
/// When `read` asks for the buffer again.
pub fn with_read_buffer<T>(read: impl FnOnce(&mut [u8]) -> T) -> T {
    READ.with_borrow_mut(|buffer| read(buffer))
}

/// Bytes to send. Dropped, its memory serves the next one of this thread.
pub struct Buffer(Vec<u8>);

/// Shows the length alone: a request may hold a secret.
impl Debug for Buffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Buffer").field(&self.len()).finish()
    }
}

impl Buffer {
    /// An empty one.
    pub fn take() -> Self {
        Self(SPARE.with_borrow_mut(Vec::pop).unwrap_or_default())
    }
}

impl Deref for Buffer {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.0);
        if bytes.capacity() == 0 || bytes.capacity() > MOST_SPARE_BYTES {
            return;
        }
        bytes.clear();
        // A thread that ends may have lost its buffers already.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < MOST_SPARE {
                spare.push(bytes);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_and_holds_nothing() {
        let mut first = Buffer::take();
        first.extend_from_slice(b"GET / HTTP/1.1\r\n");
        let memory = first.as_ptr();
        drop(first);
        let second = Buffer::take();
        assert_eq!((second.as_ptr(), second.len()), (memory, 0));
        assert_ne!(Buffer::take().as_ptr(), memory);
    }

    #[test]
    fn neither_many_nor_large_buffers_are_kept() {
        let many: Vec<Buffer> = (0..=MOST_SPARE)
            .map(|_| {
                let mut buffer = Buffer::take();
                buffer.push(0);
                buffer
            })
            .collect();
        drop(many);
        let mut large = Buffer::take();
        large.reserve(MOST_SPARE_BYTES + 1);
        drop(large);
        let kept = SPARE.with_borrow(Vec::len);
        assert_eq!(kept, MOST_SPARE - 1);
    }
}
