//! A die that falls the same way for a seed, on every machine.

/// A die of the xorshift family.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let sides = u64::try_from(sides.max(1)).unwrap_or(1);
        usize::try_from((self.0 >> 11) % sides).unwrap_or(0)
    }

    /// Returns one of these.
    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        from.get(self.roll(from.len())).cloned()
    }
}
