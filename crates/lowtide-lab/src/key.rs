//! Names of contents: equal contents have equal keys on every machine.

use std::fmt;
use std::str::FromStr;

/// The first 128 bits of a BLAKE3 hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(u128);

impl Key {
    /// The key of several contents in their order.
    #[must_use]
    pub fn of(contents: &[&[u8]]) -> Self {
        let mut hash = blake3::Hasher::new();
        for content in contents {
            // The length keeps ("ab", "c") and ("a", "bc") apart.
            hash.update(&(content.len() as u64).to_le_bytes());
            hash.update(content);
        }
        let mut first = [0; 16];
        hash.finalize_xof().fill(&mut first);
        Self(u128::from_be_bytes(first))
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
