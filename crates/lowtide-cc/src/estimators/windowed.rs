//! Windowed maximum and minimum in constant memory.
//!
//! Keeps the best, second and third best sample of the window (Kathleen Nichols' algorithm, as in
//! Linux's `lib/win_minmax.c`): exact while samples get better, and an upper (lower) bound's
//! approximation otherwise. What it returns is always one of the samples of the last window, and
//! never worse than the newest.

use core::marker::PhantomData;

/// Which of two samples is the better one.
pub trait Extremum<T> {
    /// Whether `new` is at least as good as `old`.
    fn is_as_good(new: &T, old: &T) -> bool;
}

/// Keeps the largest.
#[derive(Clone, Copy, Debug)]
pub struct Maximum;

/// Keeps the smallest.
#[derive(Clone, Copy, Debug)]
pub struct Minimum;

impl<T: PartialOrd> Extremum<T> for Maximum {
    #[inline]
    fn is_as_good(new: &T, old: &T) -> bool {
        new >= old
    }
}

impl<T: PartialOrd> Extremum<T> for Minimum {
    #[inline]
    fn is_as_good(new: &T, old: &T) -> bool {
        new <= old
    }
}

/// The best sample of the last `window` ticks of any counter that does not go back: rounds,
/// nanoseconds, packets.
#[derive(Clone, Copy, Debug)]
pub struct Windowed<T, E> {
    window: u64,
    /// Best, second and third best: (when, sample), in the order of time.
    best: Option<[(u64, T); 3]>,
    extremum: PhantomData<E>,
}

impl<T: Copy, E: Extremum<T>> Windowed<T, E> {
    /// An empty filter over `window` ticks.
    #[must_use]
    pub const fn new(window: u64) -> Self {
        Self {
            window,
            best: None,
            extremum: PhantomData,
        }
    }

    /// The best sample, if there is any.
    #[inline]
    #[must_use]
    pub fn get(&self) -> Option<T> {
        self.best.map(|best| best[0].1)
    }

    /// Changes the length of the window, from the next sample on.
    #[inline]
    pub fn set_window(&mut self, window: u64) {
        self.window = window;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.best = None;
    }

    /// Takes a sample at tick `now` and returns the best.
    #[inline]
    pub fn update(&mut self, now: u64, sample: T) -> T {
        let new = (now, sample);
        let Some(best) = &mut self.best else {
            self.best = Some([new; 3]);
            return sample;
        };
        // A new best, or nothing left of the old window.
        if E::is_as_good(&sample, &best[0].1) || now.saturating_sub(best[2].0) > self.window {
            *best = [new; 3];
            return sample;
        }
        if E::is_as_good(&sample, &best[1].1) {
            best[1] = new;
            best[2] = new;
        } else if E::is_as_good(&sample, &best[2].1) {
            best[2] = new;
        }
        let age = now.saturating_sub(best[0].0);
        if age > self.window {
            // The best is too old: the second takes its place, and maybe the third the second's.
            *best = [best[1], best[2], new];
            if now.saturating_sub(best[0].0) > self.window {
                *best = [best[1], best[2], new];
            }
        } else if best[1].0 == best[0].0 && age > self.window / 4 {
            // A quarter of the window without a second best: take one from this quarter …
            best[1] = new;
            best[2] = new;
        } else if best[2].0 == best[1].0 && age > self.window / 2 {
            // … and a third from the second half, so that there is a fresh one when needed.
            best[2] = new;
        }
        best[0].1
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_maximum_lasts_one_window_and_the_next_best_follows() {
        let mut filter = Windowed::<u32, Maximum>::new(10);
        assert_eq!(filter.get(), None);
        assert_eq!(filter.update(0, 50), 50);
        assert_eq!(filter.update(4, 40), 50);
        assert_eq!(filter.update(7, 30), 50);
        assert_eq!(filter.update(10, 20), 50);
        assert_eq!(filter.update(11, 20), 40, "50 is older than 10 ticks");
        assert_eq!(filter.update(12, 60), 60);
        assert_eq!(filter.update(40, 1), 1, "nothing else is left");
        let mut filter = Windowed::<u32, Minimum>::new(10);
        filter.update(0, 5);
        assert_eq!((filter.update(3, 7), filter.update(11, 9)), (5, 7));
    }

    proptest! {
        #[test]
        fn the_result_is_a_sample_of_the_window_and_never_worse_than_the_newest(
            samples in prop::collection::vec((0_u64..5, 0_u32..1000), 1..200), window in 1_u64..20
        ) {
            let mut filter = Windowed::<u32, Maximum>::new(window);
            let mut seen: Vec<(u64, u32)> = Vec::new();
            let mut now = 0;
            for (gap, sample) in samples {
                now += gap;
                seen.push((now, sample));
                let got = filter.update(now, sample);
                prop_assert!(got >= sample);
                prop_assert!(seen.iter().any(|(at, s)| *s == got && now - at <= window));
            }
        }
    }
}
