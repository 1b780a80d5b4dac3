//! The kernel's TCP and this one, played the same script.
//!
//! Each record holds what the application of a live Linux kernel wrote, what acknowledgments came, and what it sent,
//! with times in milliseconds: made by the example `kernel_script` of lowtide-link. Writes and acknowledgments are
//! played to the sender, which must send the same segments at the same times. Two scenarios of the example have no
//! record here, as the sender does not do what the kernel does: F-RTO (RFC 5682), and recovery by duplicate
//! acknowledgments without SACK (RFC 6582).

use std::str::FromStr;

use lowtide_cc::registry;

use super::*;
use crate::source::{SourceConfig, Step, Steps};

const SEGMENT: Bytes = Bytes::new(1_000);
/// How far times may be apart where no timer is in between.
const TOLERANCE_MS: f64 = 2.0;

/// How late the kernel's timers fire. It rounds up to its tick of 4 ms (HZ 250) when it computes a timeout, when
/// it arms the timer, and in the timer wheel, whose steps are of 8 ticks from 64 ticks on, of 64 from 512 on
/// (`kernel/time/timer.c`).
fn timer_lateness_ms(wait_ms: f64) -> f64 {
    const TICK: f64 = 4.0;
    let wheel = match wait_ms / TICK {
        ..64.0 => 1.0,
        ..512.0 => 8.0,
        _ => 64.0,
    };
    (2.0 + wheel) * TICK
}

/// What happened at the kernel's sender.
#[derive(Clone, Debug, PartialEq)]
enum Event {
    Write(u64),
    Ack {
        below: u64,
        blocks: Vec<Range>,
        by: u64,
    },
    Send {
        segment: u64,
        again: bool,
    },
}

struct Record {
    controller: &'static str,
    sack: bool,
    events: Vec<(f64, Event)>,
}

fn number<T: FromStr>(word: Option<&str>) -> T {
    let word = word.expect("a number is missing");
    word.parse()
        .unwrap_or_else(|_| panic!("not a number: {word}"))
}

fn range(text: &str) -> Range {
    let (start, end) = text.split_once('-').expect("a SACK block is start-end");
    Range {
        start: number(Some(start)),
        end: number(Some(end)),
    }
}

