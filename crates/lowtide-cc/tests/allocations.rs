//! Only construction allocates. Without the usual test harness, whose own thread allocates now and
//! then and would be counted too.

use lowtide_cc::controller::{AckEvent, AckedPacket, Controller, Feedback, LostPacket};
use lowtide_cc::controllers::rbbr::Receiver;
use lowtide_cc::delivery_rate::DeliveryRateSampler;
use lowtide_cc::units::{Duration, Rate, Time};
use lowtide_cc::{Config, registry};

#[path = "controllers/events.rs"]
#[allow(dead_code, reason = "the controllers' own tests need more of it")]
mod events;

use events::MSS;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const RTT: Duration = Duration::from_millis(40);
const GAP: Duration = Duration::from_micros(200);

/// A flow of one packet each 200 µs that is acknowledged 40 ms later; each hundredth is lost, and
/// each 10 000th packet is followed by silence.
fn drive(cc: &mut dyn Controller, mut receiver: Option<&mut Receiver>, packets: u64) {
    let mut sampler = DeliveryRateSampler::new();
    let mut now = Time::ZERO;
    for number in 0..packets {
        now += GAP;
        if number % 10_000 == 9_999 {
            now += Duration::from_millis(500);
            cc.on_wakeup(now);
        }
        let state = sampler.on_packet_sent(now, MSS, MSS * 100);
        cc.on_packet_sent(&events::sent(now, number, MSS * 101));
        let later = now + RTT + Duration::from_micros(number % 700);
        if number % 100 == 0 {
            let lost = sampler.on_packet_lost(MSS, &state);
            let packets = [LostPacket {
                sent_inflight: state.inflight,
                lost,
                ..events::lost(number, now)
            }];
            cc.on_loss(&events::loss(later, &packets, MSS * 100));
            continue;
        }
        if let (Some(receiver), Some(signal)) = (receiver.as_deref_mut(), cc.peer_signal()) {
            receiver.on_signal(signal);
            receiver.on_packet(later, MSS);
            if let Some(rate) = receiver.feedback_for_ack(later) {
                let (now, carrier) = (later, number);
                cc.on_feedback(&Feedback { now, carrier, rate });
            }
        }
        sampler.on_packet_acked(later, MSS, now, &state);
        let acked = [AckedPacket {
            received_at: Some(later),
            ..events::packet(number, now)
        }];
        cc.on_ack(&AckEvent {
            prior_inflight: MSS * 101,
            inflight: MSS * 100,
            rate_sample: sampler.sample(RTT),
            ..events::ack(later, later.since(now), &acked)
        });
        assert!(cc.pacing_rate() != Some(Rate::ZERO) && !cc.cwnd().is_zero());
    }
}

fn main() {
    let _profiler = dhat::Profiler::builder().testing().build();
    for entry in registry::all() {
        let spec = registry::parse(entry.name).unwrap();
        let mut cc = spec.build(&Config::for_datagram(MSS));
        let mut receiver = spec.receiver().map(|config| Receiver::new(&config));
        let before = dhat::HeapStats::get().total_blocks;
        drive(&mut *cc, receiver.as_mut(), 50_000);
        let after = dhat::HeapStats::get().total_blocks;
        assert_eq!(after, before, "{} allocates", entry.name);
    }
}
