//! What is to be recorded, and what that may cost.

use lowtide_cc::units::{Bytes, Duration, Rate};

/// Between which limits the sender keeps the queueing delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueBand {
    /// Below this it sends more.
    pub low: Duration,
    /// Above this it sends less.
    pub high: Duration,
}

impl Default for QueueBand {
    /// 100 to 400 ms. The lower limit outlasts a round trip of feedback in which the rate doubles, and the pauses of
    /// schedulers; the upper one is well below what carriers' queues hold, seconds, and what Saturator kept in them, 750 to
    /// 3000 ms.
    fn default() -> Self {
        Self {
            low: Duration::from_millis(100),
            high: Duration::from_millis(400),
        }
    }
}

impl QueueBand {
    /// Where the sender aims: the geometric mean.
    pub(crate) fn middle(self) -> Duration {
        let product = self.low.as_secs_f64() * self.high.as_secs_f64();
        Duration::from_nanos((product.sqrt() * 1e9) as u64)
    }
}

/// What is to be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Towards the client.
    pub down: bool,
    /// Towards the server.
    pub up: bool,
    /// How long the link is kept backlogged.
    pub duration: Duration,
    /// The most that is sent each way.
    pub max_rate: Rate,
    /// The most that is sent while the link is kept backlogged, of all ways together.
    pub max_volume: Bytes,
    /// The queueing delay.
    pub queue: QueueBand,
    /// Bytes of a packet, IP header included.
    pub packet: u16,
}

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Neither way is to be recorded.
    #[error("nothing is to be recorded: name a way")]
    NoWay,
    /// The time to record is too short or too long.
    #[error("the time to record must lie between {} and {} s", Plan::SHORTEST.as_secs_f64(), Plan::LONGEST.as_secs_f64())]
    Duration,
    /// The limits of the queueing delay make no band.
    #[error(
        "the limits of the queueing delay must rise, from 5 ms to 10 s, the upper at least 1.5 times the lower"
    )]
    Queue,
    /// Packets are too small or too large.
    #[error("a packet must have {} to {} bytes", Plan::PACKETS.start(), Plan::PACKETS.end())]
    Packet,
    /// The rate or volume is so low that nothing would be recorded.
    #[error("the rate must be 100 kbit/s at least, and the volume 100 kB")]
    TooLittle,
}

impl Plan {
    /// The shortest time.
    pub const SHORTEST: Duration = Duration::from_secs(1);
    /// The longest: times are counted in microseconds, of 32 bits.
    pub const LONGEST: Duration = Duration::from_secs(3600);
    /// What a packet may have.
    pub const PACKETS: std::ops::RangeInclusive<u16> = 300..=9000;
    /// Before and after the time to record the link is quiet but for a few packets, which see its delay without a queue.
    pub const QUIET: Duration = Duration::from_secs(1);
    /// What is sent then, one each of this.
    pub(crate) const QUIET_INTERVAL: Duration = Duration::from_millis(20);
    /// How long the queue may take to drain before the second quiet time.
    pub(crate) const DRAIN: Duration = Duration::from_secs(2);

    /// Whether it can be done.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check(&self) -> Result<(), PlanError> {
        if !(self.down || self.up) {
            return Err(PlanError::NoWay);
        }
        if !(Self::SHORTEST..=Self::LONGEST).contains(&self.duration) {
            return Err(PlanError::Duration);
        }
        let QueueBand { low, high } = self.queue;
        let bounds = Duration::from_millis(5)..=Duration::from_secs(10);
        if !bounds.contains(&low) || !bounds.contains(&high) || high < low.mul_f64(1.5) {
            return Err(PlanError::Queue);
        }
        if !Self::PACKETS.contains(&self.packet) {
            return Err(PlanError::Packet);
        }
        if self.max_rate < Rate::from_bits_per_sec(100_000) || self.max_volume < Bytes::new(100_000)
        {
            return Err(PlanError::TooLittle);
        }
        Ok(())
    }

    /// The packets of each way that a server notes at most, 12 bytes each.
    const MOST_NOTED: u64 = 3_000_000;

    /// How many ways are recorded.
    #[must_use]
    pub fn ways(&self) -> u64 {
        u64::from(self.down) + u64::from(self.up)
    }

    /// The most that one way sends while it is kept backlogged.
    #[must_use]
    pub fn volume_of_way(&self) -> Bytes {
        let share = Bytes::new(self.max_volume.get() / self.ways().max(1));
        share.min(self.max_rate.volume_in(self.duration))
    }

    /// The most that all of it may cost, both ways together.
    #[must_use]
    pub fn most(&self) -> Bytes {
        let probes = 2 * Self::QUIET.as_nanos() / Self::QUIET_INTERVAL.as_nanos();
        let quiet = Bytes::new(u64::from(self.packet) * probes);
        // Of at most 120 bytes, each way; and what is asked for at the end, 8 bytes for each packet.
        let feedback = Bytes::new(self.most_feedback() as u64 * 120 * 2);
        let asked = Bytes::new(self.most_packets() as u64 * 8);
        (self.volume_of_way() + quiet) * self.ways() + feedback + asked
    }

    /// From the first packet to the last, without what is asked for at the end.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.duration + Self::QUIET * 3 + Self::DRAIN
    }

    /// The packets that one way may have, of all kinds.
    pub(crate) fn most_packets(&self) -> usize {
        let data = self.volume_of_way().get() / u64::from(self.packet);
        (data + 1000) as usize
    }

    /// The feedback that one end may send: each 10 ms, for each 32 packets that came, and for each probe.
    pub(crate) fn most_feedback(&self) -> usize {
        (self.length().as_nanos() / 10_000_000) as usize + self.most_packets() / 32 + 200
    }

    /// This within a server's limits. Of small packets less is granted: each of them is noted.
    #[must_use]
    pub(crate) fn within(mut self, duration: Duration, rate: Rate, volume: Bytes) -> Self {
        let noted = Bytes::new(Self::MOST_NOTED * u64::from(self.packet) * self.ways());
        self.duration = self.duration.min(duration);
        self.max_rate = self.max_rate.min(rate);
        self.max_volume = self.max_volume.min(volume).min(noted);
        self
    }
}
