//! Numbers of a plot in few characters.
//!
//! Half-precision numbers in Base64 take 2.7 characters each; three digits in JSON take five and
//! more. A half has 11 significant bits, 0.05 %, finer than any screen.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use half::f16;
use serde::Serialize;

/// Values one bin apart, each divided by `scale`; NaN where there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Series {
    scale: f64,
    /// Little-endian halves in Base64.
    v: String,
}

impl Series {
    pub(super) fn new(values: impl Iterator<Item = Option<f64>>) -> Self {
        let values: Vec<Option<f64>> = values.map(|v| v.filter(|v| v.is_finite())).collect();
        Self::scaled(&values, largest(values.iter().copied()))
    }

    fn scaled(values: &[Option<f64>], scale: f64) -> Self {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|v| f16::from_f64(v.map_or(f64::NAN, |v| v / scale)).to_le_bytes())
            .collect();
        Self {
            scale,
            v: STANDARD.encode(bytes),
        }
    }
}

/// Largest magnitude; 1 where all are zero.
fn largest(values: impl Iterator<Item = Option<f64>>) -> f64 {
    let most = values.flatten().fold(0.0_f64, |most, v| most.max(v.abs()));
    if most > 0.0 { most } else { 1.0 }
}

/// Smallest and largest values of each bin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Band {
    lo: Series,
    hi: Series,
}

impl Band {
    /// `None` when there is no value at all.
    pub(super) fn new(extents: impl Iterator<Item = Option<(f32, f32)>>) -> Option<Self> {
        let (lo, hi): (Vec<Option<f64>>, Vec<Option<f64>>) = extents
            .map(|e| e.map(|(lo, hi)| (f64::from(lo), f64::from(hi))).unzip())
            .unzip();
        if hi.iter().all(Option::is_none) {
            return None;
        }
        let scale = largest(lo.iter().chain(&hi).copied());
        Some(Self {
            lo: Series::scaled(&lo, scale),
            hi: Series::scaled(&hi, scale),
        })
    }
}

/// How often something happened in each bin: for each bin in which it did, the bin's number
/// (16 bits, little-endian) and the count, at most 255, in Base64.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Counts(String);

impl Counts {
    pub(super) fn new(counts: impl Iterator<Item = u32>) -> Self {
        let bytes: Vec<u8> = counts
            .zip(0_u16..)
            .filter(|(count, _)| *count > 0)
            .flat_map(|(count, bin)| {
                let [low, high] = bin.to_le_bytes();
                [low, high, count.min(255) as u8]
            })
            .collect();
        Self(STANDARD.encode(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_name_their_bins() {
        let mut counts = vec![0; 1000];
        (counts[3], counts[700]) = (2, 9_999);
        let Counts(text) = Counts::new(counts.into_iter());
        // 700 is 2 · 256 + 188.
        assert_eq!(STANDARD.decode(text).unwrap(), [3, 0, 2, 188, 2, 255]);
    }

    #[test]
    fn three_digits_survive_and_what_is_missing_stays_missing() {
        let series = Series::new([Some(16_384.0), None, Some(40.0), Some(f64::NAN)].into_iter());
        let bytes = STANDARD.decode(&series.v).unwrap();
        let decoded: Vec<f64> = bytes
            .chunks(2)
            .map(|b| f16::from_le_bytes([b[0], b[1]]).to_f64() * series.scale)
            .collect();
        assert_eq!(decoded[0], 16_384.0);
        assert!(decoded[1].is_nan() && decoded[3].is_nan());
        assert!((decoded[2] - 40.0).abs() < 0.02, "{}", decoded[2]);
    }
}
