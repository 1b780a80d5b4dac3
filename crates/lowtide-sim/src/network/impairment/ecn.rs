//! What devices on the way do to ECN bits.

use lowtide_cc::Ecn;
use lowtide_cc::units::quantity::QuantityError;

/// What becomes of the ECN bits of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum EcnTreatment {
    /// The bits stay as they are.
    #[default]
    Kept,
    /// The bits are cleared, marks as well.
    Bleached,
    /// ECT(1) becomes ECT(0).
    Downgraded,
    /// Marks are taken back: CE becomes ECT(0).
    Unmarked,
    /// Every ECN-capable packet is marked.
    Marked,
}

/// Names that users call the treatments by.
const NAMES: [(&str, EcnTreatment); 5] = [
    ("kept", EcnTreatment::Kept),
    ("bleached", EcnTreatment::Bleached),
    ("downgraded", EcnTreatment::Downgraded),
    ("unmarked", EcnTreatment::Unmarked),
    ("marked", EcnTreatment::Marked),
];

impl EcnTreatment {
    /// The treatment of a name.
    ///
    /// # Errors
    /// When there is none; the error names those that there are.
    pub fn parse(name: &str) -> Result<Self, QuantityError> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, treatment)| *treatment).ok_or_else(|| {
            let names = NAMES.map(|(name, _)| name).join(", ");
            QuantityError::of(
                name,
                &format!("is no treatment of ECN bits: take one of {names}"),
            )
        })
    }

    /// What becomes of these bits.
    #[inline]
    pub(in crate::network) fn apply(self, ecn: Ecn) -> Ecn {
        match (self, ecn) {
            (Self::Bleached, _) => Ecn::NotEct,
            (Self::Downgraded, Ecn::Ect1) | (Self::Unmarked, Ecn::Ce) => Ecn::Ect0,
            (Self::Marked, ecn) if ecn.is_capable() => Ecn::Ce,
            (_, ecn) => ecn,
        }
    }
}
