//! Every misuse has its status, and an event that is refused changes nothing.

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use lowtide_ffi::*;

struct Handle(*mut LowtideController);

impl Handle {
    fn new(spec: &CStr) -> Self {
        let mut out = null_mut();
        // SAFETY: all pointers are valid; there is no buffer for the message.
        let status =
            unsafe { lowtide_controller_new(spec.as_ptr(), &config(), &mut out, null_mut(), 0) };
        assert_eq!(status, LowtideStatus::Ok);
        Self(out)
    }

    fn control(&self) -> LowtideControl {
        let mut control = std::mem::MaybeUninit::uninit();
        // SAFETY: the handle is alive and the place may be written.
        let status = unsafe { lowtide_control(self.0, control.as_mut_ptr()) };
        assert_eq!(status, LowtideStatus::Ok);
        // SAFETY: written, as the status says.
        unsafe { control.assume_init() }
    }

    fn send(&self, now: u64, number: u64) -> LowtideStatus {
        // SAFETY: the handle is alive.
        unsafe { lowtide_on_packet_sent(self.0, now, number, 1000, 1000, false) }
    }

    fn ack(&self, now: u64, packets: &[LowtidePacket]) -> LowtideStatus {
        let ack = LowtideAck {
            now,
            packets: packets.as_ptr(),
            packet_count: packets.len(),
            rtt: 10,
            prior_inflight: 10_000,
            inflight: 0,
            rate_sample: null(),
        };
        // SAFETY: the handle is alive and the event complete.
        unsafe { lowtide_on_ack(self.0, &ack) }
    }

    fn lose(&self, now: u64, packets: &[LowtidePacket]) -> LowtideStatus {
        let lost = |p: &LowtidePacket| LowtideLostPacket {
            number: p.number,
            bytes: p.bytes,
            sent_at: p.sent_at,
            sent_inflight: p.bytes,
            lost: p.bytes,
            app_limited: 0,
        };
        let packets: Vec<LowtideLostPacket> = packets.iter().map(lost).collect();
        // SAFETY: the handle is alive; the slice gives pointer and length.
        unsafe { lowtide_on_loss(self.0, now, packets.as_ptr(), packets.len(), 0) }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made by the library and given back once.
        unsafe { lowtide_controller_free(self.0) };
    }
}

fn config() -> LowtideConfig {
    LowtideConfig {
        max_datagram: 1000,
        initial_window: 10_000,
        now: 5,
        seed: 0,
    }
}

fn packet(number: u64, sent_at: u64) -> LowtidePacket {
    LowtidePacket {
        number,
        bytes: 1000,
        sent_at,
        received_at: LOWTIDE_NONE,
    }
}

#[test]
fn a_controller_says_which_ecn_bits_packets_are_to_carry() {
    for (spec, expected) in [(c"newreno", 0b10), (c"window", 0b00)] {
        let handle = Handle::new(spec);
        let mut bits = 9;
        // SAFETY: the handle is alive and the place may be written.
        let status = unsafe { lowtide_ecn(handle.0, &mut bits) };
        assert_eq!((status, bits), (LowtideStatus::Ok, expected), "{spec:?}");
    }
}

#[test]
fn null_is_refused_everywhere_and_freeing_it_does_nothing() {
    use LowtideStatus::NullPointer;
    let handle = Handle::new(c"newreno");
    let mut out = null_mut();
    let mut state = std::mem::MaybeUninit::uninit();
    let config = config();
    // SAFETY: null is what the library promises to bear; everything else is valid.
    unsafe {
        let new = |spec, config, out| lowtide_controller_new(spec, config, out, null_mut(), 0);
        assert_eq!(new(null(), &config, &mut out), NullPointer);
        assert_eq!(new(c"bbr".as_ptr(), null(), &mut out), NullPointer);
        assert_eq!(new(c"bbr".as_ptr(), &config, null_mut()), NullPointer);
        let tcp = |spec, config, out| lowtide_controller_new_tcp(spec, config, out, null_mut(), 0);
        assert_eq!(tcp(null(), &config, &mut out), NullPointer);
        assert_eq!(tcp(c"bbr".as_ptr(), null(), &mut out), NullPointer);
        assert_eq!(tcp(c"bbr".as_ptr(), &config, null_mut()), NullPointer);
        let c = null_mut();
        assert_eq!(lowtide_on_packet_sent(c, 9, 0, 1, 1, false), NullPointer);
        assert_eq!(lowtide_on_ack(c, null()), NullPointer);
        assert_eq!(lowtide_on_ack(handle.0, null()), NullPointer);
        assert_eq!(lowtide_on_loss(handle.0, 9, null(), 1, 0), NullPointer);
        assert_eq!(lowtide_on_timeout(c, 9, 0, 0), NullPointer);
        assert_eq!(lowtide_on_spurious_timeout(c, 9), NullPointer);
        assert_eq!(lowtide_on_ecn_ce(c, 9, 0, 1), NullPointer);
        assert_eq!(lowtide_ecn(c, &mut 0), NullPointer);
        assert_eq!(lowtide_ecn(handle.0, null_mut()), NullPointer);
        assert_eq!(lowtide_on_mtu_change(c, 1), NullPointer);
        assert_eq!(lowtide_on_feedback(c, 9, 0, 1), NullPointer);
        assert_eq!(lowtide_on_wakeup(c, 9), NullPointer);
        assert_eq!(lowtide_control(handle.0, null_mut()), NullPointer);
        assert_eq!(lowtide_snapshot(handle.0, null_mut()), NullPointer);
        assert_eq!(lowtide_config_init(null_mut(), 1200), NullPointer);
        assert_eq!(lowtide_sampler_new(null_mut()), NullPointer);
        let s = null_mut();
        let place = state.as_mut_ptr();
        assert_eq!(
            lowtide_sampler_on_packet_sent(s, 9, 1, 0, place),
            NullPointer
        );
        assert_eq!(
            lowtide_sampler_on_packet_acked(s, 9, 1, 0, null()),
            NullPointer
        );
        assert_eq!(
            lowtide_sampler_on_packet_lost(s, 1, null(), &mut 0),
            NullPointer
        );
        assert_eq!(lowtide_sampler_on_app_limited(s, 1), NullPointer);
        assert!(!lowtide_sampler_is_app_limited(s));
        assert_eq!(lowtide_sampler_sample(s, 1, null_mut()), NullPointer);
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
        lowtide_controller_free(null_mut());
        lowtide_sampler_free(null_mut());
        lowtide_receiver_free(null_mut());
    }
}

