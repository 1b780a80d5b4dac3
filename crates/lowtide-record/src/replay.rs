//! Each number once.

/// How far behind the newest a number may come.
const WINDOW: u32 = 1 << 15;

/// Which numbers have come, of the newest 32,768.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    /// One more than the highest number.
    next: u32,
    seen: Box<[u64]>,
}

impl Default for Replay {
    fn default() -> Self {
        Self {
            next: 0,
            seen: vec![0; (WINDOW / 64) as usize].into(),
        }
    }
}

impl Replay {
    /// Whether a number comes for the first time. What is too old to tell does not.
    pub(crate) fn is_new(&mut self, number: u32) -> bool {
        let (word, bit) = ((number % WINDOW / 64) as usize, 1 << (number % 64));
        if number < self.next {
            if self.next - number > WINDOW || self.seen[word] & bit != 0 {
                return false;
            }
        } else if number - self.next >= WINDOW {
            self.seen.fill(0);
            self.next = number.saturating_add(1);
        } else {
            for passed in self.next..number {
                self.seen[(passed % WINDOW / 64) as usize] &= !(1 << (passed % 64));
            }
            self.next = number.saturating_add(1);
        }
        self.seen[word] |= bit;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_number_counts_twice_and_new_ones_do(
            numbers in prop::collection::vec(prop_oneof![0u32..300, 0u32..200_000, any::<u32>()], 0..300)
        ) {
            let mut replay = Replay::default();
            let mut seen = BTreeSet::new();
            for number in numbers {
                let is_recent = seen.last().is_none_or(|top: &u32| top.saturating_sub(number) < WINDOW);
                let is_new = replay.is_new(number);
                prop_assert!(!(is_new && seen.contains(&number)), "{number} twice");
                prop_assert!(is_new || seen.contains(&number) || !is_recent, "{number} was refused");
                seen.insert(number);
            }
        }
    }
}