impl Record {
    fn parse(text: &str) -> Self {
        let mut record = Self {
            controller: "",
            sack: false,
            events: Vec::new(),
        };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            let first = words.next().unwrap_or_default();
            match first {
                "controller" => {
                    record.controller = match words.next() {
                        Some("reno") => "newreno",
                        Some("cubic") => "cubic",
                        other => panic!("not a controller: {other:?}"),
                    }
                }
                "rtt" => {}
                "sack" => record.sack = number(words.next()),
                _ => {
                    let event = match words.next() {
                        Some("write") => Event::Write(number(words.next())),
                        Some("send") => Event::Send {
                            segment: number(words.next()),
                            again: words.next().is_some(),
                        },
                        Some("ack") => Event::Ack {
                            below: number(words.next()),
                            by: number(words.nth(1)),
                            blocks: words.skip(1).map(range).collect(),
                        },
                        other => panic!("not an event: {other:?}"),
                    };
                    record.events.push((number(Some(first)), event));
                }
            }
        }
        record
    }

    /// The record with the handshake before it: the kernel measures the round trip of its SYN, which is
    /// a segment of its own here. It takes as long as the first segment of data, as the kernel shows the
    /// SYN's round trip to its timer, and not to its congestion control.
    fn with_handshake(mut self) -> Self {
        let first = |wanted: fn(&Event) -> bool| {
            let event = self.events.iter().find(|(_, event)| wanted(event));
            event.map_or(0.0, |(ms, _)| *ms)
        };
        let sent_ms = first(|event| matches!(event, Event::Send { .. }));
        let rtt_ms = first(|event| matches!(event, Event::Ack { .. })) - sent_ms;
        for (ms, event) in &mut self.events {
            *ms += 2.0 * rtt_ms;
            match event {
                Event::Write(_) => {}
                Event::Send { segment, .. } => *segment += 1,
                Event::Ack { below, blocks, by } => {
                    *below += 1;
                    *by += 1;
                    for block in blocks {
                        block.start += 1;
                        block.end += 1;
                    }
                }
            }
        }
        let syn = Event::Send {
            segment: 0,
            again: false,
        };
        let syn_ack = Event::Ack {
            below: 1,
            blocks: Vec::new(),
            by: 0,
        };
        let handshake = [(0.0, Event::Write(1)), (0.0, syn), (rtt_ms, syn_ack)];
        self.events.splice(0..0, handshake);
        self
    }

    fn sender(&self) -> Sender {
        let mut transport = TransportConfig::tcp();
        if let TransportConfig::Tcp { sack, .. } = &mut transport {
            *sack = self.sack;
        }
        let mut config = Config::for_datagram(SEGMENT);
        config.initial_window = transport.initial_window(SEGMENT);
        config.transport = lowtide_cc::controller::Transport::Tcp;
        let steps = self.events.iter().filter_map(|(ms, event)| match event {
            Event::Write(segments) => {
                let at = Duration::from_nanos((*ms * 1e6) as u64);
                Some((at, Step::Volume(SEGMENT * *segments)))
            }
            _ => None,
        });
        let steps = Steps::new(&steps.collect::<Vec<_>>()).expect("too many writes");
        Sender::new(SenderSetup {
            flow: 0,
            transport,
            ecn: EcnFeedback::Off,
            pacing: Pacing::Rate,
            controller: Some(registry::parse(self.controller).unwrap().build(&config)),
            source: Source::new(SourceConfig::Steps(steps), Time::ZERO, SEGMENT, 1),
            packet_size: SEGMENT,
            start: Time::ZERO,
            stop: Time::MAX,
        })
    }
}

/// Only the oracle has slots.
struct NoSlots;

impl SlotSource for NoSlots {
    fn claim(&mut self, now: Time, _: Bytes) -> Time {
        now
    }
}

fn at(ms: f64) -> Time {
    Time::from_nanos((ms * 1e6) as u64)
}

fn ms(time: Time) -> f64 {
    time.as_nanos() as f64 / 1e6
}

/// When (ms), which segment, and whether again.
type Sent = (f64, u64, bool);

fn describe((ms, segment, again): Sent) -> String {
    let copy = if again { " again" } else { "" };
    format!("segment {segment}{copy} at {ms:.1} ms")
}

/// Plays a record.
struct Play {
    sender: Sender,
    work: Workspace,
    /// What the kernel sent and we have not, yet.
    expected: VecDeque<Sent>,
    /// What we sent and the kernel had not, yet.
    sent: VecDeque<Sent>,
    /// When the kernel last did something, from which its timers count.
    last_ms: f64,
    differences: Vec<String>,
}

impl Play {
    fn collect(&mut self, now: Time) {
        let sent = self.work.out.drain(..);
        let sent = sent.map(|o| (ms(now), o.segment, o.retransmission));
        self.sent.extend(sent);
    }

    fn fire(&mut self, now: Time) {
        self.sender
            .on_timer(now, &mut NoSlots, &mut self.work, &mut ());
        self.collect(now);
    }

    /// Fires the timers that the kernel's clock would have fired by then.
    fn pass_to(&mut self, until_ms: f64) {
        while let Some(due) = self.sender.next_event(at(self.last_ms)) {
            let latest = ms(due) + timer_lateness_ms(ms(due) - self.last_ms);
            if latest > until_ms {
                break;
            }
            self.fire(due);
            self.last_ms = self.last_ms.max(ms(due));
        }
    }

    /// The kernel sent something: by a timer, if nothing else made us send.
    fn expect(&mut self, theirs: Sent) {
        self.expected.push_back(theirs);
        if self.sent.is_empty()
            && self.expected.len() == 1
            && let Some(due) = self.sender.next_event(at(self.last_ms))
        {
            let late = theirs.0 - ms(due);
            let allowed = -TOLERANCE_MS..=timer_lateness_ms(theirs.0 - self.last_ms);
            if allowed.contains(&late) {
                self.fire(due.max(at(theirs.0)));
            }
        }
    }

