//! The vector kernels. `unsafe` lives here and nowhere else: each kernel works on
//! raw pointers into buffers whose sizes the engine computes from one plan.

pub(crate) mod map;
pub(crate) mod max_plus;
pub(crate) mod orbit;
pub(crate) mod reduce;
pub(crate) mod triples;
pub(crate) mod triples_gradient;
pub(crate) mod vector;
pub(crate) mod windows;
#[cfg(target_arch = "x86_64")]
mod x86;
