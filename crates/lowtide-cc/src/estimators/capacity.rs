//! A capacity sample from the growth of delays.

use crate::units::Rate;

/// Rate C = S/(1 + s) at which packets sent at the rate S come through when their round-trip times
/// change with slope s = dτ/dt (BBR-S Eq. 7): while a queue grows, s = S/C − 1.
///
/// Without a queue s = 0 and C = S, however much faster the link is: the sample is censored at S.
/// A queue that empties gives s < 0 and a sample above S, which is not censored.
///
/// `None` where 1 + s ≤ 0 or s is NaN: the packets were acknowledged all at once or in the wrong
/// order, as after a pause of the receiver, and tell no rate. Just above, the sample may be
/// arbitrarily high; it saturates at [`Rate::MAX`].
#[must_use]
pub fn capacity(sending_rate: Rate, slope: f64) -> Option<Rate> {
    let arrivals = 1.0 + slope;
    (arrivals > 0.0)
        .then(|| Rate::from_bytes_per_sec((sending_rate.as_f64() / arrivals + 0.5) as u64))
}
