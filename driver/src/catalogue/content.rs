//! What a file holds: its name, its version, and bytes that follow from both and the seed.
//!
//! The bytes are a piece of a block of random ones, so that they cost no more than a copy and do not
//! compress within a file. Python's check makes the same (`workloads/storage/catalogue_files.py`).

use super::home::FileId;
use crate::random::mix;

/// Smallest size of a file, in bytes.
pub const LEAST_BYTES: u64 = 256;
/// Largest size of a file, in bytes.
pub const MOST_BYTES: u64 = 8192;
/// Of the random block.
const BLOCK_BYTES: u64 = 1 << 20;
/// Of the line at the beginning of each file: `LSC1 HOME FILE VERSION`, in eight hexadecimal digits each.
pub const HEADER_BYTES: usize = 32;

/// The bytes of all files of a seed.
#[derive(Debug)]
pub struct Contents {
    seed: u64,
    block: Vec<u8>,
}

impl Contents {
    /// Of `seed`.
    pub fn new(seed: u64) -> Self {
        let first = mix(seed);
        let words = (0..BLOCK_BYTES / 8).map(|index| mix(first.wrapping_add(index)));
        Self {
            seed,
            block: words.flat_map(u64::to_le_bytes).collect(),
        }
    }

    /// Writes the content of a version of a file into `buffer`, in the place of what is there.
    pub fn write(&self, id: FileId, version: u32, buffer: &mut Vec<u8>) {
        buffer.clear();
        let FileId { home, file } = id;
        buffer.extend_from_slice(format!("LSC1 {home:08x} {file:08x} {version:08x}\n").as_bytes());
        buffer.extend_from_slice(self.tail(id, version));
    }

    /// The version of `id` that `bytes` are; `None` if they are no whole one.
    pub fn version(&self, id: FileId, bytes: &[u8]) -> Option<u32> {
        let (header, tail) = bytes.split_at_checked(HEADER_BYTES)?;
        let words = std::str::from_utf8(header).ok()?.strip_prefix("LSC1 ")?;
        let mut words = words.strip_suffix('\n')?.split(' ');
        let mut number = || u32::from_str_radix(words.next()?, 16).ok();
        let (home, file, version) = (number()?, number()?, number()?);
        let whole = FileId { home, file } == id && tail == self.tail(id, version);
        whole.then_some(version)
    }

    fn tail(&self, id: FileId, version: u32) -> &[u8] {
        let FileId { home, file } = id;
        let words = [home, file, version].map(u64::from);
        let drawn = words
            .iter()
            .fold(mix(self.seed), |state, word| mix(state ^ word));
        let size = LEAST_BYTES + (drawn & 0xffff_ffff) % (MOST_BYTES - LEAST_BYTES + 1);
        let begin = ((drawn >> 32) % (BLOCK_BYTES - MOST_BYTES)) as usize;
        &self.block[begin..begin + size as usize - HEADER_BYTES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_whole_file_is_known_and_a_torn_one_is_not(
            home: u32, file: u32, version in 0_u32..u32::MAX, cut in any::<prop::sample::Index>(),
        ) {
            let contents = Contents::new(7);
            let id = FileId { home, file };
            let (mut bytes, mut next) = (Vec::new(), Vec::new());
            contents.write(id, version, &mut bytes);
            contents.write(id, version + 1, &mut next);
            prop_assert!((256..=8192).contains(&bytes.len()));
            prop_assert_eq!(contents.version(id, &bytes), Some(version));
            let other = FileId { home, file: file.wrapping_add(1) };
            prop_assert_eq!(contents.version(other, &bytes), None);
            let cut = cut.index(bytes.len());
            prop_assert_eq!(contents.version(id, &bytes[..cut]), None);
            bytes[cut] ^= 1;
            prop_assert_eq!(contents.version(id, &bytes), None);
            bytes[cut] ^= 1;
            let mixed = [&next[..HEADER_BYTES], &bytes[HEADER_BYTES..]].concat();
            prop_assert_eq!(contents.version(id, &mixed), None);
        }
    }

    /// `tests/unit/test_catalogue_files.py` has the same figures.
    #[test]
    fn a_file_has_the_bytes_that_python_expects() {
        let mut bytes = Vec::new();
        Contents::new(42).write(FileId { home: 3, file: 1 }, 2, &mut bytes);
        let sum: u64 = bytes.iter().map(|byte| u64::from(*byte)).sum();
        assert_eq!((bytes.len(), sum), (7319, 939_901));
    }
}
