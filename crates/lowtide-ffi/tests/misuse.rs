//! Every misuse has its status, and an event that is refused changes nothing.

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use lowtide_ffi::*;

struct Flow(*mut LowtideFlow);

const CONFIG: LowtideConfig = LowtideConfig {
    max_datagram: 1000,
    initial_window: 10_000,
    now: 5,
    seed: 0,
    transport: LowtideTransport::Quic as u32,
    checked: 0,
};

impl Flow {
    fn new(spec: &CStr) -> Self {
        Self::with(spec, &CONFIG)
    }

    fn with(spec: &CStr, config: &LowtideConfig) -> Self {
        Self::make(spec, config).expect("a good spec and configuration")
    }

    fn make(spec: &CStr, config: &LowtideConfig) -> Result<Self, LowtideStatus> {
        let mut out = null_mut();
        // SAFETY: all pointers are valid; there is no buffer for the message.
        let status = unsafe { lowtide_flow_new(spec.as_ptr(), config, &mut out, null_mut(), 0) };
        assert_eq!(out.is_null(), status != LowtideStatus::Ok);
        if out.is_null() {
            return Err(status);
        }
        Ok(Self(out))
    }

    fn control(&self) -> LowtideControl {
        let mut control = std::mem::MaybeUninit::uninit();
        // SAFETY: the handle is alive and the place may be written.
        let status = unsafe { lowtide_flow_control(self.0, control.as_mut_ptr()) };
        assert_eq!(status, LowtideStatus::Ok);
        // SAFETY: written, as the status says.
        unsafe { control.assume_init() }
    }

    fn send(&self, now: u64, number: u64) -> LowtideStatus {
        // SAFETY: the handle is alive.
        unsafe { lowtide_flow_sent(self.0, now, number, 1000) }
    }

    fn ack(&self, number: u64) -> LowtideStatus {
        // SAFETY: the handle is alive.
        unsafe { lowtide_flow_acked(self.0, number) }
    }

    fn lose(&self, number: u64) -> LowtideStatus {
        // SAFETY: the handle is alive.
        unsafe { lowtide_flow_lost(self.0, number) }
    }

    fn time_out(&self, kind: u32) -> LowtideStatus {
        // SAFETY: the handle is alive.
        unsafe { lowtide_flow_timeout(self.0, kind) }
    }

    fn undo_timeout(&self) -> LowtideStatus {
        // SAFETY: the handle is alive.
        unsafe { lowtide_flow_spurious_timeout(self.0) }
    }

    fn settle(&self, now: u64) -> LowtideStatus {
        self.settle_with(now, 10)
    }

    fn settle_with(&self, now: u64, rtt: u64) -> LowtideStatus {
        // SAFETY: the handle is alive.
        unsafe { lowtide_flow_settle(self.0, now, rtt) }
    }

    fn breaches(&self) -> String {
        let mut text = [0; 300];
        // SAFETY: the handle is alive and the buffer as large as is said.
        let size = unsafe { lowtide_flow_breaches(self.0, text.as_mut_ptr(), text.len()) };
        assert!(size <= text.len());
        // SAFETY: the library ends what it writes by zero.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) };
        text.to_str().expect("UTF-8").to_string()
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        // SAFETY: made by the library and given back once.
        unsafe { lowtide_flow_free(self.0) };
    }
}

#[test]
fn a_controller_says_which_ecn_bits_packets_are_to_carry() {
    for (spec, expected) in [(c"newreno", 0b10), (c"window", 0b00)] {
        assert_eq!(Flow::new(spec).control().ecn, expected, "{spec:?}");
    }
}

