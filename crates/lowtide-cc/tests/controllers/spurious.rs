//! What a timeout gave up by mistake is in flight again, with all that follows from that.

use super::host::{Host, MSS};
use lowtide_cc::units::{Duration, Rate};

#[test]
fn a_packet_that_a_spurious_timeout_gave_back_opens_a_recovery_when_it_is_lost() {
    for name in [
        "newreno", "cubic", "copa", "vegas", "compound", "bbr", "bbr3",
    ] {
        for expiries in [1, 2] {
            let mut host = Host::of(name, Rate::from_mbps(8_000), Duration::from_millis(50));
            host.run_for(Duration::from_millis(170));
            while host.step() && host.inflight() < MSS * 8 {}
            let given_up = host.next_number() - 1;
            for _ in 0..expiries {
                host.time_out();
                // The retransmission.
                host.step();
            }
            host.undo_timeout();
            host.lose = vec![given_up];
            while host.cc.snapshot().in_recovery {
                assert!(host.step());
            }
            let undone = host.next_number();
            while !host.cc.snapshot().in_recovery {
                assert!(host.step());
                let is_over = host.next_number() > undone + 1_000;
                assert!(!is_over, "{name}, {expiries} expiries");
            }
        }
    }
}
