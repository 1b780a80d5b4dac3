//! From the kernel's calls to the events of the Rust core: what `bpf/host.h` says of the mapping, said
//! again for the other side.

use lowtide_cc::controller::{
    AckEvent, AckedPacket, Controller, LossEvent, LostPacket, PacketSent, TimeoutEvent, TimeoutKind,
};
use lowtide_cc::delivery_rate::RateSample;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use crate::native::{Answer, Call, Kernel};

const CWR: u32 = 2;
const RECOVERY: u32 = 3;
const LOSS: u32 = 4;
/// An acknowledgment becomes at most so many packets.
const PIECES: u64 = 4;
/// The highest rate sample, bytes a second.
const MOST_RATE: u64 = (1 << 36) - 1;

/// How the packets are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// By what had been delivered when a packet was sent.
    Delivered,
    /// So that a controller which tells recoveries by numbers has the kernel's.
    Recoveries,
}

/// A controller of the Rust core in the kernel's place.
#[derive(Debug)]
pub(crate) struct Host {
    controller: Box<dyn Controller>,
    numbers: Numbers,
    delivered: u64,
    kernel_delivered: u32,
    lost: u32,
    newest_sent: u64,
    last_ack: u64,
    lost_since: u64,
    least_rtt: u64,
    mss: u64,
    state: u32,
    opening: bool,
    recovering: bool,
    undone: bool,
    first_lost: u32,
    /// The rate since the last call.
    paced_at: u64,
}

impl Host {
    pub(crate) fn new(controller: Box<dyn Controller>, numbers: Numbers, k: &Kernel) -> Self {
        let paced_at = controller.pacing_rate().map_or(1, Rate::as_bytes_per_sec);
        Self {
            paced_at,
            controller,
            numbers,
            delivered: u64::from(k.delivered),
            kernel_delivered: k.delivered,
            lost: k.lost,
            newest_sent: 0,
            last_ack: 0,
            lost_since: 0,
            least_rtt: u64::MAX,
            mss: u64::from(k.mss_cache),
            state: 0,
            opening: false,
            recovering: false,
            undone: false,
            first_lost: k.lost,
        }
    }

    pub(crate) fn answer(&self) -> Answer {
        let rate = self.controller.pacing_rate();
        Answer {
            window: self.controller.cwnd().get(),
            rate: rate.map_or(0, Rate::as_bytes_per_sec),
        }
    }

    pub(crate) fn mss(&self) -> u64 {
        self.mss
    }