#[test]
fn null_is_refused_everywhere_and_freeing_it_does_nothing() {
    use LowtideStatus::NullPointer;
    let flow = Flow::new(c"newreno");
    let mut out = null_mut();
    // SAFETY: null is what the library promises to bear; everything else is valid.
    unsafe {
        let new = |spec, config, out| lowtide_flow_new(spec, config, out, null_mut(), 0);
        assert_eq!(new(null(), &CONFIG, &mut out), NullPointer);
        assert_eq!(new(c"bbr".as_ptr(), null(), &mut out), NullPointer);
        assert_eq!(new(c"bbr".as_ptr(), &CONFIG, null_mut()), NullPointer);
        let f = null_mut();
        assert_eq!(lowtide_flow_sent(f, 9, 0, 1), NullPointer);
        assert_eq!(lowtide_flow_acked(f, 0), NullPointer);
        assert_eq!(lowtide_flow_acked_at(f, 0, 0, 0), NullPointer);
        assert_eq!(lowtide_flow_lost(f, 0), NullPointer);
        assert_eq!(lowtide_flow_discarded(f, 0), NullPointer);
        assert_eq!(lowtide_flow_marked(f, 1), NullPointer);
        assert_eq!(lowtide_flow_timeout(f, 0), NullPointer);
        assert_eq!(lowtide_flow_spurious_timeout(f), NullPointer);
        assert_eq!(lowtide_flow_settle(f, 9, 1), NullPointer);
        assert_eq!(lowtide_flow_wakeup(f, 9), NullPointer);
        assert_eq!(lowtide_flow_app_limited(f), NullPointer);
        assert_eq!(lowtide_flow_mtu(f, 1), NullPointer);
        assert_eq!(lowtide_flow_feedback(f, 9, 0, 1), NullPointer);
        assert_eq!(lowtide_flow_control(f, null_mut()), NullPointer);
        assert_eq!(lowtide_flow_control(flow.0, null_mut()), NullPointer);
        assert_eq!(lowtide_flow_snapshot(f, null_mut()), NullPointer);
        assert_eq!(lowtide_flow_snapshot(flow.0, null_mut()), NullPointer);
        assert_eq!(lowtide_flow_breaches(f, null_mut(), 0), 1);
        let (mut receiver, mut rate) = (null_mut(), 0);
        let new = |spec, out| lowtide_receiver_new(spec, out, null_mut(), 0);
        assert_eq!(new(null(), &mut receiver), NullPointer);
        assert_eq!(new(c"rbbr".as_ptr(), null_mut()), NullPointer);
        let r = null_mut();
        assert_eq!(lowtide_receiver_on_packet(r, 1, 1, 0), NullPointer);
        assert_eq!(
            lowtide_receiver_feedback_for_ack(r, 1, &mut rate),
            NullPointer
        );
        lowtide_flow_free(null_mut());
        lowtide_receiver_free(null_mut());
    }
}

#[test]
fn a_bad_spec_leaves_no_handle_and_a_message_cut_to_its_buffer() {
    let flow = Flow::new(c"bbr");
    let mut out = flow.0;
    let mut message = [1; 24];
    let mut make = |spec: &CStr, size: usize| {
        // SAFETY: all pointers are valid, `size` is at most the buffer's.
        let status = unsafe {
            let buffer = message.as_mut_ptr();
            lowtide_flow_new(spec.as_ptr(), &CONFIG, &mut out, buffer, size)
        };
        assert_eq!(status, LowtideStatus::BadSpec);
        assert!(out.is_null());
        // SAFETY: the library ends what it writes by zero.
        let text = unsafe { CStr::from_ptr(message.as_ptr()) };
        text.to_str().expect("UTF-8").to_string()
    };
    assert_eq!(make(c"bbr:agregation=1", 24), "'bbr' has no parameter ");
    assert_eq!(make(c"\xff", 24), "the spec is not UTF-8");
    assert_eq!(make(c"x\u{e4}", 5), "ther");
    // No character is cut in two: the 23rd byte is the first of ä.
    assert_eq!(make(c"0\u{e4}", 24), "there is no controller ");
}

#[test]
fn values_outside_of_their_ranges_are_refused_and_zero_is_the_usual_value() {
    let bad: [fn(&mut LowtideConfig); 3] = [
        |config| config.transport = 2,
        |config| config.checked = 255,
        |config| config.max_datagram = 0,
    ];
    for change in bad {
        let mut config = CONFIG;
        change(&mut config);
        assert!(Flow::make(c"bbr", &config).is_err_and(|status| status == LowtideStatus::BadValue));
    }
    let usual = LowtideConfig {
        initial_window: 0,
        max_datagram: 1500,
        ..CONFIG
    };
    assert_eq!(Flow::with(c"newreno", &usual).control().cwnd, 14_720);
}

