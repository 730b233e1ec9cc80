//! The vector instructions of a request, by name in its data.

use homing_learner::{Compute, Simd};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

use crate::resources::threads;

/// For `#[serde(with)]`: a name, or null for the best that the processor has.
pub(crate) mod simd_name {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        simd: &Option<Simd>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match simd {
            Some(simd) => serializer.collect_str(simd),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Simd>, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        let simd = name.map(|name| Simd::named(&name));
        simd.transpose().map_err(D::Error::custom)
    }
}

/// All cores and the best instructions, where nothing else is asked for.
pub(crate) fn compute(asked: Option<std::num::NonZeroUsize>, simd: Option<Simd>) -> Compute {
    Compute {
        threads: threads(asked),
        simd: simd.unwrap_or_else(Simd::best),
    }
}
