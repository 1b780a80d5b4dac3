//! Explicit congestion notification between the two ends of a flow: which codepoint packets carry, how
//! the receiver says what arrived, and whether the sender believes it.

use lowtide_cc::Ecn;
use lowtide_cc::ecn::EcnCounts;

/// How the receiver tells the sender of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)
)]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum EcnFeedback {
    /// Not at all: packets are not ECN-capable, whatever the controller wants.
    Off,
    /// TCP's ECN-Echo flag, until the sender has said that it has reduced its window (RFC 3168 §6.1).
    Classic,
    /// By the counts of packets with each codepoint: QUIC (RFC 9000 §13.4), TCP with accurate ECN and
    /// its option (draft-ietf-tcpm-accurate-ecn).
    #[default]
    Accurate,
}

/// What an acknowledgment says of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Echo {
    #[default]
    Nothing,
    /// ECN-Echo.
    Congestion(bool),
    Counts(EcnCounts),
}

/// The receiver's half.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnReceiver {
    /// What the next acknowledgment says.
    echo: Echo,
}

impl EcnReceiver {
    pub(super) fn new(feedback: EcnFeedback) -> Self {
        let echo = match feedback {
            EcnFeedback::Off => Echo::Nothing,
            EcnFeedback::Classic => Echo::Congestion(false),
            EcnFeedback::Accurate => Echo::Counts(EcnCounts::default()),
        };
        Self { echo }
    }

    /// A packet arrived; `reduced`: it says that the sender has reduced its window (CWR). True when the
    /// acknowledgment must not wait: RFC 9000 §13.2.1, and over TCP Linux (`__tcp_ecn_check_ce`), where RFC 3168
    /// §6.1.3 lets it.
    #[inline]
    pub(super) fn on_packet(&mut self, ecn: Ecn, reduced: bool) -> bool {
        if ecn == Ecn::NotEct && !reduced {
            return false;
        }
        let is_marked = ecn == Ecn::Ce;
        match &mut self.echo {
            Echo::Nothing => return false,
            // RFC 3168 §6.1.3: until CWR comes, and again where the packet with it is marked.
            Echo::Congestion(echoes) => *echoes = is_marked || *echoes && !reduced,
            Echo::Counts(counts) => counts.count(ecn),
        }
        is_marked
    }

    #[inline]
    pub(super) fn echo(&self) -> Echo {
        self.echo
    }
}

/// The sender's half.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnSender {
    feedback: EcnFeedback,
    /// Some packet was sent ECN-capable.
    in_use: bool,
    /// Packets sent with each codepoint.
    sent: EcnCounts,
    /// Packets acknowledged since the first of them was sent.
    acked: u64,
    /// The peer's counts as they were last believed.
    known: EcnCounts,
    /// The path or the peer mangles ECN (RFC 9000 §13.4.2.1): it is used no more.
    failed: bool,
    /// The last window reduction that ECN-Echo demanded covers the packets below.
    reduced_below: u64,
    /// The peer is to be told of it.
    owes_reduced: bool,
}

impl EcnSender {
    pub(super) fn new(feedback: EcnFeedback) -> Self {
        Self {
            feedback,
            in_use: false,
            sent: EcnCounts::default(),
            acked: 0,
            known: EcnCounts::default(),
            failed: false,
            reduced_below: 0,
            owes_reduced: false,
        }
    }

    /// The codepoint of the next packet, where the controller wants `wanted`, and whether it says that
    /// the window has been reduced. A retransmission under RFC 3168 is not ECN-capable (§6.1.5).
    #[inline]
    pub(super) fn on_send(&mut self, wanted: Ecn, retransmission: bool) -> (Ecn, bool) {
        let ecn = match (self.feedback, wanted) {
            (EcnFeedback::Off, _) | (_, Ecn::NotEct) => Ecn::NotEct,
            _ if self.failed => Ecn::NotEct,
            (EcnFeedback::Classic, _) if retransmission => Ecn::NotEct,
            // RFC 9331 §4.2: L4S needs the counts.
            (EcnFeedback::Classic, _) => Ecn::Ect0,
            (EcnFeedback::Accurate, wanted) => wanted,
        };
        if ecn == Ecn::NotEct {
            return (ecn, false);
        }
        self.in_use = true;
        self.sent.count(ecn);
        (ecn, std::mem::take(&mut self.owes_reduced))
    }

    /// Whether there is something to learn from acknowledgments.
    #[inline]
    pub(super) fn in_use(&self) -> bool {
        self.in_use && !self.failed
    }

