//! Random numbers: seeded streams and the distributions that schedules and workloads draw from.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers, reproducible from its seed.
#[derive(Debug, Clone)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream `stream` of `seed`; streams of one seed do not resemble each other.
    pub fn new(seed: u64, stream: u64) -> Self {
        // The golden ratio's bits spread consecutive numbers; seed_from_u64 mixes them further.
        Self(Xoshiro256PlusPlus::seed_from_u64(
            seed ^ stream.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        ))
    }

    /// A stream that begins where this one stands, which itself jumps 2^128 numbers ahead.
    #[must_use]
    pub fn split(&mut self) -> Self {
        let here = self.clone();
        self.0.jump();
        here
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0.random()
    }

    /// Uniform among the whole numbers below `count`, of which there is at least one.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.unit() * count as f64) as usize).min(count - 1)
    }

    /// Negative-exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Standard normal, by the method of Box and Muller (1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// The finaliser of SplitMix64: neighbouring inputs give unrelated outputs.
pub fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A choice among weighted items, by their position.
#[derive(Debug, Clone)]
pub struct Weights(Box<[f64]>);

impl Weights {
    /// Cumulates `weights`; `None` unless there is one or more and all are finite and above 0.
    pub fn new(weights: &[f64]) -> Option<Self> {
        let mut sum = 0.0;
        let ends = weights.iter().map(|weight| {
            sum += weight;
            sum
        });
        let ends: Box<[f64]> = ends.collect();
        let sound = weights.iter().all(|weight| *weight > 0.0) && sum.is_finite() && sum > 0.0;
        sound.then_some(Self(ends))
    }

    /// Draws a position.
    pub fn draw(&self, random: &mut Random) -> usize {
        let last = self.0.len() - 1;
        if last == 0 {
            return 0;
        }
        let point = random.unit() * self.0[last];
        self.0.partition_point(|end| *end <= point).min(last)
    }
}
