//! Worlds: what a network may be like where a controller is used. What lies outside is no finding there.

use lowtide_cc::registry::unknown;

/// From the least to the greatest, both included.
pub type Range = (u64, u64);

/// Bounds of the networks of one kind of access.
///
/// What is at most zero does not happen in that world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct World {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Rate of the bottleneck, kbit/s.
    pub rate_kbit: Range,
    /// Rates that follow each other, at most.
    pub rates: u64,
    /// How long a rate lasts, ms.
    pub rate_ms: Range,
    /// Round-trip propagation delay, µs.
    pub rtt_us: Range,
    /// How far the round-trip delay moves at once at most, µs.
    pub rtt_move_us: u64,
    /// Random extra delay, µs at most.
    pub jitter_us: u64,
    /// Whether jitter reorders packets.
    pub reorders: bool,
    /// Random loss, millionths at most.
    pub loss_ppm: u64,
    /// Packets lost in a row on average, at most.
    pub burst: u64,
    /// How long nothing passes, ms at most.
    pub outage_ms: u64,
    /// The queue, tenths of a BDP.
    pub buffer_tenths: Range,
    /// Whether the queue may have no limit.
    pub unlimited: bool,
    /// Whether CoDel, FQ-CoDel or PIE may manage the queue.
    pub managed: bool,
    /// Whether a policer may stand before the queue.
    pub policed: bool,
    /// How far batches of acknowledgments are apart, µs at most.
    pub ack_batch_us: u64,
    /// Packets that an acknowledgment stands for, at most.
    pub ack_every: u64,
    /// Loss of acknowledgments, millionths at most.
    pub ack_loss_ppm: u64,
    /// Share of the rate that others take now and then, percent at most.
    pub cross_percent: u64,
}

/// 4G and 5G.
///
/// Rates, their moves and outages: the recorded LTE and 5G links of `docs/simulator/traces.md` (0.1 to 400 Mbit/s, bins of
/// 100 ms; outages of up to 3 s). Buffers: Huang et al., SIGCOMM 2013, §4.3 (1200 kB and more). Loss: link-layer
/// retransmission leaves 10⁻² to 10⁻⁶ (3GPP TS 23.203, table 6.1.7). Delivery in order: RLC. Batches: scheduling requests
/// are 5 to 80 ms apart (3GPP TS 36.213, table 10.1.5-1).
const CELLULAR: World = World {
    name: "cellular",
    about: "4G and 5G: rates that move all the time, deep buffers, outages, nothing out of order",
    rate_kbit: (200, 100_000),
    rates: 8,
    rate_ms: (20, 5_000),
    rtt_us: (15_000, 150_000),
    rtt_move_us: 60_000,
    jitter_us: 15_000,
    reorders: false,
    loss_ppm: 1_000,
    burst: 10,
    outage_ms: 3_000,
    buffer_tenths: (10, 200),
    unlimited: true,
    managed: false,
    policed: true,
    ack_batch_us: 20_000,
    ack_every: 10,
    ack_loss_ppm: 10_000,
    cross_percent: 50,
};

/// 802.11 behind a home's line.
///
/// Jitter: the model of the C4 project (draft-huitema-ccwg-c4-test), means of up to 12 ms in bad places. Batches: an
/// aggregate lasts 5.484 ms at most (IEEE 802.11-2020, aPPDUMaxTime), two contenders make three of it. Rates: rate
/// adaptation from one stream's 6.5 Mbit/s.
const WIFI: World = World {
    name: "wifi",
    about: "802.11: jitter, aggregates, rates that adapt, short losses in a row",
    rate_kbit: (2_000, 200_000),
    rates: 6,
    rate_ms: (50, 5_000),
    rtt_us: (4_000, 100_000),
    rtt_move_us: 20_000,
    jitter_us: 20_000,
    reorders: true,
    loss_ppm: 10_000,
    burst: 10,
    outage_ms: 500,
    buffer_tenths: (5, 80),
    unlimited: false,
    managed: true,
    policed: false,
    ack_batch_us: 16_000,
    ack_every: 10,
    ack_loss_ppm: 20_000,
    cross_percent: 70,
};

/// Cable, fibre, DSL and the core.
///
/// Policers: Flach et al., SIGCOMM 2016. Buffers from a fifth of a BDP (RFC 9743, section 6.1, asks for shallow ones) to
/// what bloats. Acknowledgments thinned by cable modems: RFC 3449.
const WIRED: World = World {
    name: "wired",
    about: "Cable, fibre, DSL: steady rates, policers, shallow and managed queues, cross traffic",
    rate_kbit: (1_000, 200_000),
    rates: 3,
    rate_ms: (1_000, 10_000),
    rtt_us: (4_000, 300_000),
    rtt_move_us: 100_000,
    jitter_us: 2_000,
    reorders: true,
    loss_ppm: 10_000,
    burst: 20,
    outage_ms: 1_000,
    buffer_tenths: (2, 100),
    unlimited: false,
    managed: true,
    policed: true,
    ack_batch_us: 4_000,
    ack_every: 20,
    ack_loss_ppm: 50_000,
    cross_percent: 80,
};

/// Low orbits and geostationary ones.
///
/// Steps of delay and rate each 15 s: Mohan et al., WWW 2024. Loss in a row at handovers: Ma et al., INFOCOM 2023.
/// At least 558 ms to a geostationary one and back: RFC 2488, section 2.
const SATELLITE: World = World {
    name: "satellite",
    about: "Low orbits and geostationary ones: long and moving delays, losses in a row",
    rate_kbit: (2_000, 150_000),
    rates: 4,
    rate_ms: (500, 15_000),
    rtt_us: (20_000, 600_000),
    rtt_move_us: 50_000,
    jitter_us: 10_000,
    reorders: false,
    loss_ppm: 20_000,
    burst: 50,
    outage_ms: 1_500,
    buffer_tenths: (5, 50),
    unlimited: false,
    managed: false,
    policed: true,
    ack_batch_us: 15_000,
    ack_every: 10,
    ack_loss_ppm: 20_000,
    cross_percent: 50,
};

/// Whatever the simulator can do and a path could, within what can be run quickly.
const ANYTHING: World = World {
    name: "anything",
    about: "Whatever a path could do: for bugs, not for comparisons",
    rate_kbit: (100, 200_000),
    rates: 8,
    rate_ms: (10, 10_000),
    rtt_us: (2_000, 600_000),
    rtt_move_us: 400_000,
    jitter_us: 100_000,
    reorders: true,
    loss_ppm: 100_000,
    burst: 100,
    outage_ms: 5_000,
    buffer_tenths: (1, 500),
    unlimited: true,
    managed: true,
    policed: true,
    ack_batch_us: 100_000,
    ack_every: 50,
    ack_loss_ppm: 300_000,
    cross_percent: 95,
};

/// All of them.
pub static WORLDS: [World; 5] = [CELLULAR, WIFI, WIRED, SATELLITE, ANYTHING];

impl World {
    /// The one of this name.
    ///
    /// # Errors
    /// When there is none; the text has the names that there are.
    pub fn find(name: &str) -> Result<&'static Self, String> {
        let found = WORLDS.iter().find(|world| world.name == name);
        let known = WORLDS.map(|world| world.name);
        found.ok_or_else(|| unknown("world ", name, &known))
    }
}
