//! Indices with a type: an index into one list cannot be taken for an index into another.

/// Defines index types, each a `u32` with `index` and `from_index`. Shared by homing's crates.
#[doc(hidden)]
#[macro_export]
macro_rules! index_type {
    ($(#[$doc:meta] $name:ident),+ $(,)?) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into the list it belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// From an index into the list it belongs to.
            ///
            /// # Panics
            ///
            /// If the index does not fit 32 bits.
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 2^32 of a kind"))
            }
        }
    )+};
}
