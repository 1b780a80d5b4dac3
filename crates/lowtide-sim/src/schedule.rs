//! The schedule of what happens next.
//!
//! Everything that can happen has a fixed *slot*: a link's departure, the head of a delay line, a
//! sender's timer. Packets need no entry of their own, because delay lines are sorted. There are
//! therefore a few slots per flow, however much is in flight.
//!
//! Slots play a tournament: each node of a tree has the least time of eight slots or nodes. A heap
//! moves entries about, and what it compares is unforeseeable; here each node on the way from a slot
//! to the root is one cache line and takes its least time without a branch, and most changes of
//! late times end at the first of them.

use std::slice;

use lowtide_cc::units::Time;

/// Children of a node: their times are a cache line.
const ARITY: usize = 8;

/// A slot that is idle.
const IDLE: Time = Time::MAX;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Node([Time; ARITY]);

impl Node {
    #[inline]
    fn least(&self) -> Time {
        let [a, b, c, d, e, f, g, h] = self.0;
        let (ab, cd, ef, gh) = (a.min(b), c.min(d), e.min(f), g.min(h));
        ab.min(cd).min(ef.min(gh))
    }

    /// The first child of the least time.
    #[inline]
    fn winner(&self) -> (Time, usize) {
        let first = |x: (Time, usize), y: (Time, usize)| if y.0 < x.0 { y } else { x };
        let [a, b, c, d, e, f, g, h] = self.0;
        let (ab, cd) = (first((a, 0), (b, 1)), first((c, 2), (d, 3)));
        let (ef, gh) = (first((e, 4), (f, 5)), first((g, 6), (h, 7)));
        first(first(ab, cd), first(ef, gh))
    }
}

/// Times by slot; of two slots at the same time the lower number comes first.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// The top of the tree. Where there are few slots it is all of it.
    root: Node,
    /// What is below, by level: first the slots' times, then the least of each node, and so on.
    nodes: Vec<Node>,
    /// The first node of each level below the root.
    levels: Vec<u32>,
    /// The next event; [`IDLE`]: there is none.
    next: (Time, u32),
}

impl Schedule {
    /// A schedule of `slots` slots, all idle.
    pub(crate) fn new(slots: usize) -> Self {
        let mut levels = Vec::new();
        let mut nodes = 0;
        let mut width = slots;
        while width > ARITY {
            levels.push(nodes as u32);
            width = width.div_ceil(ARITY);
            nodes += width;
        }
        Self {
            root: Node([IDLE; ARITY]),
            nodes: vec![Node([IDLE; ARITY]); nodes],
            levels,
            next: (IDLE, 0),
        }
    }

    /// The next event.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(Time, u32)> {
        (self.next.0 != IDLE).then_some(self.next)
    }

    /// All that is scheduled, in no particular order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Time, u32)> {
        let nodes = match *self.levels {
            [] => slice::from_ref(&self.root),
            [_] => &self.nodes[..],
            [_, second, ..] => &self.nodes[..second as usize],
        };
        let times = nodes.iter().flat_map(|node| node.0).zip(0..);
        times.filter(|(at, _)| *at != IDLE)
    }

    #[inline]
    fn time_of(&self, slot: u32) -> Time {
        let slot = slot as usize;
        let node = match self.levels.is_empty() {
            true => &self.root,
            false => &self.nodes[slot / ARITY],
        };
        node.0[slot % ARITY]
    }

    /// Sets the time of a slot, replacing any earlier one; [`Time::MAX`] makes it idle.
    #[inline]
    pub(crate) fn set(&mut self, slot: u32, time: Time) {
        if !self.levels.is_empty() {
            return self.set_below_root(slot, time);
        }
        self.root.0[slot as usize % ARITY] = time;
        self.note_next(slot, time, |schedule| {
            let (time, slot) = schedule.root.winner();
            (time, slot as u32)
        });
    }

    // Behind a call, so that where the root is all there is little to do.
    #[inline(never)]
    fn set_below_root(&mut self, slot: u32, time: Time) {
        self.note(slot, time);
        self.note_next(slot, time, Self::first);
    }

    /// Finds out what is next now that a slot's time has changed.
    #[inline]
    fn note_next(&mut self, slot: u32, time: Time, first: impl FnOnce(&Self) -> (Time, u32)) {
        if (time, slot) < self.next {
            self.next = (time, slot);
        } else if slot == self.next.1 {
            self.next = first(self);
        }
    }

    /// Notes a slot's time in its node, and the node's least time in those above as far as it changes.
    #[inline]
    fn note(&mut self, slot: u32, time: Time) {
        let (mut at, mut least) = (slot as usize, time);
        for level in &self.levels {
            let node = &mut self.nodes[*level as usize + at / ARITY];
            if node.0[at % ARITY] == least {
                return;
            }
            node.0[at % ARITY] = least;
            least = node.least();
            at /= ARITY;
        }
        self.root.0[at % ARITY] = least;
    }

    /// The least slot of the least time.
    #[inline]
    fn first(&self) -> (Time, u32) {
        let mut first = self.root.winner();
        for level in self.levels.iter().rev() {
            let (time, child) = self.nodes[*level as usize + first.1].winner();
            first = (time, first.1 * ARITY + child);
        }
        (first.0, first.1 as u32)
    }

    /// Makes sure that the slot fires no later than `time`. An earlier entry stays: timers that
    /// move away with every packet then cost nothing: they fire early once and are set anew.
    #[inline]
    pub(crate) fn set_no_later(&mut self, slot: u32, time: Time) {
        if time < self.time_of(slot) {
            self.set(slot, time);
        }
    }

    /// Makes a slot idle.
    #[inline]
    pub(crate) fn clear(&mut self, slot: u32) {
        self.set(slot, IDLE);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_sorted_map(
            slots in prop::sample::select(vec![6_u32, 8, 9, 64, 100]),
            ops in prop::collection::vec((0_u32..100, prop::option::of(0_u64..50), any::<bool>()), 1..300)
        ) {
            let mut schedule = Schedule::new(slots as usize);
            let mut model = std::collections::BTreeMap::new();
            for (slot, time, lazy) in ops {
                let slot = slot % slots;
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
                prop_assert_eq!(schedule.entries().map(|(_, slot)| slot).collect::<Vec<_>>(), model.keys().copied().collect::<Vec<_>>());
            }
        }
    }
}
