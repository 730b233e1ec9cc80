//! What evaluates networks: threads and vector instructions.

use homing_nlm::Simd;

/// How networks are evaluated. Threads never change a number; instructions do in the last bits. A
/// number of threads stands for the best instructions that the processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compute {
    /// Threads.
    pub threads: usize,
    /// Vector instructions, which the processor must support.
    pub simd: Simd,
}

impl From<usize> for Compute {
    fn from(threads: usize) -> Self {
        Self {
            threads,
            simd: Simd::best(),
        }
    }
}
