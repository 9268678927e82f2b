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
    /// The way that it took last, by number of the choice.
    ways: Box<[Option<u16>]>,
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
            ways: Box::default(),
        }
    }

    /// The same with `choices` choices to make, of which it made none yet.
    #[must_use]
    pub fn with_choices(mut self, choices: usize) -> Self {
        self.ways = vec![None; choices].into();
        self
    }

    /// Its number.
    pub fn user(&self) -> u32 {
        self.user
    }

    /// Which of `count` ways it takes: another one if it `draws`, else the one that it took last.
    pub fn choose(&mut self, choice: usize, count: usize, draws: bool) -> usize {
        if draws || self.ways[choice].is_none() {
            self.ways[choice] = Some(self.random.below(count) as u16);
        }
        self.chosen(choice)
    }

    /// The way that it took last; the first if it took none.
    pub fn chosen(&self, choice: usize) -> usize {
        self.ways[choice].unwrap_or_default().into()
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
            Source::Extracted(slot) | Source::Picked(slot) => {
                let value = self.values[slot].as_ref();
                value.ok_or(source.missing())?.shown()
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
            Pick::Random => self.random.below(count),
        })
    }
}
