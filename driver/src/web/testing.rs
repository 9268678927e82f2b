//! What the tests of this folder share.

use crate::http::{Answer, AnswerReader, Limits};

/// Reads a whole answer.
pub fn answer(text: &str) -> Answer {
    let limits = Limits {
        header_bytes: 65_536,
        body_bytes: 1 << 20,
        inflated_bytes: 1 << 20,
        interim: 1,
    };
    let mut reader = AnswerReader::new(false, &limits);
    let progress = reader.feed(text.as_bytes()).expect("an answer");
    assert!(progress.done && progress.taken == text.len(), "{text}");
    reader.finish()
}
