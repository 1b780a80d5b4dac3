//! What flows' distributions have yet to take.
//!
//! With hundreds of flows the next packet is hardly ever of the same flow, and the flow's histograms
//! are not in the cache. Samples therefore wait, and are then taken flow by flow: the histograms are
//! fetched once for all of a flow's samples.

use lowtide_cc::units::{Duration, Time};

/// What was seen of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sample {
    Rtt(Duration),
    Delivery {
        now: Time,
        sent_at: Time,
        /// What propagation took beyond the least.
        detour: Duration,
        /// No packet has more.
        bytes: u32,
        first_copy: bool,
    },
}

/// Samples that wait: so many for each flow, within these bounds. The lower fits into the
/// first-level cache.
const PER_FLOW: usize = 32;
const FEWEST: usize = 128;
const MOST: usize = 1 << 16;

/// Samples that wait, in the order in which they came.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    capacity: usize,
    flows: Vec<u32>,
    samples: Vec<Sample>,
    /// Working space: for each flow where its next sample goes in `order`, and the numbers of the
    /// samples, flow by flow.
    places: Vec<u32>,
    order: Vec<u32>,
}

impl Samples {
    pub(super) fn new(flows: usize) -> Self {
        let capacity = (flows * PER_FLOW).clamp(FEWEST, MOST);
        Self {
            capacity,
            flows: Vec::with_capacity(capacity),
            samples: Vec::with_capacity(capacity),
            places: vec![0; flows],
            order: Vec::new(),
        }
    }

    /// Keeps a sample; true when there is no room for another.
    #[inline]
    pub(super) fn push(&mut self, flow: usize, sample: Sample) -> bool {
        self.flows.push(flow as u32);
        self.samples.push(sample);
        self.samples.len() >= self.capacity
    }

    /// Takes all samples out, flow by flow; those of a flow in the order in which they came.
    pub(super) fn drain_by_flow(&mut self, mut take: impl FnMut(usize, Sample)) {
        if self.places.len() == 1 {
            self.flows.clear();
            self.samples.drain(..).for_each(|sample| take(0, sample));
            return;
        }
        self.places.fill(0);
        for flow in &self.flows {
            self.places[*flow as usize] += 1;
        }
        let mut end = 0;
        for place in &mut self.places {
            end += std::mem::replace(place, end);
        }
        self.order.resize(self.samples.len(), 0);
        for (n, flow) in self.flows.iter().enumerate() {
            let place = &mut self.places[*flow as usize];
            self.order[*place as usize] = n as u32;
            *place += 1;
        }
        for n in &self.order {
            let n = *n as usize;
            take(self.flows[n] as usize, self.samples[n]);
        }
        self.flows.clear();
        self.samples.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_flow_by_flow_and_those_of_a_flow_in_their_order() {
        let mut samples = Samples::new(3);
        for round in 0..2 {
            for (flow, ms) in [(2, 1), (0, 2), (2, 3), (0, 4), (1, 5), (2, 6)] {
                let rtt = Duration::from_millis(ms + round);
                assert!(!samples.push(flow, Sample::Rtt(rtt)));
            }
            let mut seen = Vec::new();
            samples.drain_by_flow(|flow, sample| {
                if let Sample::Rtt(rtt) = sample {
                    seen.push((flow, rtt.as_micros() / 1_000 - round));
                }
            });
            assert_eq!(seen, [(0, 2), (0, 4), (1, 5), (2, 1), (2, 3), (2, 6)]);
        }
    }
}
