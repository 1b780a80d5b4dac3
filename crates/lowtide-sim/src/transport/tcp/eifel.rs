//! Eifel detection: whether a retransmission timeout was spurious (RFC 3522 §3.2).

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Eifel {
    /// After a timeout and until the next acknowledgment: transmissions below this number are the
    /// originals that it gave up.
    gave_up_below: Option<u64>,
}

impl Eifel {
    /// A timeout gave up all transmissions below `next`.
    pub(super) fn on_timeout(&mut self, next: u64) {
        self.gave_up_below = Some(next);
    }

    /// Whether the verdict is still out, for which the originals must be remembered.
    #[inline]
    pub(super) fn is_waiting(&self) -> bool {
        self.gave_up_below.is_some()
    }

    /// Data was newly acknowledged, in answer to transmission `trigger`. The first such acknowledgment
    /// after a timeout tells: one that answers an original and not a retransmission shows that the
    /// timeout was spurious. Returns the number below which it gave up transmissions.
    #[inline]
    pub(super) fn on_ack(&mut self, trigger: u64) -> Option<u64> {
        self.gave_up_below.take().filter(|below| trigger < *below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_acknowledgment_after_a_timeout_tells_whether_it_was_spurious() {
        let mut eifel = Eifel::default();
        assert_eq!(eifel.on_ack(3), None, "no timeout");
        eifel.on_timeout(10);
        assert!(eifel.is_waiting());
        assert_eq!(eifel.on_ack(9), Some(10), "an original arrived");
        assert_eq!(eifel.on_ack(9), None, "the verdict is out");
        eifel.on_timeout(20);
        assert_eq!(eifel.on_ack(20), None, "the retransmission arrived");
        assert!(!eifel.is_waiting());
        assert_eq!(eifel.on_ack(19), None, "too late");
    }
}
