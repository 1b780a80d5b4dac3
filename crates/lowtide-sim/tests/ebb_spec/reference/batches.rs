//! §8: batches.

#[derive(Debug, Default)]
pub(super) struct Batches {
    /// B.
    pub(super) size: f64,
    current: f64,
    full: f64,
}

impl Batches {
    /// Returns what a batch before an idle time lacked.
    pub(super) fn arrival(&mut self, bytes: f64, begins: bool, idle: bool, cwnd: f64) -> f64 {
        let mut ended = 0.0;
        if begins {
            ended = self.current;
            self.current = 0.0;
        }
        self.current += bytes;
        if ended == 0.0 {
            return 0.0;
        }
        let weight = ended / (ended + 4.0 * cwnd);
        self.size += weight * (ended - self.size);
        if idle {
            return (self.full - ended).max(0.0);
        }
        self.full = if self.full == 0.0 {
            ended
        } else {
            self.full + weight * (ended - self.full)
        };
        0.0
    }
}
