//! Names of contents: equal contents have equal keys on every machine.

use std::fmt;
use std::str::FromStr;

/// A 128-bit FNV-1a hash (Fowler, Noll, Vo). Not meant against adversaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(u128);

impl Key {
    /// Offset basis and prime of FNV-1a at 128 bits.
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    /// The key of several contents in their order.
    #[must_use]
    pub fn of(contents: &[&[u8]]) -> Self {
        let mut hash = Self::BASIS;
        let mut take = |byte: u8| {
            hash = (hash ^ u128::from(byte)).wrapping_mul(Self::PRIME);
        };
        for content in contents {
            // The length keeps ("ab", "c") and ("a", "bc") apart.
            (content.len() as u64)
                .to_le_bytes()
                .into_iter()
                .for_each(&mut take);
            content.iter().copied().for_each(&mut take);
        }
        Self(hash)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Not the 32 hexadecimal digits of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoKey;

impl FromStr for Key {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        match text.len() == 32 && text.bytes().all(is_digit) {
            true => u128::from_str_radix(text, 16).map(Self).or(Err(NoKey)),
            false => Err(NoKey),
        }
    }
}
