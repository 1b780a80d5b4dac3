//! What arrived, and how one end tells the other.

/// A packet that arrived. Times are microseconds since the session began, each by its own end's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The packet's number among those of its kind.
    pub number: u32,
    /// When it was sent, by the sender's clock.
    pub sent: u32,
    /// When it arrived, by the receiver's.
    pub arrived: u32,
}

impl Arrival {
    /// The delay as the two clocks have it, in microseconds: it has their offset in it.
    #[must_use]
    pub fn delay(&self) -> i64 {
        i64::from(self.arrived) - i64::from(self.sent)
    }
}

/// Arrivals in their order, up to a limit.
#[derive(Clone, Debug, Default)]
pub struct Log {
    arrivals: Vec<Arrival>,
    limit: usize,
}

/// Arrivals of a page, three numbers of at most five bytes each.
const OF_PAGE: usize = 80;

impl Log {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            arrivals: Vec::new(),
            limit,
        }
    }

    /// False when it is full.
    pub(crate) fn push(&mut self, arrival: Arrival) -> bool {
        let has_room = self.arrivals.len() < self.limit;
        if has_room {
            self.arrivals.push(arrival);
        }
        has_room
    }

    /// In the order of their arrival.
    #[must_use]
    pub fn arrivals(&self) -> &[Arrival] {
        &self.arrivals
    }

    /// How many pages it fills.
    pub(crate) fn pages(&self) -> u32 {
        Self::pages_of(self.arrivals.len()) as u32
    }

    /// How many pages so many arrivals fill.
    pub(crate) fn pages_of(arrivals: usize) -> usize {
        arrivals.div_ceil(OF_PAGE)
    }

    /// A page as bytes; `None` where there is none.
    pub(crate) fn page(&self, page: u32) -> Option<Vec<u8>> {
        let arrivals = self.arrivals.chunks(OF_PAGE).nth(page as usize)?;
        let mut bytes = Vec::with_capacity(OF_PAGE * 5);
        let mut last = Arrival {
            number: 0,
            sent: 0,
            arrived: 0,
        };
        for arrival in arrivals {
            put(&mut bytes, arrival.number.wrapping_sub(last.number));
            put(&mut bytes, arrival.sent.wrapping_sub(last.sent));
            put(&mut bytes, arrival.arrived.wrapping_sub(last.arrived));
            last = *arrival;
        }
        Some(bytes)
    }
}

/// Reads a page; `None` where it is none.
pub(crate) fn read_page(mut bytes: &[u8]) -> Option<Vec<Arrival>> {
    let mut arrivals = Vec::new();
    let (mut number, mut sent, mut arrived) = (0u32, 0u32, 0u32);
    while !bytes.is_empty() {
        if arrivals.len() == OF_PAGE {
            return None;
        }
        number = number.wrapping_add(take(&mut bytes)?);
        sent = sent.wrapping_add(take(&mut bytes)?);
        arrived = arrived.wrapping_add(take(&mut bytes)?);
        arrivals.push(Arrival {
            number,
            sent,
            arrived,
        });
    }
    Some(arrivals)
}

/// Signed LEB128 of a difference: what is reordered takes no more than what is not.
fn put(bytes: &mut Vec<u8>, difference: u32) {
    let signed = difference as i32;
    let mut rest = ((signed << 1) ^ (signed >> 31)) as u32;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for shift in (0..35).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u32::from(first & 0x7f).checked_shl(shift)?;
        if first & 0x80 == 0 {
            return Some((value >> 1) ^ (value & 1).wrapping_neg());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pages_bring_back_what_was_logged(
            arrivals in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u32>()), 0..350)
        ) {
            let mut log = Log::new(300);
            for (number, sent, arrived) in arrivals {
                log.push(Arrival { number, sent, arrived });
            }
            let mut read = Vec::new();
            for page in 0..log.pages() {
                let bytes = log.page(page).unwrap();
                prop_assert!(bytes.len() <= OF_PAGE * 15);
                read.extend(read_page(&bytes).unwrap());
            }
            prop_assert!(log.page(log.pages()).is_none());
            prop_assert!(log.arrivals().len() <= 300);
            prop_assert_eq!(&read[..], log.arrivals());
        }

        #[test]
        fn nonsense_is_no_page_or_a_short_one(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            if let Some(arrivals) = read_page(&bytes) {
                prop_assert!(arrivals.len() <= OF_PAGE);
            }
        }
    }
}
