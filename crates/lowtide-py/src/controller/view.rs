//! Values of the core as Python reads them: bytes, seconds, bytes a second.

/// A class around a value of the core: what can be read of it, and how; then what else its class has.
macro_rules! view {
    (
        $(#[$of_class:meta])+
        $class:ident($core:ty) {
            $($(#[$about:meta])+ $name:ident: $kind:ty = |$it:ident| $value:expr,)*
        }
        $($more:tt)*
    ) => {
        $(#[$of_class])+
        pub(crate) struct $class(pub(super) $core);

        #[pyo3::pymethods]
        impl $class {
            $(
                $(#[$about])+
                #[getter]
                fn $name(&self) -> $kind {
                    let $it = &self.0;
                    $value
                }
            )*

            $($more)*
        }
    };
}
pub(super) use view;
