//! What a command gave.

use super::Error;
use super::wire::Fields;

/// `SERVER_MORE_RESULTS_EXISTS`
const MORE_RESULTS: u16 = 8;

/// Counts of one command; of one with several results (CALL) their sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answer {
    /// Rows that it returned.
    pub rows: u64,
    /// Rows that it changed or, for UPDATE, found.
    pub affected: u64,
    /// Warnings.
    pub warnings: u64,
}

impl Answer {
    /// Adds what an OK packet, or the one that ends rows, says; returns whether another result follows.
    ///
    /// # Errors
    /// A protocol error if it is too short.
    #[inline]
    pub(super) fn add(&mut self, body: &[u8]) -> Result<bool, Error> {
        let mut fields = Fields::new(body);
        fields.fixed::<1>()?;
        self.affected += fields.length()?;
        fields.length()?;
        let status = fields.u16()?;
        self.warnings += u64::from(fields.u16()?);
        Ok(status & MORE_RESULTS != 0)
    }
}
