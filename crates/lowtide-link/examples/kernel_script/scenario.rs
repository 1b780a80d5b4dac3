//! The scenarios.

use std::ops::RangeInclusive;

/// What becomes of a segment's copy, or of the acknowledgment that it causes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    Lost,
    /// It arrives this many milliseconds late.
    Late(u64),
    AckLost,
}

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// The kernel's congestion control.
    pub(crate) controller: &'static str,
    pub(crate) rtt_ms: u64,
    /// Segments arrive no closer than this: the bottleneck.
    pub(crate) spacing_us: u64,
    pub(crate) sack: bool,
    /// Milliseconds, and how many segments the application writes.
    pub(crate) writes: &'static [(u64, u64)],
    /// Segments, copy (0: the original), fate.
    pub(crate) fates: &'static [(RangeInclusive<u64>, u64, Fate)],
    pub(crate) lasts_ms: u64,
}

const PLAIN: Scenario = Scenario {
    name: "",
    controller: "reno",
    rtt_ms: 40,
    spacing_us: 0,
    sack: true,
    writes: &[],
    fates: &[],
    lasts_ms: 0,
};

/// Sixty segments at once over a slow link.
const LONG: Scenario = Scenario {
    spacing_us: 1000,
    writes: &[(0, 60)],
    ..PLAIN
};

/// The same by CUBIC.
const CUBIC: Scenario = Scenario {
    controller: "cubic",
    ..LONG
};

use Fate::{AckLost, Late, Lost};

