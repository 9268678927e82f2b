//! Fields that several tables have.

use rand::RngExt;

use super::row::{RowWriter, Timestamp};
use crate::oltp::random::{Stream, fill_alphanumeric, fill_capitals, fill_digits};

/// The day of all loaded rows, 2025-01-01.
pub const LOADED_AT: Timestamp = Timestamp::of_day(20_089);

const ORIGINAL: &[u8] = b"ORIGINAL";

/// A string of letters and digits, `from` to `to` long.
pub fn alphanumeric(row: &mut impl RowWriter, rng: &mut Stream, from: usize, to: usize) {
    let length = rng.random_range(from..=to);
    row.text_with(length, |room| fill_alphanumeric(rng, room));
}

/// Two streets, city, state and zip (clause 4.3.2.7 for the zip).
pub fn address(row: &mut impl RowWriter, rng: &mut Stream) {
    alphanumeric(row, rng, 10, 20);
    alphanumeric(row, rng, 10, 20);
    alphanumeric(row, rng, 10, 20);
    row.text_with(2, |room| fill_capitals(rng, room));
    row.text_with(9, |room| {
        fill_digits(rng, &mut room[..4]);
        room[4..].fill(b'1');
    });
}

/// `i_data` and `s_data`: 26 to 50 characters, with "ORIGINAL" somewhere in a chosen row.
pub fn data(row: &mut impl RowWriter, rng: &mut Stream, original: bool) {
    let length = rng.random_range(26..=50);
    let position = rng.random_range(0..=length - ORIGINAL.len());
    row.text_with(length, |room| {
        fill_alphanumeric(rng, room);
        if original {
            room[position..position + ORIGINAL.len()].copy_from_slice(ORIGINAL);
        }
    });
}