#[test]
fn a_bad_spec_leaves_no_handle_and_a_message_cut_to_its_buffer() {
    let handle = Handle::new(c"bbr");
    let mut out = handle.0;
    let mut message = [1; 24];
    let mut make = |spec: &CStr, size: usize| {
        // SAFETY: all pointers are valid, `size` is at most the buffer's.
        let status = unsafe {
            let (config, buffer) = (config(), message.as_mut_ptr());
            lowtide_controller_new(spec.as_ptr(), &config, &mut out, buffer, size)
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
fn events_out_of_order_are_refused_and_change_nothing() {
    use LowtideStatus::{BadValue, Ok, TimeWentBack, WrongOrder};
    let handle = Handle::new(c"newreno");
    assert_eq!(handle.send(4, 7), TimeWentBack, "before the connection");
    assert_eq!(
        handle.ack(9, &[packet(0, 8)]),
        WrongOrder,
        "nothing was sent"
    );
    // SAFETY: the handle is alive.
    let timeout = |now, kind| unsafe { lowtide_on_timeout(handle.0, now, kind, 0) };
    assert_eq!(timeout(9, 0), WrongOrder);
    for number in [7, 8, 11] {
        assert_eq!(handle.send(10, number), Ok);
    }
    assert_eq!(handle.send(10, 11), WrongOrder);
    assert_eq!(handle.send(9, 12), TimeWentBack);
    assert_eq!(handle.ack(20, &[]), BadValue);
    assert_eq!(handle.ack(20, &[packet(12, 10)]), WrongOrder, "never sent");
    let swapped = [packet(8, 10), packet(7, 10)];
    assert_eq!(handle.ack(20, &swapped), WrongOrder);
    assert_eq!(handle.lose(20, &swapped), WrongOrder);
    assert_eq!(handle.ack(20, &[packet(7, 21)]), WrongOrder, "sent later");
    assert_eq!(timeout(20, 2), BadValue);
    // SAFETY: the handle is alive.
    unsafe {
        assert_eq!(lowtide_on_spurious_timeout(handle.0, 20), WrongOrder);
        assert_eq!(lowtide_on_mtu_change(handle.0, 0), BadValue);
    }
    // None of them moved the clock or the window: the same events are good at time 10.
    assert_eq!(handle.control().cwnd, 10_000);
    assert_eq!(handle.ack(10, &[packet(7, 10)]), Ok);
    assert_eq!(handle.control().cwnd, 11_000);
    assert_eq!(handle.lose(20, &[packet(8, 10)]), Ok);
    assert_eq!(handle.control().cwnd, 5_500);
    assert_eq!(timeout(20, 0), Ok);
    assert_eq!(handle.control().cwnd, 1000);
    // SAFETY: the handle is alive.
    unsafe {
        assert_eq!(lowtide_on_spurious_timeout(handle.0, 20), Ok);
        assert_eq!(lowtide_on_spurious_timeout(handle.0, 20), WrongOrder);
    }
}

#[test]
fn a_packet_is_acknowledged_once_and_only_if_it_was_sent() {
    use LowtideStatus::{Ok, WrongOrder};
    let handle = Handle::new(c"cubic");
    for number in [3, 4, 7, 8, 9] {
        assert_eq!(handle.send(10, number), Ok);
    }
    assert_eq!(handle.ack(20, &[packet(3, 10), packet(4, 10)]), Ok);
    let grown = handle.control().cwnd;
    assert!(grown > 10_000);
    assert_eq!(handle.ack(20, &[packet(4, 10)]), WrongOrder, "again");
    assert_eq!(handle.ack(20, &[packet(5, 10)]), WrongOrder, "never sent");
    let one_is_old = [packet(4, 10), packet(7, 10)];
    assert_eq!(handle.ack(20, &one_is_old), WrongOrder);
    assert_eq!(handle.lose(20, &[packet(3, 10)]), WrongOrder, "it arrived");
    assert_eq!(handle.control().cwnd, grown, "nothing was repeated");

    assert_eq!(handle.lose(20, &[packet(7, 10)]), Ok);
    assert_eq!(
        handle.lose(20, &[packet(7, 10)]),
        WrongOrder,
        "lost already"
    );
    assert_eq!(handle.ack(21, &[packet(7, 10)]), Ok, "it arrived after all");
    assert_eq!(handle.ack(21, &[packet(7, 10)]), WrongOrder);
    assert_eq!(handle.ack(21, &[packet(8, 10)]), Ok, "of the refused event");
}

#[test]
fn a_flag_is_zero_or_one() {
    use LowtideStatus::{BadValue, Ok};
    let handle = Handle::new(c"bbr");
    assert_eq!(handle.send(10, 0), Ok);
    let lost = |app_limited| LowtideLostPacket {
        number: 0,
        bytes: 1000,
        sent_at: 10,
        sent_inflight: 1000,
        lost: 1000,
        app_limited,
    };
    let mut state = LowtideRateState {
        delivered: 0,
        delivered_at: 0,
        first_sent_at: 0,
        lost: 0,
        inflight: 0,
        app_limited: 255,
    };
    let mut sampler = null_mut();
    // SAFETY: pointers are valid; the sampler is used until it is freed.
    unsafe {
        assert_eq!(lowtide_on_loss(handle.0, 20, &lost(2), 1, 0), BadValue);
        assert_eq!(lowtide_on_loss(handle.0, 20, &lost(1), 1, 0), Ok);
        assert_eq!(lowtide_sampler_new(&mut sampler), Ok);
        let ack = |state: &_| lowtide_sampler_on_packet_acked(sampler, 20, 1000, 10, state);
        assert_eq!(ack(&state), BadValue);
        state.app_limited = 1;
        assert_eq!(ack(&state), Ok);
        lowtide_sampler_free(sampler);
    }
}

#[test]
fn what_a_spurious_timeout_took_back_is_not_lost_with_the_next_acknowledgment() {
    use LowtideStatus::Ok;
    let handle = Handle::new(c"bbr");
    let packets: Vec<LowtidePacket> = (0..10).map(|number| packet(number, 10)).collect();
    for p in &packets {
        assert_eq!(handle.send(10, p.number), Ok);
    }
    assert_eq!(handle.lose(20, &packets), Ok);
    // SAFETY: the handle is alive.
    unsafe {
        assert_eq!(lowtide_on_timeout(handle.0, 20, 0, 0), Ok);
        assert_eq!(handle.control().cwnd, 1000);
        assert_eq!(lowtide_on_spurious_timeout(handle.0, 30), Ok);
    }
    // The window comes back with the acknowledgment that showed it.
    assert_eq!(handle.ack(30, &packets[..1]), Ok);
    assert!(handle.control().cwnd >= 10_000);
}

#[test]
fn the_sampler_refuses_time_that_goes_back_and_tells_no_sample_from_a_mistake() {
    use LowtideStatus::{NoSample, Ok, TimeWentBack, WrongOrder};
    let mut sampler = null_mut();
    let mut state = std::mem::MaybeUninit::uninit();
    let mut sample = std::mem::MaybeUninit::uninit();
    // SAFETY: pointers are valid; what is read was written, as the status says.
    unsafe {
        assert_eq!(lowtide_sampler_new(&mut sampler), Ok);
        let place = state.as_mut_ptr();
        assert_eq!(
            lowtide_sampler_on_packet_sent(sampler, 100, 1000, 0, place),
            Ok
        );
        assert_eq!(
            lowtide_sampler_on_packet_sent(sampler, 99, 1000, 0, place),
            TimeWentBack
        );
        let sample = sample.as_mut_ptr();
        assert_eq!(
            lowtide_sampler_sample(sampler, LOWTIDE_NONE, sample),
            NoSample
        );
        let ack = |now, sent| lowtide_sampler_on_packet_acked(sampler, now, 1000, sent, place);
        assert_eq!(ack(100, 101), WrongOrder);
        assert_eq!(ack(1100, 100), Ok);
        assert_eq!(lowtide_sampler_sample(sampler, LOWTIDE_NONE, sample), Ok);
        // 1000 bytes in 1 µs.
        assert_eq!((*sample).delivery_rate, 1_000_000_000);
        lowtide_sampler_free(sampler);
    }
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
