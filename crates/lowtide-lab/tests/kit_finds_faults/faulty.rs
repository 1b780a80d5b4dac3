//! BBRv3 with one thing wrong: a distortion of what the controller is told or of what it shows, so that the shipped
//! code has no room for it.

use std::collections::BTreeSet;

use lowtide_cc::controller::{
    AckEvent, AckedPacket, Config, Controller, LossEvent, LostPacket, PacketSent,
};
use lowtide_cc::controllers::bbr3::{Bbr3, Options};
use lowtide_cc::delivery_rate::RateSample;
use lowtide_cc::registry::Entry;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

macro_rules! faults {
    ($($fault:ident $name:literal $case:literal $about:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Fault { $(#[doc = $about] $fault),* }

        /// A controller for each.
        pub(crate) static ENTRIES: &[Entry] = &[$(Entry {
            name: $name,
            summary: $about,
            source: "",
            parameters: &[],
            make: |_, config| Box::new(Faulty::new(Fault::$fault, config)),
            receiver: None,
        }),*];

        /// The name of each, the case that should find it, and what is wrong.
        pub(crate) static FAULTS: &[(&str, &str, &str)] = &[$(($name, $case, $about)),*];
    };
}

faults! {
    StartupGain "startup-gain" "bbr-03" "Startup paces at 2.0 instead of 2.77";
    DrainGain "drain-gain" "bbr-03" "Drain paces at the bandwidth";
    DrainSkipped "drain-skipped" "bbr-03" "Drain is over at once";
    UpGain "up-gain" "bbr-05" "UP paces at 1.0";
    DownGain "down-gain" "bbr-08" "DOWN paces at 1.0";
    CruiseEarly "cruise-early" "bbr-08" "DOWN ends at once";
    UpEndless "up-endless" "bbr-05" "a plateau does not end UP";
    ProbeRttStays "probe-rtt-stays" "bbr-10" "ProbeRTT is never left";
    ProbeRttNever "probe-rtt-never" "bbr-10" "ProbeRTT never comes";
    ProbeRttShallow "probe-rtt-shallow" "bbr-10" "ProbeRTT leaves the whole BDP in flight";
    WindowLost "window-lost" "bbr-10" "the window is not restored after ProbeRTT";
    MinRttStays "min-rtt-stays" "bbr-14" "the minimum RTT is never renewed";
    WindowUnbounded "window-unbounded" "bbr-05" "the window is ten times too large";
    WindowTiny "window-tiny" "bbr-14" "the window is half of what it should be";
    Unpaced "unpaced" "bbr-11" "paces a hundred times too fast";
    BurstLong "burst-long" "bbr-11" "64 kB leave at once at any rate";
    LossIgnored "loss-ignored" "bbr-21" "losses are ignored";
    LossTwice "loss-twice" "bbr-02" "each loss counts twice";
    LateIgnored "late-ignored" "bbr-18" "what arrives after it was given up is ignored";
    AggregationTwice "aggregation-twice" "bbr-13" "what is acknowledged together counts twice";
    AppLimitedIgnored "app-limited-ignored" "bbr-07" "application-limited samples count as others";
    AppLimitedRaises "app-limited-always" "bbr-01" "all samples count as application-limited";
    IdleIgnored "idle-ignored" "bbr-11" "idleness is not noticed";
    EstimateLow "estimate-low" "bbr-20" "the delivery rate is measured 10 % too low";
    EstimateHigh "estimate-high" "bbr-20" "the delivery rate is measured 10 % too high";
    EstimateStays "estimate-stays" "bbr-16" "the bandwidth estimate never expires";
    RoundsEachAck "rounds-each-ack" "bbr-20" "each acknowledgment counts as a round";
}

/// BBRv3 with a fault.
#[derive(Debug)]
struct Faulty {
    inner: Bbr3,
    fault: Fault,
    least_rtt: Duration,
    most_rate: Rate,
    acks: u64,
    lost: BTreeSet<u64>,
    was_in_probe_rtt: bool,
}

impl Faulty {
    fn new(fault: Fault, config: &Config) -> Self {
        Self {
            inner: Bbr3::new(config, Options::DEFAULT),
            fault,
            least_rtt: Duration::MAX,
            most_rate: Rate::ZERO,
            acks: 0,
            lost: BTreeSet::new(),
            was_in_probe_rtt: false,
        }
    }

    fn phase(&self) -> &'static str {
        self.inner.snapshot().phase
    }

    fn bdp(&self) -> Bytes {
        let shown = self.inner.snapshot();
        let (bandwidth, rtt) = (shown.bandwidth, shown.min_rtt);
        bandwidth
            .zip(rtt)
            .map_or(Bytes::ZERO, |(bandwidth, rtt)| bandwidth.volume_in(rtt))
    }

    /// What becomes of a delivery-rate sample.
    fn distort(&mut self, sample: &mut RateSample) {
        self.most_rate = self.most_rate.max(sample.delivery_rate);
        match self.fault {
            Fault::AppLimitedIgnored => sample.app_limited = false,
            Fault::AppLimitedRaises => sample.app_limited = true,
            Fault::UpEndless if self.phase() == "ProbeBW_UP" => sample.app_limited = true,
            Fault::EstimateLow => sample.delivery_rate = sample.delivery_rate.mul_f64(0.9),
            Fault::EstimateHigh => sample.delivery_rate = sample.delivery_rate.mul_f64(1.1),
            Fault::EstimateStays => sample.delivery_rate = self.most_rate,
            Fault::RoundsEachAck => sample.prior_delivered = sample.total_delivered,
            Fault::LossTwice => sample.lost = sample.lost * 2,
            _ => {}
        }
    }
}

impl lowtide_cc::Wrap for Faulty {
    type Inner = Bbr3;

    fn inner(&self) -> &Bbr3 {
        &self.inner
    }

    fn inner_mut(&mut self) -> &mut Bbr3 {
        &mut self.inner
    }

    fn on_packet_sent(&mut self, sent: &PacketSent) {
        let mut sent = *sent;
        if self.fault == Fault::IdleIgnored {
            sent.app_limited = false;
        }
        self.inner.on_packet_sent(&sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let phase = self.phase();
        let was_in_probe_rtt = phase == "ProbeRTT";
        self.was_in_probe_rtt |= was_in_probe_rtt;
        if self.fault == Fault::ProbeRttStays && was_in_probe_rtt {
            return;
        }
        self.acks += 1;
        let mut ack = *ack;
        let in_time = |packet: &&AckedPacket| !self.lost.contains(&packet.number);
        let packets: Vec<AckedPacket> = ack.packets.iter().filter(in_time).copied().collect();
        if self.fault == Fault::LateIgnored {
            if packets.is_empty() {
                return;
            }
            ack.bytes_acked = packets.iter().map(|p| p.bytes).sum();
            ack.packets = &packets;
        }
        if let Some(rtt) = &mut ack.rtt {
            self.least_rtt = self.least_rtt.min(*rtt);
            match self.fault {
                Fault::ProbeRttNever => *rtt -= Duration::from_nanos(self.acks),
                Fault::MinRttStays => *rtt = self.least_rtt,
                _ => {}
            }
        }
        if let Some(sample) = &mut ack.rate_sample {
            self.distort(sample);
        }
        match self.fault {
            Fault::DrainSkipped if matches!(phase, "Startup" | "Drain") => {
                ack.inflight = Bytes::ZERO;
            }
            Fault::CruiseEarly if phase == "ProbeBW_DOWN" => ack.inflight = Bytes::ZERO,
            Fault::AggregationTwice => ack.bytes_acked = ack.bytes_acked * 2,
            _ => {}
        }
        self.inner.on_ack(&ack);
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        self.lost.extend(loss.packets.iter().map(|p| p.number));
        let mut packets: Vec<LostPacket> = loss.packets.to_vec();
        match self.fault {
            Fault::LossIgnored => return,
            Fault::LossTwice => packets.iter_mut().for_each(|p| p.lost = p.lost * 2),
            _ => {}
        }
        self.inner.on_loss(&LossEvent {
            packets: &packets,
            ..*loss
        });
    }

    fn on_spurious_timeout(&mut self, now: Time) {
        if self.fault != Fault::LateIgnored {
            self.inner.on_spurious_timeout(now);
        }
    }

    fn cwnd(&self) -> Bytes {
        let cwnd = self.inner.cwnd();
        match self.fault {
            Fault::WindowUnbounded => cwnd * 10,
            Fault::WindowTiny => cwnd.mul_f64(0.5),
            Fault::ProbeRttShallow if self.phase() == "ProbeRTT" => cwnd.max(self.bdp()),
            Fault::WindowLost if self.was_in_probe_rtt => {
                cwnd.min(self.bdp().mul_f64(0.5).max(Bytes::new(4 * 1200)))
            }
            _ => cwnd,
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let factor = match (self.fault, self.phase()) {
            (Fault::StartupGain, "Startup") => 2.0 / 2.77,
            (Fault::DrainGain, "Drain") => 2.0,
            (Fault::UpGain, "ProbeBW_UP") => 0.8,
            (Fault::DownGain, "ProbeBW_DOWN") => 1.0 / 0.9,
            (Fault::Unpaced, _) => 100.0,
            _ => 1.0,
        };
        self.inner.pacing_rate().map(|rate| rate.mul_f64(factor))
    }

    fn send_quantum(&self) -> Bytes {
        match self.fault {
            Fault::BurstLong => Bytes::new(64_000),
            _ => self.inner.send_quantum(),
        }
    }
}
