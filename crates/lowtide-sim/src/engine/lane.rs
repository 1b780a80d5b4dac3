//! A delay line: things on their way, in the order of their arrival.

use std::collections::VecDeque;

use lowtide_cc::units::Time;

/// Items sorted by arrival time; equal times keep the order of insertion.
#[derive(Debug)]
pub struct Lane<T> {
    items: VecDeque<(Time, T)>,
}

impl<T> Default for Lane<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Lane<T> {
    /// An empty line.
    #[must_use]
    pub fn new() -> Self {
        Self {
            items: VecDeque::new(),
        }
    }

    /// Adds an item; true when it became the head. Cheap when items come in order, and as cheap
    /// as the number of overtaken items otherwise.
    #[inline]
    pub fn push(&mut self, arrival: Time, item: T) -> bool {
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

    /// Takes the head.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop_front().map(|(_, item)| item)
    }

    /// When the head arrives.
    #[must_use]
    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        self.items.front().map(|(time, _)| *time)
    }
}
