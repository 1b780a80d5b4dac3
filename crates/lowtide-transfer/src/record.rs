//! A record of what the senders of a transfer saw.

use lowtide_lab::transfer::{Sample, SampledFlow};

/// Samples of all connections that are kept: at 20 ms each, those of 20 minutes of one connection.
const SAMPLES: usize = 60_000;

/// Samples of one connection, whatever there are.
const LEAST_SAMPLES: usize = 100;

/// Shortest time of a sample, microseconds; senders take them every 20 ms.
const SHORTEST_US: u64 = 19_000;

/// Later than this, in microseconds, than what has passed here, no sample can be.
const LATEST_US: u64 = 1_000_000;

/// Events of one sample that are believed: a packet each microsecond.
const EVENTS: u32 = 20_000;

/// Bytes of one sample that are believed, and longest RTT, microseconds.
const BYTES: u64 = 1 << 32;
const RTT_US: u64 = 1_000_000_000;

/// Longest name of a phase, bytes.
const PHASE: usize = 40;

/// What one connection's sender saw, in bounded memory. When it is full, two samples become one, and
/// later ones take twice the time.
#[derive(Debug)]
pub(crate) struct Record {
    samples: Vec<Sample>,
    most: usize,
    shortest_us: u64,
    /// When the newest sample began.
    since_us: u64,
}

impl Record {
    /// The recorder of one of so many connections.
    pub(crate) fn new(connections: usize) -> Self {
        Self {
            samples: Vec::new(),
            most: (SAMPLES / connections.max(1)).max(LEAST_SAMPLES),
            shortest_us: SHORTEST_US,
            since_us: 0,
        }
    }

    /// Adds a sample, which a peer may have made up: it is believed if it is not before others and not
    /// after `now_us`.
    pub(crate) fn add(&mut self, mut sample: Sample, now_us: u64) {
        let newest = self.samples.last().map_or(0, |s| s.at_us);
        if sample.at_us < newest || sample.at_us > now_us.saturating_add(LATEST_US) {
            return;
        }
        bound(&mut sample);
        match self.samples.last_mut() {
            Some(last) if last.at_us - self.since_us < self.shortest_us => merge(last, sample),
            _ => {
                self.since_us = newest;
                self.samples.push(sample);
            }
        }
        if self.samples.len() >= self.most {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let mut halved: Vec<Sample> = Vec::with_capacity(self.most);
        for (index, sample) in self.samples.drain(..).enumerate() {
            match halved.last_mut() {
                Some(last) if index % 2 == 1 => merge(last, sample),
                _ => halved.push(sample),
            }
        }
        self.samples = halved;
        self.shortest_us *= 2;
    }

    /// All of it; nothing is left.
    pub(crate) fn take(&mut self) -> SampledFlow {
        SampledFlow {
            samples: std::mem::take(&mut self.samples),
        }
    }
}

/// Bounds what a sample can say, so that sums of many stay what they are.
fn bound(sample: &mut Sample) {
    sample.rtts = sample.rtts.min(EVENTS);
    sample.lost_packets = sample.lost_packets.min(EVENTS);
    sample.sent_packets = sample.sent_packets.min(EVENTS.into());
    let bytes = [
        &mut sample.sent_bytes,
        &mut sample.acked_bytes,
        &mut sample.lost_bytes,
        &mut sample.inflight,
        &mut sample.cwnd,
    ];
    bytes
        .into_iter()
        .for_each(|bytes| *bytes = (*bytes).min(BYTES));
    let times = [
        &mut sample.least_rtt_us,
        &mut sample.largest_rtt_us,
        &mut sample.smoothed_rtt_us,
    ];
    times
        .into_iter()
        .for_each(|time| *time = (*time).min(RTT_US));
    sample.rtt_sum_us = sample.rtt_sum_us.min(RTT_US * u64::from(EVENTS));
    if sample.phase.len() > PHASE {
        sample.phase = String::new();
    }
}

/// Puts the next sample into the one before.
fn merge(sample: &mut Sample, next: Sample) {
    let least = match (sample.rtts, next.rtts) {
        (0, _) => next.least_rtt_us,
        (_, 0) => sample.least_rtt_us,
        _ => sample.least_rtt_us.min(next.least_rtt_us),
    };
    *sample = Sample {
        sent_packets: sample.sent_packets.saturating_add(next.sent_packets),
        sent_bytes: sample.sent_bytes.saturating_add(next.sent_bytes),
        acked_bytes: sample.acked_bytes.saturating_add(next.acked_bytes),
        lost_packets: sample.lost_packets.saturating_add(next.lost_packets),
        lost_bytes: sample.lost_bytes.saturating_add(next.lost_bytes),
        rtts: sample.rtts.saturating_add(next.rtts),
        least_rtt_us: least,
        largest_rtt_us: sample.largest_rtt_us.max(next.largest_rtt_us),
        rtt_sum_us: sample.rtt_sum_us.saturating_add(next.rtt_sum_us),
        ..next
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_us: u64) -> Sample {
        Sample {
            at_us,
            acked_bytes: 1_000,
            rtts: 1,
            least_rtt_us: at_us,
            largest_rtt_us: at_us,
            rtt_sum_us: at_us,
            ..Sample::default()
        }
    }

    #[test]
    fn a_record_of_hours_keeps_all_of_it_in_bounded_memory() {
        let mut record = Record::new(100);
        for n in 1..=500_000 {
            record.add(sample(n * 20_000), n * 20_000);
        }
        assert!(record.samples.len() < SAMPLES / 100);
        let flow = record.take();
        let acked: u64 = flow.samples.iter().map(|s| s.acked_bytes).sum();
        assert_eq!(acked, 500_000 * 1_000);
        assert_eq!(flow.samples.last().unwrap().at_us, 500_000 * 20_000);
        assert!(flow.samples.len() > SAMPLES / 400);
    }

    #[test]
    fn what_cannot_be_a_sample_is_not_believed() {
        let mut record = Record::new(1);
        record.add(sample(50_000), 60_000);
        record.add(sample(40_000), 60_000);
        record.add(sample(u64::MAX), 60_000);
        for _ in 0..100_000 {
            let forged = Sample {
                phase: "x".repeat(1_000),
                rtts: u32::MAX,
                rtt_sum_us: u64::MAX,
                ..sample(60_000)
            };
            record.add(forged, 60_000);
        }
        let flow = record.take();
        let times: Vec<u64> = flow.samples.iter().map(|s| s.at_us).collect();
        assert_eq!(times.len(), 2, "{times:?}");
        assert!(flow.samples.iter().all(|s| s.phase.is_empty()));
    }
}
