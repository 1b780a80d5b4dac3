//! Delay lines: things on their way, in the order of their arrival.

use std::collections::{BTreeMap, VecDeque};

use lowtide_cc::units::{Duration, Time};

use crate::schedule::Schedule;

/// Items sorted by arrival time; equal times keep the order of insertion.
#[derive(Debug)]
struct DelayLine<T> {
    items: VecDeque<(Time, T)>,
}

impl<T> DelayLine<T> {
    fn new() -> Self {
        Self {
            items: VecDeque::new(),
        }
    }

    /// Adds an item; true when it became the head. Cheap when items come in order, and as cheap
    /// as the number of overtaken items otherwise.
    #[inline]
    fn push(&mut self, arrival: Time, item: T) -> bool {
        if self.items.back().is_none_or(|(last, _)| *last <= arrival) {
            self.items.push_back((arrival, item));
            return self.items.len() == 1;
        }
        let mut at = self.items.len();
        while at > 0 && self.items[at - 1].0 > arrival {
            at -= 1;
        }
        self.items.insert(at, (arrival, item));
        at == 0
    }
}

/// The delay lines of all flows at one place, each with a slot of the schedule, which stands at its
/// head's arrival. Flows whose packets take equally long share a line, so that there are few of
/// them however many flows there are; packets then mostly join at the end.
#[derive(Debug)]
pub(super) struct Lines<T> {
    lines: Vec<DelayLine<T>>,
    /// Each flow's line.
    line_of: Vec<u32>,
    first_slot: u32,
}

impl<T> Lines<T> {
    /// Lines for flows of these delays; `None`: a line of its own.
    pub(super) fn new(delays: impl Iterator<Item = Option<Duration>>) -> Self {
        let mut known = BTreeMap::new();
        let mut lines = Vec::new();
        let line_of = delays
            .map(|delay| {
                let new = lines.len() as u32;
                let line = match delay {
                    Some(delay) => *known.entry(delay).or_insert(new),
                    None => new,
                };
                if line == new {
                    lines.push(DelayLine::new());
                }
                line
            })
            .collect();
        Self {
            lines,
            line_of,
            first_slot: 0,
        }
    }

    /// Takes a slot for each line from `first` on; returns the first that is still free.
    pub(super) fn take_slots(&mut self, first: u32) -> u32 {
        self.first_slot = first;
        first + self.lines.len() as u32
    }

    /// Adds an item of a flow.
    #[inline]
    pub(super) fn push(&mut self, flow: u32, arrival: Time, item: T, schedule: &mut Schedule) {
        let line = self.line_of[flow as usize];
        if self.lines[line as usize].push(arrival, item) {
            schedule.set(self.first_slot + line, arrival);
        }
    }

    /// Takes the head of the line of `slot`.
    #[inline]
    pub(super) fn pop(&mut self, slot: u32, schedule: &mut Schedule) -> Option<T> {
        let items = &mut self.lines[(slot - self.first_slot) as usize].items;
        let head = items.pop_front();
        match items.front() {
            Some((next, _)) => schedule.set(slot, *next),
            None => schedule.clear(slot),
        }
        head.map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_by_arrival_and_equal_ones_as_they_were_put_whichever_flows_they_are_of() {
        let ms = Duration::from_millis;
        // Flows 0 and 2 share a line, 1 and 3 have their own.
        let delays = [Some(ms(1)), None, Some(ms(1)), None];
        let mut lines = Lines::new(delays.into_iter());
        assert_eq!(lines.take_slots(5), 8);
        let mut schedule = Schedule::new(8);
        for (flow, at, item) in [
            (0, 7, 'b'),
            (2, 9, 'e'),
            (2, 7, 'c'),
            (0, 3, 'a'),
            (0, 7, 'd'),
            (3, 1, 'z'),
            (1, 2, 'y'),
        ] {
            lines.push(flow, Time::from_nanos(at), item, &mut schedule);
        }
        let mut out = Vec::new();
        while let Some((at, slot)) = schedule.peek() {
            let item = lines.pop(slot, &mut schedule).unwrap();
            out.push((at.as_nanos(), slot, item));
        }
        let expected = [
            (1, 7, 'z'),
            (2, 6, 'y'),
            (3, 5, 'a'),
            (7, 5, 'b'),
            (7, 5, 'c'),
            (7, 5, 'd'),
            (9, 5, 'e'),
        ];
        assert_eq!(out, expected);
    }
}
