//! The heap of what happens next.
//!
//! Everything that can happen has a fixed *slot*: a link's departure, the head of a delay line, a
//! sender's timer. Packets need no entry of their own, because delay lines are sorted. The heap
//! therefore holds a few entries per flow, however much is in flight.

use lowtide_cc::units::Time;

/// Children of a node. Four keep the tree flat and a node's children in one cache line.
const ARITY: usize = 4;
const ABSENT: u32 = u32::MAX;

/// An indexed heap of (time, slot); of two slots at the same time the lower number comes first.
#[derive(Debug)]
pub(crate) struct Schedule {
    heap: Vec<(Time, u32)>,
    position: Vec<u32>,
}

impl Schedule {
    /// A schedule of `slots` slots, all idle.
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            heap: Vec::with_capacity(slots),
            position: vec![ABSENT; slots],
        }
    }

    /// The next event.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(Time, u32)> {
        self.heap.first().copied()
    }

    /// All that is scheduled, in no particular order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Time, u32)> {
        self.heap.iter().copied()
    }

    /// Sets the time of a slot, replacing any earlier one.
    #[inline]
    pub(crate) fn set(&mut self, slot: u32, time: Time) {
        let at = self.position[slot as usize];
        if at == ABSENT {
            self.heap.push((time, slot));
            self.sift_up(self.heap.len() - 1);
        } else {
            let at = at as usize;
            let earlier = (time, slot) < self.heap[at];
            self.heap[at].0 = time;
            if earlier {
                self.sift_up(at);
            } else {
                self.sift_down(at);
            }
        }
    }

    /// Makes sure that the slot fires no later than `time`. An earlier entry stays: timers that
    /// move away with every packet then cost nothing: they fire early once and are set anew.
    #[inline]
    pub(crate) fn set_no_later(&mut self, slot: u32, time: Time) {
        let at = self.position[slot as usize];
        if at == ABSENT || time < self.heap[at as usize].0 {
            self.set(slot, time);
        }
    }

    /// Makes a slot idle.
    #[inline]
    pub(crate) fn clear(&mut self, slot: u32) {
        let at = self.position[slot as usize];
        if at == ABSENT {
            return;
        }
        self.position[slot as usize] = ABSENT;
        let at = at as usize;
        let last = self.heap.pop().expect("an entry is present");
        if at < self.heap.len() {
            let earlier = last < self.heap[at];
            self.heap[at] = last;
            self.position[last.1 as usize] = at as u32;
            if earlier {
                self.sift_up(at);
            } else {
                self.sift_down(at);
            }
        }
    }

    fn sift_up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.place(at, self.heap[parent]);
            at = parent;
        }
        self.place(at, entry);
    }

    fn sift_down(&mut self, mut at: usize) {
        let entry = self.heap[at];
        loop {
            let first = at * ARITY + 1;
            if first >= self.heap.len() {
                break;
            }
            let end = (first + ARITY).min(self.heap.len());
            let mut least = first;
            for child in first + 1..end {
                if self.heap[child] < self.heap[least] {
                    least = child;
                }
            }
            if entry <= self.heap[least] {
                break;
            }
            self.place(at, self.heap[least]);
            at = least;
        }
        self.place(at, entry);
    }

    #[inline]
    fn place(&mut self, at: usize, entry: (Time, u32)) {
        self.heap[at] = entry;
        self.position[entry.1 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_sorted_map(
            ops in prop::collection::vec((0_u32..20, prop::option::of(0_u64..50), any::<bool>()), 1..300)
        ) {
            let mut schedule = Schedule::new(20);
            let mut model = std::collections::BTreeMap::new();
            for (slot, time, lazy) in ops {
                match time.map(Time::from_nanos) {
                    Some(t) if lazy => {
                        schedule.set_no_later(slot, t);
                        model.entry(slot).and_modify(|e: &mut Time| *e = t.min(*e)).or_insert(t);
                    }
                    Some(t) => {
                        schedule.set(slot, t);
                        model.insert(slot, t);
                    }
                    None => {
                        schedule.clear(slot);
                        model.remove(&slot);
                    }
                }
                let expected = model.iter().map(|(s, t)| (*t, *s)).min();
                prop_assert_eq!(schedule.peek(), expected);
            }
        }
    }
}