    fn compare(&mut self) {
        while let (Some(theirs), Some(ours)) = (self.expected.front(), self.sent.front()) {
            let same = (ours.1, ours.2) == (theirs.1, theirs.2);
            if !same || (ours.0 - theirs.0).abs() > TOLERANCE_MS {
                let text = format!("kernel: {}; ours: {}", describe(*theirs), describe(*ours));
                self.differences.push(text);
            }
            self.expected.pop_front();
            self.sent.pop_front();
        }
    }

    fn finish(mut self) -> Vec<String> {
        let alone = |who: &str, sent: VecDeque<Sent>| {
            let alone = sent.into_iter();
            let texts = alone.map(|sent| format!("{who} alone: {}", describe(sent)));
            texts.collect::<Vec<_>>()
        };
        self.differences.extend(alone("kernel", self.expected));
        self.differences.extend(alone("ours", self.sent));
        self.differences
    }
}

/// What of the record is different here.
fn differences(text: &str) -> Vec<String> {
    let record = Record::parse(text).with_handshake();
    let mut play = Play {
        sender: record.sender(),
        work: Workspace::default(),
        expected: VecDeque::new(),
        sent: VecDeque::new(),
        last_ms: 0.0,
        differences: Vec::new(),
    };
    for (ms, event) in &record.events {
        if !matches!(event, Event::Send { .. }) {
            play.pass_to(*ms);
        }
        match event {
            Event::Write(_) => play.fire(at(*ms)),
            Event::Send { segment, again } => play.expect((*ms, *segment, *again)),
            Event::Ack { below, blocks, by } => {
                let mut ack = Ack {
                    trigger: *by,
                    ..Ack::default()
                };
                ack.ranges.extend(blocks.iter().copied());
                ack.ranges
                    .sort_by_key(|block| std::cmp::Reverse(block.start));
                if *below > 0 {
                    ack.ranges.push(Range {
                        start: 0,
                        end: *below,
                    });
                }
                let now = at(*ms);
                play.sender
                    .on_ack(now, &ack, &mut NoSlots, &mut play.work, &mut ());
                play.collect(now);
            }
        }
        play.compare();
        play.last_ms = *ms;
    }
    play.finish()
}

macro_rules! played_as_the_kernel_does {
    ($($name:ident: $file:literal;)*) => {
        $(
            #[test]
            fn $name() {
                let differences = differences(include_str!(concat!("kernel/", $file, ".txt")));
                assert!(differences.is_empty(), "{}", differences.join("\n"));
            }
        )*
    };
}

played_as_the_kernel_does! {
    tail_loss: "01-tail-loss";
    tail_and_probe_lost_40ms: "01-tail-and-probe-lost-40ms";
    tail_and_probe_lost_200ms: "01-tail-and-probe-lost-200ms";
    lone_segment_lost: "01-lone-segment-lost";
    rto_10ms: "02-rto-10ms";
    rto_40ms: "02-rto-40ms";
    rto_200ms_after_1_round: "02-rto-200ms-after-1";
    rto_200ms_after_6_rounds: "02-rto-200ms-after-6";
    one_loss_cubic: "03-one-loss-cubic";
    one_loss_reno: "03-one-loss-reno";
    several_losses: "04-several-losses";
    half_a_window_lost: "04-half-a-window-lost";
    reordering: "05-reordering";
    lost_retransmission: "06-lost-retransmission";
    no_sack_tail_loss: "07-no-sack-tail-loss";
    spurious_rto: "08-spurious-rto";
    lost_acks: "09-lost-acks";
    pauses_reno: "10-pauses";
    pauses_cubic: "10-pauses-cubic";
    hystart_ack_train: "11-hystart-ack-train";
    hystart_delay: "11-hystart-delay";
    hystart_delay_200ms: "11-hystart-delay-200ms";
}