    /// An acknowledgment newly covers `newly_acked` packets, up to number `newest`; `next` is the number
    /// of the next packet. How many packets were newly marked.
    pub(super) fn on_ack(&mut self, echo: Echo, newly_acked: u64, newest: u64, next: u64) -> u64 {
        self.acked += newly_acked;
        match echo {
            _ if !self.in_use() => 0,
            Echo::Nothing => {
                self.failed = true;
                0
            }
            Echo::Congestion(false) => 0,
            Echo::Congestion(true) => {
                // Once for the packets that were in flight then (RFC 3168 §6.1.2).
                let is_new = newest >= self.reduced_below;
                if is_new {
                    self.reduced_below = next;
                    self.owes_reduced = true;
                }
                u64::from(is_new)
            }
            Echo::Counts(counts) => self.on_counts(counts, next),
        }
    }

    fn on_counts(&mut self, counts: EcnCounts, next: u64) -> u64 {
        let known = self.known;
        // RFC 9000 §13.4.2.1 passes over acknowledgments that do not raise the largest number.
        if counts.ect0 < known.ect0 || counts.ect1 < known.ect1 || counts.ce < known.ce {
            // Overtaken on its way; the newer one has been seen.
            return 0;
        }
        let total = |c: EcnCounts| c.ect0 + c.ect1 + c.ce;
        self.known = counts;
        // RFC 9000 §13.4.2.1: every packet is counted, none that was not sent, none as another. By totals of all
        // codepoints, where the RFC compares the increases of each.
        let sent = total(self.sent);
        let sent_incapable = next - sent;
        self.failed = total(counts) + sent_incapable < self.acked
            || total(counts) > sent
            || counts.ect0 > self.sent.ect0
            || counts.ect1 > self.sent.ect1;
        if self.failed { 0 } else { counts.ce - known.ce }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ect0: u64, ect1: u64, ce: u64) -> Echo {
        Echo::Counts(EcnCounts { ect0, ect1, ce })
    }

    /// A sender that has sent ten packets with ECT(0).
    fn sender(feedback: EcnFeedback) -> EcnSender {
        let mut sender = EcnSender::new(feedback);
        for _ in 0..10 {
            assert_eq!(sender.on_send(Ecn::Ect0, false), (Ecn::Ect0, false));
        }
        sender
    }

    #[test]
    fn counts_say_how_many_packets_were_newly_marked_and_are_believed_only_where_they_add_up() {
        let mut s = sender(EcnFeedback::Accurate);
        assert_eq!(s.on_ack(counts(2, 0, 0), 2, 1, 10), 0);
        assert_eq!(s.on_ack(counts(3, 0, 3), 4, 5, 10), 3);
        // An older acknowledgment arrives late; the next goes on from the newest.
        assert_eq!(s.on_ack(counts(2, 0, 1), 0, 5, 10), 0);
        assert_eq!(s.on_ack(counts(4, 0, 4), 2, 7, 10), 1);
        assert_eq!(s.on_send(Ecn::Ect0, true).0, Ecn::Ect0);
        let mangled = [
            ("bleached", counts(0, 0, 0)),
            ("no counts", Echo::Nothing),
            ("another codepoint", counts(0, 2, 0)),
            ("more than were sent", counts(8, 0, 3)),
        ];
        for (what, echo) in mangled {
            let mut s = sender(EcnFeedback::Accurate);
            assert_eq!(s.on_ack(echo, 2, 1, 10), 0, "{what}");
            assert_eq!(s.on_send(Ecn::Ect0, false).0, Ecn::NotEct, "{what}");
        }
    }

    #[test]
    fn ecn_echo_demands_one_reduction_a_window_and_ends_when_the_receiver_hears_of_it() {
        let mut s = sender(EcnFeedback::Classic);
        let mut r = EcnReceiver::new(EcnFeedback::Classic);
        assert!(!r.on_packet(Ecn::Ect0, false));
        assert_eq!(s.on_ack(r.echo(), 1, 0, 10), 0);
        assert!(r.on_packet(Ecn::Ce, false));
        assert_eq!(s.on_ack(r.echo(), 1, 1, 10), 1);
        r.on_packet(Ecn::Ect0, false);
        assert_eq!(r.echo(), Echo::Congestion(true));
        assert_eq!(s.on_ack(r.echo(), 1, 2, 10), 0, "the same window");
        assert_eq!(s.on_send(Ecn::Ect0, true), (Ecn::NotEct, false));
        let (ecn, reduced) = s.on_send(Ecn::Ect0, false);
        assert!(reduced && !s.on_send(Ecn::Ect0, false).1);
        r.on_packet(ecn, reduced);
        assert_eq!(r.echo(), Echo::Congestion(false));
    }
}
