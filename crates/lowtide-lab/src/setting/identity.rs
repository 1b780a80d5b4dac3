//! The name of what a setting simulates, by which results are found again.

use lowtide_sim::link::Link;
use serde::{Serialize, Serializer};

use super::Setting;
use crate::key::Key;

/// What keys are made of. Another number for each change of a setting's types that leaves its runs as they are.
const FORM: &str = "setting 2";

impl Setting {
    /// The key of what its runs simulate, and how many bytes the setting's texts have. Names, seeds, and how
    /// the setting was written are no part of the key: where the same is simulated, keys are equal.
    ///
    /// # Panics
    /// Never: nothing in a setting is without a form in JSON.
    #[must_use]
    pub fn key(&self) -> (Key, usize) {
        let text = serde_json::to_string(self);
        let text = text.unwrap_or_else(|e| panic!("a setting without a form: {e}"));
        let names = self.back_name.as_ref().map_or(0, String::len);
        let length = text.len() + self.link_name.len() + names;
        (Key::of(&[FORM.as_bytes(), text.as_bytes()]), length)
    }
}

/// A link by a digest of its numbers, which are many.
pub(super) fn digest<S: Serializer>(link: &Link, serializer: S) -> Result<S::Ok, S::Error> {
    let (kind, numbers, rest): (&str, Vec<u8>, u64) = match link {
        Link::Opportunities(trace) => {
            let times = trace.times_ms().iter().copied();
            let numbers = times.flat_map(u32::to_le_bytes).collect();
            ("opportunities", numbers, trace.size().get())
        }
        Link::Rates(rates) => {
            let steps = rates.steps().iter();
            let steps = steps.flat_map(|(start, rate)| [start.as_nanos(), rate.as_bytes_per_sec()]);
            let period = rates.period().map_or(0, |period| period.as_nanos());
            ("rates", steps.flat_map(u64::to_le_bytes).collect(), period)
        }
        short @ (Link::Unlimited | Link::Shaper(_)) => return short.serialize(serializer),
    };
    let key = Key::of(&[kind.as_bytes(), &numbers, &rest.to_le_bytes()]);
    serializer.collect_str(&key)
}

#[cfg(test)]
mod tests {
    use crate::contender::Contenders;
    use crate::setting::{Brief, Resolver};

    #[test]
    fn what_simulates_the_same_has_one_key_and_nothing_else_does() {
        let key = |text: &str| {
            let brief = Brief::new(text.parse().unwrap()).unwrap();
            let mut resolver = Resolver::new(&Contenders::default(), "".as_ref());
            let sections = brief.sections(&mut resolver, |_| ()).unwrap();
            resolver.setting(&sections[0]).unwrap().key().0
        };
        let plain = key("rate = '5mbit'");
        for same in [
            "rate = '5mbit'\nrtt = '40ms'",
            "rate = '5000kbit'\nflows = 1",
            "rate = '5mbit'\nseeds = 7\nseed = 3",
            "link = { rate = '5mbit', name = 'mine' }\nflows = [{ controller = 'bbr' }]",
            "rate = '5mbit'\nflows = [{ controller = 'bbr:aggregation=true' }]",
        ] {
            assert_eq!(key(same), plain, "{same}");
        }
        for other in [
            "rate = '6mbit'",
            "rate = '5mbit'\nrtt = '41ms'",
            "rate = '5mbit'\nloss = '0.1%'",
            "rate = '5mbit'\nflows = [{ controller = 'bbr:aggregation=false' }]",
            "rate = '5mbit'\nreorder = true\njitter = '1ms'",
            "rate = '5mbit'\nmeasures = { late = { span = { metric = 'jain', from = '10s' } } }",
            "schedule = '0s:5mbit,10s:6mbit'",
        ] {
            assert_ne!(key(other), plain, "{other}");
        }
    }
}