pub(crate) const ALL: &[Scenario] = &[
    // 1: the last segments are lost.
    Scenario {
        name: "01-tail-loss",
        writes: &[(0, 2), (100, 2), (200, 2), (300, 8)],
        fates: &[(11..=13, 0, Lost)],
        lasts_ms: 1000,
        ..PLAIN
    },
    Scenario {
        name: "01-tail-and-probe-lost-40ms",
        writes: &[(0, 2), (100, 2), (200, 2), (300, 4)],
        fates: &[(8..=9, 0, Lost), (9..=9, 1, Lost)],
        lasts_ms: 1200,
        ..PLAIN
    },
    Scenario {
        name: "01-tail-and-probe-lost-200ms",
        rtt_ms: 200,
        writes: &[(0, 2), (300, 2), (600, 2), (900, 4)],
        fates: &[(8..=9, 0, Lost), (9..=9, 1, Lost)],
        lasts_ms: 3000,
        ..PLAIN
    },
    Scenario {
        name: "01-lone-segment-lost",
        writes: &[(0, 2), (100, 2), (200, 2), (300, 1)],
        fates: &[(6..=6, 0, Lost)],
        lasts_ms: 1000,
        ..PLAIN
    },
    Scenario {
        name: "01-probe-with-new-data",
        writes: &[(0, 2), (100, 2), (200, 2), (300, 20)],
        fates: &[(6..=20, 0, Lost)],
        lasts_ms: 1500,
        ..PLAIN
    },
    // 2: the timer after N samples; the last write is lost, its probe and first repetition with it.
    Scenario {
        name: "02-rto-10ms",
        rtt_ms: 10,
        writes: &[(0, 2), (50, 2), (100, 2), (150, 2), (200, 2), (250, 2)],
        fates: &[(10..=11, 0, Lost), (11..=11, 1, Lost), (10..=10, 1, Lost)],
        lasts_ms: 2000,
        ..PLAIN
    },
    Scenario {
        name: "02-rto-40ms",
        writes: &[(0, 2), (100, 2), (200, 2), (300, 2), (400, 2), (500, 2)],
        fates: &[(10..=11, 0, Lost), (11..=11, 1, Lost), (10..=10, 1, Lost)],
        lasts_ms: 2500,
        ..PLAIN
    },
    Scenario {
        name: "02-rto-200ms-after-1",
        rtt_ms: 200,
        writes: &[(0, 2), (300, 2)],
        fates: &[(2..=3, 0, Lost), (3..=3, 1, Lost), (2..=2, 1, Lost)],
        lasts_ms: 3500,
        ..PLAIN
    },
    Scenario {
        name: "02-rto-200ms-after-6",
        rtt_ms: 200,
        writes: &[
            (0, 2),
            (300, 2),
            (600, 2),
            (900, 2),
            (1200, 2),
            (1500, 2),
            (1800, 2),
        ],
        fates: &[(12..=13, 0, Lost), (13..=13, 1, Lost), (12..=12, 1, Lost)],
        lasts_ms: 4500,
        ..PLAIN
    },
    // 3: one loss in the middle.
    Scenario {
        name: "03-one-loss-cubic",
        fates: &[(14..=14, 0, Lost)],
        lasts_ms: 500,
        ..CUBIC
    },
    Scenario {
        name: "03-one-loss-reno",
        fates: &[(14..=14, 0, Lost)],
        lasts_ms: 500,
        ..LONG
    },
    // 4: several losses.
    Scenario {
        name: "04-several-losses",
        fates: &[(12..=12, 0, Lost), (14..=14, 0, Lost), (17..=18, 0, Lost)],
        lasts_ms: 600,
        ..CUBIC
    },
    Scenario {
        name: "04-half-a-window-lost",
        fates: &[(10..=19, 0, Lost)],
        lasts_ms: 800,
        ..CUBIC
    },
    // 5: reordering.
    Scenario {
        name: "05-reordering",
        spacing_us: 1000,
        writes: &[(0, 10), (100, 10), (200, 10), (300, 10), (400, 10)],
        fates: &[
            (4..=4, 0, Late(2)),
            (14..=14, 0, Late(6)),
            (24..=24, 0, Late(8)),
            (34..=34, 0, Late(13)),
            (44..=44, 0, Lost),
        ],
        lasts_ms: 700,
        ..PLAIN
    },
    // 6: the retransmission is lost, too.
    Scenario {
        name: "06-lost-retransmission",
        fates: &[(14..=14, 0, Lost), (14..=14, 1, Lost)],
        lasts_ms: 800,
        ..CUBIC
    },
    // 7: without SACK.
    Scenario {
        name: "07-no-sack-tail-loss",
        sack: false,
        writes: &[(0, 2), (100, 2), (200, 2), (300, 8)],
        fates: &[(11..=13, 0, Lost)],
        lasts_ms: 1500,
        ..PLAIN
    },
    Scenario {
        name: "07-no-sack-two-losses",
        sack: false,
        fates: &[(12..=12, 0, Lost), (15..=15, 0, Lost)],
        lasts_ms: 800,
        ..LONG
    },
    // 8: a pause of the path makes the timer expire for nothing.
    Scenario {
        name: "08-spurious-rto",
        writes: &[(0, 2), (100, 2), (200, 2), (300, 4), (1200, 10)],
        fates: &[
            (6..=9, 0, Late(500)),
            (9..=9, 1, Late(420)),
            (6..=6, 1, Late(180)),
        ],
        lasts_ms: 1500,
        ..PLAIN
    },
    // 9: acknowledgments are lost.
    Scenario {
        name: "09-lost-acks",
        fates: &[
            (2..=4, 0, AckLost),
            (8..=9, 0, AckLost),
            (12..=13, 0, AckLost),
            (15..=16, 0, AckLost),
            (14..=14, 0, Lost),
            (18..=18, 0, AckLost),
            (58..=59, 0, AckLost),
        ],
        lasts_ms: 600,
        ..CUBIC
    },
    // 10: pauses of the application.
    Scenario {
        name: "10-pauses",
        spacing_us: 200,
        writes: &[(0, 40), (300, 40), (2000, 40)],
        lasts_ms: 2400,
        ..PLAIN
    },
    Scenario {
        name: "10-pauses-cubic",
        controller: "cubic",
        spacing_us: 200,
        writes: &[(0, 40), (300, 40), (2000, 40)],
        lasts_ms: 2400,
        ..PLAIN
    },
    // 11: HyStart.
    Scenario {
        name: "11-hystart-ack-train",
        controller: "cubic",
        spacing_us: 150,
        writes: &[(0, 340)],
        lasts_ms: 350,
        ..PLAIN
    },
    Scenario {
        name: "11-hystart-delay",
        controller: "cubic",
        spacing_us: 1000,
        writes: &[(0, 180)],
        lasts_ms: 320,
        ..PLAIN
    },
    Scenario {
        name: "11-hystart-delay-200ms",
        controller: "cubic",
        rtt_ms: 200,
        spacing_us: 2000,
        writes: &[(0, 360)],
        lasts_ms: 1600,
        ..PLAIN
    },
];
