//! Sets of numbers as sorted ranges: what a receiver has received, what a sender knows of it.

use smallvec::SmallVec;

/// Numbers `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Range {
    #[inline]
    pub(crate) fn contains(&self, n: u64) -> bool {
        (self.start..self.end).contains(&n)
    }
}

/// A set of numbers. Costs O(1) where numbers come in order, O(log n) in the number of gaps
/// otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    /// Ascending, disjoint and not touching.
    ranges: SmallVec<[Range; 1]>,
}

impl RangeSet {
    #[inline]
    pub(crate) fn as_slice(&self) -> &[Range] {
        &self.ranges
    }

    /// The end of the highest range: one more than the largest number.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.ranges.last().map_or(0, |r| r.end)
    }

    /// The range that a number is in.
    pub(crate) fn range_of(&self, n: u64) -> Option<Range> {
        let at = self.ranges.partition_point(|r| r.end <= n);
        self.ranges.get(at).copied().filter(|r| r.contains(n))
    }

    /// Adds a number; false when it was there.
    #[inline]
    pub(crate) fn insert(&mut self, n: u64) -> bool {
        match self.ranges.last_mut() {
            Some(last) if last.end == n => {
                last.end = n + 1;
                true
            }
            _ => self.insert_out_of_order(n),
        }
    }

    // Behind a call, so that what comes in order needs none.
    #[inline(never)]
    fn insert_out_of_order(&mut self, n: u64) -> bool {
        let new = Range {
            start: n,
            end: n + 1,
        };
        if self.ranges.last().is_none_or(|last| n > last.end) {
            self.ranges.push(new);
            return true;
        }
        let mut is_new = false;
        self.insert_range(new, |_| is_new = true);
        is_new
    }

    /// Adds a range and reports, in ascending order, the parts of it that were not there.
    #[inline]
    pub(crate) fn insert_range(&mut self, new: Range, mut on_gap: impl FnMut(Range)) {
        if new.start >= new.end {
            return;
        }
        if let Some(last) = self.ranges.last_mut() {
            // In order, the new range overlaps the last one or touches it.
            if new.start >= last.start && new.start <= last.end {
                if new.end > last.end {
                    on_gap(Range {
                        start: last.end,
                        end: new.end,
                    });
                    last.end = new.end;
                }
                return;
            }
        }
        // The ranges from `first` to before `after` overlap or touch the new one.
        let first = self.ranges.partition_point(|r| r.end < new.start);
        let mut after = first;
        let mut merged = new;
        let mut at = new.start;
        while let Some(r) = self.ranges.get(after).filter(|r| r.start <= new.end) {
            if r.start > at {
                on_gap(Range {
                    start: at,
                    end: r.start,
                });
            }
            at = at.max(r.end);
            merged.start = merged.start.min(r.start);
            merged.end = merged.end.max(r.end);
            after += 1;
        }
        if at < new.end {
            on_gap(Range {
                start: at,
                end: new.end,
            });
        }
        if first == after {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..after);
        }
    }

    /// Forgets ranges that end at or below `bound`.
    #[inline]
    pub(crate) fn forget_below(&mut self, bound: u64) {
        if self.ranges.first().is_some_and(|r| r.end <= bound) {
            let gone = self.ranges.partition_point(|r| r.end <= bound);
            self.ranges.drain(..gone);
        }
    }

    /// Keeps the `most` highest ranges and returns the bound below which all is forgotten.
    #[inline]
    pub(crate) fn keep_highest(&mut self, most: usize) -> Option<u64> {
        let excess = self.ranges.len().checked_sub(most).filter(|n| *n > 0)?;
        self.ranges.drain(..excess);
        self.ranges.first().map(|r| r.start)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_set_and_reports_exactly_what_is_new(
            ops in prop::collection::vec((0_u64..60, 0_u64..12), 1..80)
        ) {
            let mut set = RangeSet::default();
            let mut model = BTreeSet::new();
            for (start, len) in ops {
                let mut new = Vec::new();
                if len == 1 {
                    if set.insert(start) {
                        new.push(start);
                    }
                } else {
                    set.insert_range(Range { start, end: start + len }, |r| new.extend(r.start..r.end));
                }
                let expected: Vec<u64> = (start..start + len).filter(|n| model.insert(*n)).collect();
                prop_assert_eq!(new, expected);
                let listed: Vec<u64> = set.as_slice().iter().flat_map(|r| r.start..r.end).collect();
                prop_assert_eq!(listed, model.iter().copied().collect::<Vec<_>>());
                prop_assert!(set.as_slice().windows(2).all(|w| w[0].end < w[1].start));
            }
        }
    }
}
