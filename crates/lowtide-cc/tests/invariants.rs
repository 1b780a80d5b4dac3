//! What every controller keeps after any sequence of events.

mod absurd_events;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_sequence_of_events_breaks_a_controller(
        data in prop::collection::vec(any::<u8>(), 0..1500)
    ) {
        absurd_events::play(&data);
    }
}
