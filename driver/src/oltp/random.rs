//! Random values of order entry (TPC-C rev 5.11, clauses 2.1.5, 2.1.6 and 4.3.2).

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::random::mix;

/// The generator of all draws: small, fast, and the same on every machine.
pub type Stream = Xoshiro256PlusPlus;

/// What a stream of draws is for; streams of different purposes never meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// What a user does.
    User = 1,
    /// The run's constants of NURand.
    Constants,
    /// Rows of `item`.
    Item,
    /// Rows of `warehouse`.
    Warehouse,
    /// Rows of `district`.
    District,
    /// Rows of `customer`.
    Customer,
    /// Rows of `history`.
    History,
    /// Rows of `stock`.
    Stock,
    /// Rows of `orders`.
    Order,
    /// Rows of `order_line`.
    OrderLine,
}

/// The stream of draws for `purpose` number `index` under `seed`.
pub fn stream(seed: u64, purpose: Purpose, index: u64) -> Stream {
    let state = mix(mix(mix(seed) ^ purpose as u64) ^ index);
    Stream::seed_from_u64(state)
}

/// NURand's constant for last names when data is loaded, the same for every database.
pub const LOAD_C_LAST: u32 = 157;

/// A of NURand for last names.
pub const A_LAST: u32 = 255;
/// A of NURand for customers.
pub const A_CUSTOMER: u32 = 1023;
/// A of NURand for items.
pub const A_ITEM: u32 = 8191;

/// C of NURand by field, the same for all users of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// C for `c_last`.
    pub last: u32,
    /// C for `c_id`.
    pub customer: u32,
    /// C for `ol_i_id`.
    pub item: u32,
}

impl Constants {
    /// Draws the constants of a run.
    ///
    /// Clause 2.1.6.1: the distance of `c_last`'s constant from that of the load lies in 65..=119
    /// and is neither 96 nor 112.
    pub fn draw(seed: u64) -> Self {
        let mut stream = stream(seed, Purpose::Constants, 0);
        let allowed = |last: &u32| is_allowed(*last);
        let count = (0..=A_LAST).filter(allowed).count();
        let nth = stream.random_range(0..count);
        Self {
            last: (0..=A_LAST)
                .filter(allowed)
                .nth(nth)
                .unwrap_or(LOAD_C_LAST - 65),
            customer: stream.random_range(0..=A_CUSTOMER),
            item: stream.random_range(0..=A_ITEM),
        }
    }
}

fn is_allowed(last: u32) -> bool {
    let distance = last.abs_diff(LOAD_C_LAST);
    (65..=119).contains(&distance) && distance != 96 && distance != 112
}

/// Non-uniform random number in `from..=to` (clause 2.1.6).
pub fn nu_rand(rng: &mut impl Rng, a: u32, c: u32, from: u32, to: u32) -> u32 {
    let mixed = rng.random_range(0..=a) | rng.random_range(from..=to);
    (mixed + c) % (to - from + 1) + from
}

const SYLLABLES: [&[u8]; 10] = [
    b"BAR", b"OUGHT", b"ABLE", b"PRI", b"PRES", b"ESE", b"ANTI", b"CALLY", b"ATION", b"EING",
];

/// A last name; at most 16 letters, kept in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastName {
    letters: [u8; 16],
    length: u8,
}

impl LastName {
    /// The name of a number in 0..=999: one syllable a digit (clause 4.3.2.3).
    pub fn of(number: u32) -> Self {
        let mut name = Self {
            letters: [0; 16],
            length: 0,
        };
        for digit in [number / 100 % 10, number / 10 % 10, number % 10] {
            let syllable = SYLLABLES[digit as usize];
            let start = usize::from(name.length);
            name.letters[start..start + syllable.len()].copy_from_slice(syllable);
            name.length += syllable.len() as u8;
        }
        name
    }

    /// Its letters.
    pub fn as_bytes(&self) -> &[u8] {
        &self.letters[..usize::from(self.length)]
    }

