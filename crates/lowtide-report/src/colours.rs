//! The colours that mean something: those of a controller's states.

use lowtide_cc::state::StateKind;

/// Red, green and blue of a state; told apart by the colour-blind, on white and on black.
#[must_use]
pub(crate) fn of_state(kind: StateKind) -> [u8; 3] {
    match kind {
        StateKind::Steady | StateKind::GainCycle => [0x9a, 0xa4, 0xb2],
        StateKind::Start => [0xe6, 0x9f, 0x00],
        StateKind::CarefulStart => [0xc9, 0xb0, 0x37],
        StateKind::Drain => [0x5a, 0xb0, 0xe6],
        StateKind::Up => [0x2f, 0x9e, 0x6e],
        StateKind::Down => [0xc6, 0x78, 0xa8],
        StateKind::Refill => [0xd9, 0xc2, 0x2b],
        StateKind::ProbeRtt => [0x2b, 0x78, 0xc2],
        StateKind::Recovery => [0xd5, 0x5e, 0x00],
        StateKind::Suspended => [0x8a, 0x63, 0xc9],
        StateKind::Outage => [0x3c, 0x3f, 0x45],
    }
}
