//! Quantities in a file: texts with their unit, as on the command line.

use std::borrow::Cow;
use std::fmt;

use super::trigger::Moment;
use lowtide_cc::units::quantity::{self, QuantityError};
use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_sim::impairment::{self, EcnTreatment, LossModel};
use lowtide_sim::queue::{self, Policer, QueueKind, QueueLimit};
use lowtide_sim::source::{self, SourceConfig};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};

/// Reads a text; a bare number gets the answer that it has no unit.
struct Text<T>(fn(&str) -> Result<T, QuantityError>, &'static str);

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text such as {}", self.1)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident($inner:ty), $parse:expr, $about:literal, $($example:literal),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
        pub struct $name(pub $inner);

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let examples = concat!($("\"", $example, "\" "),+);
                from.deserialize_any(Text(|text| $parse(text).map(Self), examples.trim_end()))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": $about,
                    "examples": [$($example),+],
                })
            }
        }
    };
}

quantity!(
    /// A rate above zero.
    RateText(Rate), quantity::rate, "a rate with its unit", "20mbit", "1.5gbit"
);
quantity!(
    /// A time above zero.
    TimeText(Duration), quantity::duration, "a time with its unit", "40ms", "90s"
);
quantity!(
    /// A time that may be zero.
    SpanText(Duration), quantity::duration_or_zero, "a time with its unit", "0s", "3s"
);
quantity!(
    /// A moment of a run, or after its trigger.
    MomentText(Moment), Moment::parse, "a time with its unit, since the run's begin or, with + before it, since its trigger", "10s", "+2s"
);
quantity!(
    /// A volume above zero.
    BytesText(Bytes), quantity::bytes, "a volume with its unit", "1500B", "20MB"
);
quantity!(
    /// A queue's limit.
    BufferText(QueueLimit), queue::parse, "a queue's limit", "2bdp", "100p", "20MB", "50ms", "inf"
);
quantity!(
    /// A queue discipline.
    QueueText(QueueKind), QueueKind::parse, "a queue discipline, with parameters behind a colon", "codel", "codel:target=5ms"
);
quantity!(
    /// What becomes of ECN bits.
    EcnTreatmentText(EcnTreatment), EcnTreatment::parse, "what becomes of ECN bits", "kept", "bleached", "downgraded", "unmarked", "marked"
);
quantity!(
    /// A policer.
    PolicerText(Policer), queue::parse_policer, "a policer's rate and burst", "10mbit:100kB"
);
quantity!(
    /// A probability.
    ShareText(f64), quantity::probability, "a probability", "0.1%", "0"
);
quantity!(
    /// Bursty loss.
    BurstText(LossModel), impairment::parse_burst_loss, "mean share and mean burst in packets", "1%:10"
);
quantity!(
    /// A source.
    SourceText(SourceConfig), source::parse, "what a flow sends", "bulk", "10MB", "10mbit", "video:2mbit", "onoff:10mbit:1s:500ms", "steps:0s:bulk,3s:off,9s:2mbit"
);
