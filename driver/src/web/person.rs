//! What belongs to one user: its number, its random numbers and the values that it has extracted.

use std::fmt::{Debug, Formatter};
use std::time::{SystemTime, UNIX_EPOCH};

use super::encoding::Encoding;
use super::names::Source;
use super::people::People;
use super::scenario::Pick;
use super::value::{Kept, Shown};
use crate::random::Random;

/// A user's own state.
pub struct Person {
    user: u32,
    random: Random,
    /// By slot.
    values: Box<[Option<Kept>]>,
}

impl Debug for Person {
    /// Values may be tokens.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Person")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Person {
    /// User `user`, who has extracted none of `slots` values; what it draws comes from `random`.
    pub fn new(user: u32, random: Random, slots: usize) -> Self {
        Self {
            user,
            random,
            values: vec![None; slots].into(),
        }
    }

    /// Its random numbers.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Keeps an extracted value, in place of the one before.
    pub fn keep(&mut self, slot: usize, value: Kept) {
        self.values[slot] = Some(value);
    }

    /// Appends a value to `out` as `encoding` writes it.
    ///
    /// # Errors
    /// Why it cannot, in words that follow the name of the value.
    pub fn write(
        &mut self,
        source: Source,
        encoding: Encoding,
        people: Option<&People>,
        out: &mut String,
    ) -> Result<(), &'static str> {
        let drawn;
        let shown = match source {
            Source::Column(column) => {
                let cell = people.map(|people| people.cell(self.user, column));
                Shown::Text(cell.unwrap_or_default())
            }
            Source::Extracted(slot) => {
                let value = self.values[slot].as_ref();
                value
                    .ok_or("was not extracted yet when it was used")?
                    .shown()
            }
            Source::User => {
                drawn = self.user.to_string();
                Shown::Text(&drawn)
            }
            Source::Unique => {
                drawn = format!("{:08x}{:08x}", self.draw(), self.draw());
                Shown::Text(&drawn)
            }
            Source::NowMs => {
                let since_1970 = SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or_default();
                drawn = since_1970.as_millis().to_string();
                Shown::Text(&drawn)
            }
        };
        encoding.write(shown, out)
    }

    /// 32 random bits.
    fn draw(&mut self) -> u32 {
        (self.random.unit() * (f64::from(u32::MAX) + 1.0)) as u32
    }

    /// The position that `pick` takes of `count` values; nothing of none. A list of all is made elsewhere.
    pub fn pick(&mut self, pick: Pick, count: usize) -> Option<usize> {
        let last = count.checked_sub(1)?;
        Some(match pick {
            Pick::First | Pick::All => 0,
            Pick::Last => last,
            Pick::Random => ((self.random.unit() * count as f64) as usize).min(last),
        })
    }
}
