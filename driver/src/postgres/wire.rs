//! Messages of the server: one byte of kind, four of length (its own included), the body.

use super::Error;
use crate::socket::Incoming;

/// No answer to our statements comes near this; a larger length is not PostgreSQL.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;
const HEADER_BYTES: usize = 5;

/// One message of the server, borrowed from what was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Kind of the message.
    pub tag: u8,
    /// What follows the length.
    pub body: &'a [u8],
}

/// Kind of the next message and all its bytes, when they are there.
#[inline]
fn next_frame(pending: &[u8]) -> Result<Option<(u8, usize)>, Error> {
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
    let count = 1 + length;
    Ok((count <= pending.len()).then_some((header[0], count)))
}

/// Takes the next whole message, if it is there.
///
/// # Errors
/// A protocol error if the length makes no sense.
#[inline]
pub fn next_message(incoming: &mut Incoming) -> Result<Option<Message<'_>>, Error> {
    let frame = next_frame(incoming.pending())?;
    Ok(frame.map(|(tag, count)| Message {
        tag,
        body: incoming.take(HEADER_BYTES, count),
    }))
}

/// Whether [`next_message`] would give a message or an error.
#[inline]
pub fn has_message(incoming: &Incoming) -> bool {
    !matches!(next_frame(incoming.pending()), Ok(None))
}

/// Kind of the next message; only of use after [`has_message`].
#[inline]
pub fn peek_tag(incoming: &Incoming) -> u8 {
    incoming.pending().first().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            let (mut incoming, mut seen, mut left) = (Incoming::default(), Vec::new(), &bytes[..]);
            while !left.is_empty() {
                left = &left[incoming.receive(left, step)..];
                while let Some(message) = next_message(&mut incoming).unwrap() {
                    seen.push((message.tag, message.body.to_vec()));
                }
            }
            prop_assert_eq!(seen, sent);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
            let mut incoming = Incoming::default();
            for part in bytes.chunks(700) {
                incoming.receive(part, part.len());
                while let Ok(Some(_)) = next_message(&mut incoming) {}
            }
        }
    }
}
