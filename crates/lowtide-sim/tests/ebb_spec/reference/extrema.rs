//! §13: the filter of extrema.

#[derive(Clone, Copy, Debug)]
struct Sample<X> {
    tick: u64,
    value: X,
}

/// The best, second and third best sample of a window, none at first.
#[derive(Debug)]
pub(super) struct Extrema<X> {
    as_good: fn(X, X) -> bool,
    samples: Option<[Sample<X>; 3]>,
}

impl<X: Copy + PartialOrd> Extrema<X> {
    pub(super) fn maximum() -> Self {
        Self {
            as_good: |x, than| x >= than,
            samples: None,
        }
    }

    pub(super) fn minimum() -> Self {
        Self {
            as_good: |x, than| x <= than,
            samples: None,
        }
    }

    pub(super) fn update(&mut self, window: u64, tick: u64, value: X) -> X {
        let new = Sample { tick, value };
        let as_good = self.as_good;
        let samples = self.samples.get_or_insert([new; 3]);
        let [best, second, third] = samples;
        let since = |earlier: u64| tick.saturating_sub(earlier);
        if as_good(value, best.value) || since(third.tick) > window {
            *samples = [new; 3];
            return value;
        }
        if as_good(value, second.value) {
            (*second, *third) = (new, new);
        } else if as_good(value, third.value) {
            *third = new;
        }
        let age = since(best.tick);
        if age > window {
            (*best, *second, *third) = (*second, *third, new);
            if since(best.tick) > window {
                (*best, *second, *third) = (*second, *third, new);
            }
        } else if second.tick == best.tick && age > window / 4 {
            (*second, *third) = (new, new);
        } else if third.tick == second.tick && age > window / 2 {
            *third = new;
        }
        best.value
    }
}
