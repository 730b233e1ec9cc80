//! Which vector instructions the kernels use, chosen at run time.
//!
//! In the tree of `docs/nlm.md`: below every leaf: which instructions its kernels have.

use std::fmt;

/// A set of vector instructions. Results differ between levels only by
/// rounding; within one level they never depend on threads or batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Simd {
    /// Plain Rust, eight lanes.
    Portable,
    /// AVX2 with fused multiply-add, eight lanes.
    Avx2,
    /// AVX-512 (F, VL, DQ), eight lanes, more registers.
    Avx512,
}

/// Why a [`Simd`] level could not be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimdError {
    /// There is no level of this name.
    Unknown {
        /// The name.
        value: String,
    },
    /// The processor lacks the instructions of this level.
    Unsupported {
        /// The level asked for.
        level: Simd,
    },
}

impl fmt::Display for SimdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { value } => write!(
                f,
                "there are no instructions `{value}`; there are portable, avx2 and avx512"
            ),
            Self::Unsupported { level } => write!(f, "this processor does not support {level}"),
        }
    }
}

impl std::error::Error for SimdError {}

impl fmt::Display for Simd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        })
    }
}

impl Simd {
    /// The level with this name, or else the best the processor has.
    ///
    /// # Errors
    ///
    /// If there is no such level, or the processor does not support it.
    pub fn named_or_best(name: Option<&str>) -> Result<Self, SimdError> {
        name.map_or_else(|| Ok(Self::best()), Self::named)
    }

    /// The level with this name, if the processor supports it.
    ///
    /// # Errors
    ///
    /// If there is no such level, or the processor does not support it.
    pub fn named(value: &str) -> Result<Self, SimdError> {
        let level = match value {
            "portable" => Self::Portable,
            "avx2" => Self::Avx2,
            "avx512" => Self::Avx512,
            _ => {
                return Err(SimdError::Unknown {
                    value: value.to_owned(),
                });
            }
        };
        if level.supported() {
            Ok(level)
        } else {
            Err(SimdError::Unsupported { level })
        }
    }

    /// The best level the processor has.
    pub fn best() -> Self {
        [Self::Avx512, Self::Avx2]
            .into_iter()
            .find(|level| level.supported())
            .unwrap_or(Self::Portable)
    }

    /// Whether the processor has the instructions of this level.
    pub fn supported(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_name_is_a_clear_error() {
        let error = Simd::named("sse9").unwrap_err();
        assert_eq!(
            error.to_string(),
            "there are no instructions `sse9`; there are portable, avx2 and avx512"
        );
        assert_eq!(Simd::named("portable"), Ok(Simd::Portable));
        assert!(Simd::best().supported());
    }
}
