//! The smallest and the largest of many values.

use serde::{Deserialize, Serialize};

/// Smallest and largest value seen; empty at first. What is not finite is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    min: f32,
    max: f32,
}

impl Default for Envelope {
    fn default() -> Self {
        Self {
            min: f32::INFINITY,
            max: f32::NEG_INFINITY,
        }
    }
}

impl Envelope {
    /// Takes a value.
    #[inline]
    pub fn take(&mut self, value: f64) {
        let value = value as f32;
        if value.is_finite() {
            self.min = self.min.min(value);
            self.max = self.max.max(value);
        }
    }

    /// Takes all that another has seen.
    pub fn merge(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Smallest and largest; `None` when nothing was seen.
    #[must_use]
    pub fn get(&self) -> Option<(f32, f32)> {
        (self.min <= self.max).then_some((self.min, self.max))
    }
}
