//! Makes the controllers of many connections.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lowtide_cc::units::Bytes;
use lowtide_cc::{Config, Controller};

/// Makes a controller.
pub type Make = Arc<dyn Fn(&Config) -> Box<dyn Controller> + Send + Sync>;

/// Makes controllers, each with a seed of its own.
pub struct Factory {
    make: Make,
    seed: u64,
    made: AtomicU64,
}

impl Factory {
    /// Controllers whose seeds count from `seed`.
    #[must_use]
    pub fn new(make: Make, seed: u64) -> Self {
        Self {
            make,
            seed,
            made: AtomicU64::new(0),
        }
    }

    /// A seed that differs from run to run.
    #[must_use]
    pub fn any_seed() -> u64 {
        RandomState::new().build_hasher().finish()
    }

    /// A controller for packets of `max_datagram` bytes on a path whose clock begins now.
    #[must_use]
    pub fn build(&self, max_datagram: Bytes) -> Box<dyn Controller> {
        let mut config = Config::for_datagram(max_datagram);
        config.seed = self.seed.wrapping_add(self.made.fetch_add(1, Relaxed));
        (self.make)(&config)
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factory").finish_non_exhaustive()
    }
}
