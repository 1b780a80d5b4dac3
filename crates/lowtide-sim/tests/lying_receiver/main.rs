//! What senders let their receivers' reports and acknowledgments do.

/// The methods in which a receiver's lies play no part, as `inner` has them.
macro_rules! as_inner_has {
    () => {
        fn on_timeout(&mut self, timeout: &TimeoutEvent) {
            self.inner.on_timeout(timeout);
        }
        fn on_spurious_timeout(&mut self, now: Time) {
            self.inner.on_spurious_timeout(now);
        }
        fn on_mtu_change(&mut self, max_datagram: Bytes) {
            self.inner.on_mtu_change(max_datagram);
        }
        fn pacing_rate(&self) -> Option<Rate> {
            self.inner.pacing_rate()
        }
        fn send_quantum(&self) -> Bytes {
            self.inner.send_quantum()
        }
        fn peer_signal(&self) -> Option<PeerSignal> {
            self.inner.peer_signal()
        }
        fn snapshot(&self) -> Snapshot {
            self.inner.snapshot()
        }
    };
}

mod deceived;
mod ebb;
mod grid;
mod rbbr;
mod two_flows;
mod withheld;