#[test]
fn events_out_of_order_are_refused_and_change_nothing() {
    use LowtideStatus::{BadValue, Ok, TimeWentBack, WrongOrder};
    let three = LowtideConfig {
        initial_window: 3000,
        ..CONFIG
    };
    let flow = Flow::with(c"newreno", &three);
    assert_eq!(flow.send(4, 7), TimeWentBack, "before the connection");
    assert_eq!(flow.ack(0), WrongOrder, "nothing was sent");
    assert_eq!(flow.time_out(0), WrongOrder);
    for number in [7, 8, 11] {
        assert_eq!(flow.send(10, number), Ok);
    }
    assert_eq!(flow.send(10, 11), WrongOrder);
    assert_eq!(flow.send(9, 12), TimeWentBack);
    assert_eq!(flow.ack(12), WrongOrder, "never sent");
    assert_eq!(flow.time_out(2), BadValue);
    assert_eq!(flow.undo_timeout(), WrongOrder);
    // SAFETY: the handle is alive.
    unsafe {
        assert_eq!(lowtide_flow_mtu(flow.0, 0), BadValue);
        assert_eq!(lowtide_flow_sent(flow.0, 20, 12, 0), BadValue);
    }
    // None of them moved the clock or the window: the same events are good at time 10.
    assert_eq!(flow.control().cwnd, 3000);
    assert_eq!(flow.ack(7), Ok);
    assert_eq!(flow.send(10, 12), WrongOrder, "first comes the settlement");
    assert_eq!(flow.settle(9), TimeWentBack);
    assert_eq!(flow.control().cwnd, 3000);
    assert_eq!(flow.settle(10), Ok);
    assert_eq!(flow.control().cwnd, 4000);
    assert_eq!(flow.lose(8), Ok);
    assert_eq!(flow.settle(20), Ok);
    assert_eq!(flow.control().cwnd, 2000);
    assert_eq!(flow.time_out(0), Ok);
    assert_eq!(flow.settle(20), Ok);
    assert_eq!(flow.control().cwnd, 1000);
    assert_eq!(flow.undo_timeout(), Ok);
    assert_eq!(flow.undo_timeout(), WrongOrder);
    assert_eq!(flow.send(20, 12), WrongOrder, "first comes the settlement");
}

#[test]
fn a_packet_is_acknowledged_once_and_only_if_it_was_sent() {
    use LowtideStatus::{Ok, WrongOrder};
    let flow = Flow::new(c"cubic");
    for number in [3, 4, 7, 8, 9] {
        assert_eq!(flow.send(10, number), Ok);
    }
    assert_eq!((flow.ack(4), flow.ack(3)), (Ok, Ok));
    assert_eq!(flow.ack(4), WrongOrder, "again");
    assert_eq!(flow.settle(20), Ok);
    let (grown, inflight) = (flow.control().cwnd, flow.control().inflight);
    assert!(grown > 10_000 && inflight == 3000);
    assert_eq!(flow.ack(4), WrongOrder, "again");
    assert_eq!(flow.ack(5), WrongOrder, "never sent");
    assert_eq!(flow.lose(3), WrongOrder, "it arrived");
    assert_eq!(flow.settle(20), Ok);
    assert_eq!(flow.control().cwnd, grown, "nothing was repeated");

    assert_eq!(flow.lose(7), Ok);
    assert_eq!(flow.lose(7), WrongOrder, "lost already");
    assert_eq!(flow.settle(20), Ok);
    assert_eq!(flow.ack(7), Ok, "it arrived after all");
    assert_eq!(flow.ack(7), WrongOrder);
    // SAFETY: the handle is alive.
    unsafe {
        assert_eq!(lowtide_flow_discarded(flow.0, 8), Ok);
        assert_eq!(lowtide_flow_discarded(flow.0, 8), WrongOrder);
    }
    assert_eq!(flow.ack(8), WrongOrder, "discarded");
    assert_eq!(flow.control().inflight, 1000);
}

