//! A number with a fixed number of decimals.

/// `unscaled` / 10^`scale`; `scale` is at most 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// The value without its decimal point.
    pub unscaled: i64,
    /// Digits behind the point.
    pub scale: u8,
}

impl Decimal {
    /// An amount of money given in cents.
    pub fn cents(unscaled: i64) -> Self {
        Self { unscaled, scale: 2 }
    }

    /// A rate given in ten-thousandths.
    pub fn ten_thousandths(unscaled: i64) -> Self {
        Self { unscaled, scale: 4 }
    }
}
