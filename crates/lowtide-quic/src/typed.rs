//! A type for each controller of the registry.

use s2n_quic::provider::congestion_controller::{Endpoint, PathInfo};

use crate::controllers::{Controllers, Parts};
use crate::host::Host;

macro_rules! types {
    ($($room:ident::$entry:ident as $type:ident = $name:literal;)*) => {
        $(
            #[doc = concat!("The registry's `", $name, "`, with its default parameters.")]
            ///
            /// Alone, a controller that works by feedback (`rbbr`) uses the sender's own
            /// estimate; with its [`parts`](Self::parts) at both ends, by the receiver's.
            #[derive(Debug)]
            pub struct $type(Controllers);

            impl Default for $type {
                fn default() -> Self {
                    // A test builds them all.
                    Self(Controllers::new($name).expect("the registry has it"))
                }
            }

            impl $type {
                /// The parts of one endpoint, all of which must be given to the same builder.
                #[must_use]
                pub fn parts(self) -> Parts {
                    self.0.parts()
                }
            }

            impl From<$type> for Controllers {
                fn from(typed: $type) -> Self {
                    typed.0
                }
            }

            impl Endpoint for $type {
                type CongestionController = Host;

                fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> Host {
                    self.0.new_congestion_controller(path)
                }
            }
        )*

        #[cfg(test)]
        const TYPED: &[(&str, fn() -> Controllers)] =
            &[$(($name, || $type::default().into())),*];
    };
}

lowtide_cc::for_each_controller!(types);

#[cfg(test)]
mod tests {
    use lowtide_cc::registry;

    use super::*;

    #[test]
    fn every_controller_of_the_registry_has_a_type() {
        let typed: Vec<&str> = TYPED
            .iter()
            .map(|(name, make)| {
                assert_eq!(make().name(), *name);
                *name
            })
            .collect();
        let all: Vec<&str> = registry::all().iter().map(|e| e.name).collect();
        assert_eq!(typed, all);
    }
}