#[test]
fn what_a_spurious_timeout_took_back_is_not_lost_with_the_next_acknowledgment() {
    use LowtideStatus::Ok;
    let tcp = LowtideConfig {
        transport: LowtideTransport::Tcp as u32,
        checked: 1,
        ..CONFIG
    };
    let flow = Flow::with(c"bbr", &tcp);
    for number in 0..10 {
        assert_eq!(flow.send(10, number), Ok);
    }
    for number in 0..10 {
        assert_eq!(flow.lose(number), Ok);
    }
    assert_eq!((flow.time_out(0), flow.settle(20)), (Ok, Ok));
    assert_eq!((flow.control().cwnd, flow.control().inflight), (1000, 0));
    assert_eq!((flow.undo_timeout(), flow.ack(0)), (Ok, Ok));
    // The window comes back with the acknowledgment that showed it.
    assert_eq!(flow.settle_with(30, 20), Ok);
    assert!(flow.control().cwnd >= 10_000);
    assert_eq!(flow.control().inflight, 9000);
    assert_eq!(flow.breaches(), "");
}

#[test]
fn a_checked_host_is_told_how_it_broke_the_contract() {
    use LowtideStatus::{BrokeContract, Ok};
    let checked = LowtideConfig {
        checked: 1,
        ..CONFIG
    };
    let flow = Flow::with(c"bbr", &checked);
    assert_eq!((flow.send(10, 0), flow.send(10, 1)), (Ok, Ok));
    assert_eq!((flow.lose(0), flow.ack(1)), (Ok, Ok));
    assert_eq!(flow.settle_with(50, 41), BrokeContract);
    let breach = "the RTT sample is 41ns, but the newest acknowledged packet left only 40ns ago\n";
    assert_eq!(flow.breaches(), breach);
    assert_eq!(flow.send(50, 2), Ok, "told once");
    assert_eq!(flow.send(50, 3), Ok);
    // SAFETY: the handle is alive.
    assert_eq!(unsafe { lowtide_flow_discarded(flow.0, 3) }, Ok);
    assert_eq!((flow.ack(2), flow.settle_with(90, 40)), (Ok, Ok));
    assert_eq!(flow.breaches(), breach);
}

#[test]
fn the_receiver_of_rbbr_estimates_what_arrives_while_the_sender_is_regular() {
    use LowtideStatus::{BadValue, Ok, TimeWentBack};
    let (mut receiver, mut rate) = (null_mut(), 0);
    let spec = c"rbbr:filter=none,interval=10ms";
    // SAFETY: pointers are valid; the handle is used until it is freed.
    unsafe {
        let new = |spec: &CStr, out| lowtide_receiver_new(spec.as_ptr(), out, null_mut(), 0);
        assert_eq!(new(c"bbr", &mut receiver), Ok);
        assert!(receiver.is_null(), "BBR needs no receiver");
        assert_eq!(new(c"rbbr:x=1", &mut receiver), LowtideStatus::BadSpec);
        assert_eq!(new(spec, &mut receiver), Ok);
        let mut packet = |ms: u64, signal: u32| {
            let status = lowtide_receiver_on_packet(receiver, ms * 1_000_000, 1000, signal);
            let fed = lowtide_receiver_feedback_for_ack(receiver, ms * 1_000_000, &mut rate);
            (status, fed, rate)
        };
        let regular = LowtidePeerSignal::Regular as u32;
        let suspend = LowtidePeerSignal::Suspend as u32;
        assert_eq!(packet(100, suspend), (Ok, Ok, LOWTIDE_NONE));
        assert_eq!(packet(101, regular), (Ok, Ok, LOWTIDE_NONE));
        assert_eq!(packet(106, 0), (Ok, Ok, LOWTIDE_NONE));
        // 2000 bytes in 10 ms.
        assert_eq!(packet(111, 0), (Ok, Ok, 200_000));
        assert_eq!(packet(112, 3).0, BadValue);
        assert_eq!(packet(110, 0).0, TimeWentBack);
        lowtide_receiver_free(receiver);
    }
}

#[test]
fn the_version_is_the_packages_in_both_forms() {
    // SAFETY: a static string.
    let text = unsafe { CStr::from_ptr(lowtide_version()) };
    let number = lowtide_version_number();
    let parts = format!("{}.{}.{}", number >> 16, number >> 8 & 0xff, number & 0xff);
    assert_eq!(text.to_str(), std::result::Result::Ok(parts.as_str()));
    assert_eq!(parts, env!("CARGO_PKG_VERSION"));
}