    /// Its letters as a string.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

const ALPHANUMERIC: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Fills `room` with letters and digits (an a-string, clause 4.3.2.2).
pub fn fill_alphanumeric(rng: &mut impl Rng, room: &mut [u8]) {
    fill_from(rng, room, ALPHANUMERIC);
}

/// Fills `room` with digits (an n-string, clause 4.3.2.2).
pub fn fill_digits(rng: &mut impl Rng, room: &mut [u8]) {
    fill_from(rng, room, b"0123456789");
}

/// Fills `room` with capital letters.
pub fn fill_capitals(rng: &mut impl Rng, room: &mut [u8]) {
    fill_from(rng, room, &ALPHANUMERIC[..26]);
}

/// Four characters a draw: 16 bits each, scaled to the alphabet.
fn fill_from(rng: &mut impl Rng, room: &mut [u8], alphabet: &[u8]) {
    for part in room.chunks_mut(4) {
        let mut bits = rng.next_u64();
        for byte in part {
            *byte = alphabet[((bits & 0xffff) as usize * alphabet.len()) >> 16];
            bits >>= 16;
        }
    }
}

/// Marks exactly `wanted` of `total` rows, each set of them equally likely
/// (selection sampling, Knuth, The Art of Computer Programming 2, algorithm 3.4.2 S).
#[derive(Debug, Clone, Copy)]
pub struct Selection {
    wanted: u32,
    left: u32,
}

impl Selection {
    /// A tenth of `total` rows.
    pub fn tenth(total: u32) -> Self {
        Self {
            wanted: total / 10,
            left: total,
        }
    }

    /// Whether the next row is one of them.
    pub fn next(&mut self, rng: &mut impl Rng) -> bool {
        let chosen = self.left > 0 && rng.random_range(0..self.left) < self.wanted;
        self.left = self.left.saturating_sub(1);
        self.wanted -= u32::from(chosen);
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_the_specification() {
        assert_eq!(LastName::of(0).as_str(), "BARBARBAR");
        assert_eq!(LastName::of(371).as_str(), "PRICALLYOUGHT");
        assert_eq!(LastName::of(40).as_str(), "BARPRESBAR");
        assert_eq!(LastName::of(888).as_str(), "ATIONATIONATION");
        assert_eq!(LastName::of(777).as_str(), "CALLYCALLYCALLY");
    }

    #[test]
    fn all_names_differ() {
        let names: std::collections::HashSet<_> = (0..1000)
            .map(|n| LastName::of(n).as_str().to_owned())
            .collect();
        assert_eq!(names.len(), 1000);
    }

    #[test]
    fn nu_rand_prefers_numbers_with_many_bits() {
        let mut rng = stream(1, Purpose::User, 0);
        let mut counts = [0_u32; 1000];
        for _ in 0..200_000 {
            counts[nu_rand(&mut rng, A_LAST, 0, 0, 999) as usize] += 1;
        }
        assert!(counts[255] > 8 * counts[256].max(1));
    }

    proptest! {
        #[test]
        fn constants_keep_the_distance(seed in any::<u64>()) {
            let constants = Constants::draw(seed);
            let distance = constants.last.abs_diff(LOAD_C_LAST);
            prop_assert!((65..=119).contains(&distance) && distance != 96 && distance != 112);
            prop_assert!(constants.last <= A_LAST && constants.customer <= A_CUSTOMER && constants.item <= A_ITEM);
            prop_assert_eq!(constants, Constants::draw(seed));
        }

        #[test]
        fn nu_rand_stays_in_its_range(seed in any::<u64>(), c in 0_u32..8192) {
            let mut rng = stream(seed, Purpose::User, 0);
            for _ in 0..100 {
                prop_assert!((1..=3000).contains(&nu_rand(&mut rng, A_CUSTOMER, c, 1, 3000)));
                prop_assert!((1..=100_000).contains(&nu_rand(&mut rng, A_ITEM, c, 1, 100_000)));
                prop_assert!(nu_rand(&mut rng, A_LAST, c, 0, 999) <= 999);
            }
        }

        #[test]
        fn a_selection_is_exact(seed in any::<u64>(), total in 0_u32..2000) {
            let mut rng = stream(seed, Purpose::Stock, 0);
            let mut selection = Selection::tenth(total);
            let chosen = (0..total).filter(|_| selection.next(&mut rng)).count();
            prop_assert_eq!(chosen as u32, total / 10);
        }

        #[test]
        fn streams_differ_by_each_part(seed in any::<u64>(), index in 0_u64..u64::MAX) {
            let first = |mut s: Stream| s.next_u64();
            let base = first(stream(seed, Purpose::Stock, index));
            prop_assert_ne!(base, first(stream(seed, Purpose::Item, index)));
            prop_assert_ne!(base, first(stream(seed, Purpose::Stock, index + 1)));
            prop_assert_ne!(base, first(stream(seed.wrapping_add(1), Purpose::Stock, index)));
        }
    }
}