    pub(crate) fn phase(&self) -> &'static str {
        self.controller.snapshot().phase
    }

    pub(crate) fn call(&mut self, call: Call, k: &Kernel) {
        let now = k.tcp_mstamp * 1000;
        match call {
            Call::Init => {}
            Call::Ack => self.acked(k, now),
            Call::State(state) => self.enter(state, k, now),
            Call::Undo => {
                if self.state == LOSS {
                    self.undone = true;
                    self.lost_since = 0;
                    self.recovering = false;
                    self.controller.on_spurious_timeout(time(now));
                }
            }
            Call::Restart => {
                if self.numbers == Numbers::Recoveries {
                    self.sent(1, self.mss, self.mss, k.app_limited != 0, now);
                }
            }
        }
        self.paced_at = self.answer().rate;
    }

    fn sent(&mut self, number: u64, bytes: u64, inflight: u64, app_limited: bool, now: u64) {
        self.controller.on_packet_sent(&PacketSent {
            now: time(now),
            number,
            bytes: Bytes::new(bytes),
            inflight: Bytes::new(inflight),
            app_limited,
        });
    }

    /// The next packet has the number `delivered`.
    fn count(&mut self, k: &Kernel, now: u64) {
        self.delivered += u64::from(k.delivered.wrapping_sub(self.kernel_delivered));
        self.kernel_delivered = k.delivered;
        let number = match self.numbers {
            Numbers::Delivered => self.delivered.checked_sub(1),
            Numbers::Recoveries => Some(1),
        };
        if let Some(number) = number {
            self.sent(number, 1, u64::MAX, false, now);
        }
    }

    fn lost(&mut self, now: u64, packets: u32) {
        if packets == 0 {
            return;
        }
        let bytes = u64::from(packets) * self.mss;
        let number = match (self.numbers, self.opening) {
            (_, false) => 0,
            (Numbers::Delivered, true) => self.delivered,
            (Numbers::Recoveries, true) => u64::MAX,
        };
        self.lost = self.lost.wrapping_add(packets);
        self.lost_since += bytes;
        self.opening = false;
        let packet = LostPacket {
            number,
            bytes: Bytes::new(bytes),
            sent_at: Time::ZERO,
            sent_inflight: Bytes::ZERO,
            lost: Bytes::ZERO,
            app_limited: false,
        };
        self.controller.on_loss(&LossEvent {
            now: time(now),
            packets: &[packet],
            bytes_lost: Bytes::new(bytes),
            inflight: Bytes::ZERO,
        });
    }

    fn enter(&mut self, state: u32, k: &Kernel, now: u64) {
        let before = std::mem::replace(&mut self.state, state);
        if state >= RECOVERY && before < RECOVERY {
            self.opening = true;
            self.recovering = true;
        }
        if state == LOSS && before != LOSS {
            self.count(k, now);
            self.lost(now, k.lost.wrapping_sub(self.lost));
            self.opening = false;
            self.controller.on_timeout(&TimeoutEvent {
                now: time(now),
                kind: TimeoutKind::Rto,
                inflight: Bytes::ZERO,
            });
        } else if state == CWR && before < CWR {
            self.count(k, now);
            self.controller.on_ecn_ce(time(now), Time::ZERO, 1);
        }
    }

    fn acked(&mut self, k: &Kernel, now: u64) {
        if u64::from(k.mss_cache) != self.mss {
            self.mss = u64::from(k.mss_cache);
            self.controller.on_mtu_change(Bytes::new(self.mss));
        }
        self.count(k, now);
        let lost = k.lost.wrapping_sub(self.lost);
        let own = k.losses.max(0).unsigned_abs().min(lost);
        self.lost(self.last_ack, lost - own);
        self.lost(now, own);
        if k.acked_sacked > 0 {
            self.acknowledge(k, now);
        }
    }

    fn acknowledge(&mut self, k: &Kernel, now: u64) {
        let packets = u64::from(k.acked_sacked);
        let bytes = packets * self.mss;
        let mut newest = k.first_tx_mstamp * 1000;
        let rtt = u64::try_from(k.rtt_us).ok().map(|us| (us * 1000).max(1));
        if let Ok(us) = u64::try_from(k.rtt_us) {
            newest = now.saturating_sub(us * 1000);
            self.least_rtt = self.least_rtt.min((us * 1000).max(1));
        } else if self.least_rtt != u64::MAX {
            newest = newest.min(now.saturating_sub(self.least_rtt));
        }
        let newest = newest.min(now);
        let paced = bytes * 1_000_000_000 / self.paced_at;
        let spread = newest.saturating_sub(self.newest_sent).min(paced);
        self.newest_sent = self.newest_sent.max(newest);
        let recovered = self.recovering && self.state < RECOVERY;
        if recovered {
            self.recovering = false;
        }
        let behind = self.kernel_delivered.wrapping_sub(k.prior_delivered);
        let sampled = self.delivered - u64::from(behind);
        let number = match self.numbers {
            Numbers::Delivered => sampled,
            Numbers::Recoveries if recovered => {
                // All that was lost has been sent again.
                self.sent(1, u64::MAX, u64::MAX, false, now);
                u64::MAX
            }
            Numbers::Recoveries => 0,
        };
        let inflight = u64::from(k.inflight()) * self.mss;
        let mut prior = u64::from(k.prior_in_flight) * self.mss;
        if self.undone {
            prior = prior.max(inflight + bytes);
        }
        let pieces = packets.min(PIECES);
        let whole = packets / pieces;
        let acked: Vec<AckedPacket> = (0..pieces)
            .map(|piece| AckedPacket {
                number,
                bytes: Bytes::new(
                    self.mss
                        * if piece + 1 == pieces {
                            packets - whole * piece
                        } else {
                            whole
                        },
                ),
                sent_at: time(
                    newest.saturating_sub(spread * (pieces - 1 - piece) / pieces / 1000 * 1000),
                ),
                received_at: None,
            })
            .collect();
        let rate_sample = (k.rs_delivered > 0 && k.interval_us > 0).then(|| {
            let delivered = u64::from(k.rs_delivered.unsigned_abs()) * self.mss;
            RateSample {
                delivery_rate: Rate::from_bytes_per_sec(
                    (delivered * 1_000_000 / k.interval_us.unsigned_abs()).min(MOST_RATE),
                ),
                delivered: Bytes::new(delivered),
                interval: Duration::from_micros(k.interval_us.unsigned_abs()),
                prior_delivered: Bytes::new(sampled * self.mss),
                total_delivered: Bytes::new(self.delivered * self.mss),
                lost: Bytes::ZERO,
                total_lost: Bytes::new(
                    u64::from(self.lost.wrapping_sub(self.first_lost)) * self.mss,
                ),
                sent_inflight: Bytes::ZERO,
                sent_at: time(newest),
                app_limited: k.is_app_limited,
            }
        });
        self.controller.on_ack(&AckEvent {
            now: time(now),
            packets: &acked,
            bytes_acked: Bytes::new(bytes),
            bytes_lost: Bytes::new(self.lost_since),
            rtt: rtt.map(Duration::from_nanos),
            prior_inflight: Bytes::new(prior),
            inflight: Bytes::new(inflight),
            rate_sample,
        });
        self.undone = false;
        self.lost_since = 0;
        self.last_ack = now;
    }
}

fn time(ns: u64) -> Time {
    Time::ZERO + Duration::from_nanos(ns)
}
