//! Bounds: senders that are told about the link itself. They show what is possible, and are no controllers.

use lowtide_cc::registry::{self, Domain, Parameter, Value, Values};
use lowtide_sim::queue::AbcConfig;
use lowtide_sim::{CausalConfig, Forecast};

/// A bound that has a name, as a controller does.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The bound's name in a spec.
    pub name: &'static str,
    /// What the bound is, in one line.
    pub summary: &'static str,
    /// Parameters that a spec can set.
    pub parameters: &'static [Parameter],
}

/// The physical limit.
pub const ORACLE: &str = "oracle";
/// The causal bound.
pub const CAUSAL: &str = "causal";

/// Explicit feedback.
pub const ABC: &str = "abc";

/// All of them.
pub static BOUNDS: &[Bound] = &[
    Bound {
        name: ORACLE,
        summary: "the physical limit: knows the link's future, keeps it busy with an empty queue",
        parameters: &[],
    },
    Bound {
        name: CAUSAL,
        summary: "the causal bound: knows all of the link's past, used or not, one round trip late",
        parameters: CAUSAL_PARAMETERS,
    },
    Bound {
        name: ABC,
        summary: "explicit feedback: the queue knows what the link carries now, and tells the sender by each packet",
        parameters: AbcConfig::PARAMETERS,
    },
];

const CAUSAL_PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "margin",
        summary: "window beyond the forecast of a round trip's service, in forecast errors",
        default: Value::Real(1.0),
        domain: Domain::Real {
            min: -10.0,
            max: 100.0,
        },
    },
    Parameter {
        name: "forecast",
        summary: "the last round trip; a mix of a fast and a slow mean; the mean over packets; a blend",
        default: Value::Word("blend"),
        domain: Domain::Choice(&["last", "mix", "packets", "blend"]),
    },
];

/// What a spec of the causal bound says; `None`: it is not about that one.
pub(super) fn parse_causal(spec: &str) -> Option<Result<CausalConfig, registry::Error>> {
    let values = values_of(CAUSAL, CAUSAL_PARAMETERS, spec)?;
    Some(values.map(|values| CausalConfig {
        margin: values.real("margin"),
        forecast: match values.word("forecast") {
            "last" => Forecast::Last,
            "mix" => Forecast::Mix,
            "packets" => Forecast::Packets,
            _ => Forecast::Blend,
        },
    }))
}

/// What a spec of ABC says of its queue; `None`: it is not about that one.
pub(super) fn parse_abc(spec: &str) -> Option<Result<AbcConfig, registry::Error>> {
    let values = values_of(ABC, AbcConfig::PARAMETERS, spec)?;
    Some(values.map(|values| AbcConfig::of(&values)))
}

/// The parameters of a spec, if it is one of `name`.
fn values_of(
    name: &'static str,
    known: &'static [Parameter],
    spec: &str,
) -> Option<Result<Values, registry::Error>> {
    let parameters = match spec.strip_prefix(name)? {
        "" => None,
        rest => Some(rest.strip_prefix(':')?),
    };
    Some(registry::parse_parameters(name, known, parameters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_sets_the_causal_bound_and_errors_say_what_fits() {
        let parsed = |spec: &str| parse_causal(spec).unwrap().map_err(|e| e.to_string());
        assert_eq!(parsed("causal"), Ok(CausalConfig::default()));
        let set = CausalConfig {
            forecast: Forecast::Last,
            margin: 0.5,
        };
        assert_eq!(parsed("causal:forecast=last,margin=0.5"), Ok(set));
        for (wrong, part) in [
            ("forecast=lst", "one of last, mix, packets, blend"),
            ("margn=1", "did you mean 'margin'"),
        ] {
            let error = parsed(&format!("causal:{wrong}")).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(parse_causal("causality").is_none() && parse_causal("bbr").is_none());
    }
}
