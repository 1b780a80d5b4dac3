//! How much the queue before a link holds where nobody says.

use lowtide_cc::units::{Bytes, Duration};
use lowtide_sim::queue::QueueLimit;

use super::{LinkSection, LinkSource, Setting};

/// The buffer of links that vary: a lower bound of what base stations hold for one phone.
///
/// In a commercial LTE network in October 2012 more than 1200 kB were in flight to one phone (Huang
/// and others, "An In-depth Study of LTE", SIGCOMM 2013, section 4.3). At that network's median of
/// 9.2 Mbit/s this is about a second. Others' values lie on both sides of it: 250 packets (375 kB) in
/// emulations of recorded LTE links (ABC, NSDI 2020), 4096 packets (6.2 MB) for each bearer of the 5G
/// base station srsRAN Project (`default_rlc_queue_size_bytes`).
pub const BASE_STATION: Bytes = Bytes::new(1_200_000);

/// The least buffer in bandwidth-delay products. It is that of links of constant rate; a link that
/// varies has it where it is more than [`BASE_STATION`], at 40 ms from 120 Mbit/s on.
const SHALLOW: QueueLimit = QueueLimit::Bdp(2.0);

/// What a section says, or the default of its kind of link.
pub(super) fn buffer(section: &LinkSection, link: &LinkSource, rtt: Duration) -> QueueLimit {
    if let Some(said) = section.buffer {
        return said.0;
    }
    let varies = section.trace.is_some() || section.model.is_some();
    let two_bdp = link.mean_rate().volume_in(rtt).mul_f64(2.0);
    if varies && two_bdp < BASE_STATION {
        QueueLimit::Bytes(BASE_STATION)
    } else {
        SHALLOW
    }
}

/// What the default is called where one name has to do for several links.
#[must_use]
pub fn default_name(settings: &[Setting]) -> &'static str {
    let all = |limit| settings.iter().all(|s| s.forward.buffer == limit);
    if all(QueueLimit::Bytes(BASE_STATION)) {
        "1200kB"
    } else if all(SHALLOW) {
        "2bdp"
    } else {
        "default"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::{Brief, Resolver};

    fn settings(texts: &[&str]) -> Vec<Setting> {
        let mut resolver = Resolver::default();
        let setting = |text: &&str| {
            let brief = Brief::new(text.parse().unwrap()).unwrap();
            let sections = brief.sections(&mut resolver, |_| ()).unwrap();
            resolver.setting(&sections[0]).unwrap()
        };
        texts.iter().map(setting).collect()
    }

    #[test]
    fn a_link_that_varies_has_the_buffer_of_a_base_station_and_at_least_two_bdp() {
        let name = |texts: &[&str]| default_name(&settings(texts));
        let model =
            |mean: &str| format!("link = {{ model = '4g', mean = '{mean}' }}\nflows = [{{}}]");
        let [slow, fast] = ["4mbit", "200mbit"].map(model);
        assert_eq!(name(&[""]), "1200kB", "the built-in link");
        assert_eq!(name(&[&slow]), "1200kB");
        assert_eq!(name(&[&fast]), "2bdp");
        assert_eq!(name(&[&slow, &fast]), "default");
        assert_eq!(name(&[&format!("{slow}\npath = {{ rtt = '2s' }}")]), "2bdp");
        for constant in ["rate = '4mbit'", "schedule = '0s:4mbit,1s:1mbit'"] {
            assert_eq!(name(&[constant]), "2bdp");
        }
        let endless = settings(&["buffer = 'inf'"]);
        assert_eq!(endless[0].forward.buffer, QueueLimit::Unlimited);
        let both = format!("{slow}\nreverse = {{ model = '4g', mean = '1mbit' }}");
        let way_back = settings(&[&both]).remove(0).back;
        assert_eq!(way_back.buffer, QueueLimit::Bytes(BASE_STATION));
    }
}
