//! Models that ship with homing: in the program itself, so that an installed command has them.
//!
//! `models/README.md` gives the command that made each.

use homing_learner::AnyModel;
use homing_pddl::Domain;

use crate::error::Error;

/// A model that ships.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Its name: a collection of problems, and a domain of it.
    pub name: &'static str,
    /// Its file.
    pub bytes: &'static [u8],
}

macro_rules! shipped {
    ($($name:literal),+ $(,)?) => {
        [$(Shipped {
            name: $name,
            bytes: include_bytes!(concat!("../../../models/", $name, ".safetensors")),
        }),+]
    };
}

/// All of them. Of two that fit a domain, that for a domain of the same name is taken, or else the
/// first.
pub static SHIPPED: [Shipped; 18] = shipped![
    "learning/blocksworld",
    "learning/childsnack",
    "learning/ferry",
    "learning/floortile",
    "learning/miconic",
    "learning/rovers",
    "learning/satellite",
    "learning/sokoban",
    "learning/spanner",
    "learning/transport",
    "paper/blocks",
    "paper/ferry",
    "paper/gripper",
    "paper/logistics",
    "paper/miconic",
    "paper/parking",
    "paper/satellite",
    "paper/visitall",
];

impl Shipped {
    /// The text at the head of its file, whose length comes first.
    fn header(&self) -> &'static str {
        let (length, rest) = self.bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(0);
        let text = rest.get(..length).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// Reads it.
    ///
    /// # Errors
    ///
    /// If the program was built with a file that is none: a bug.
    pub fn load(&self) -> Result<AnyModel, Error> {
        AnyModel::from_file(self.bytes)
            .map_err(|error| Error::bug(format!("{}: {error}", self.name)))
    }
}

/// In place of a model's file: the one that ships for the domain at hand.
pub const AUTO: &str = "auto";

/// The model that ships for a domain with these predicates, types and actions.
pub fn find(domain: &Domain) -> Option<(Shipped, AnyModel)> {
    let mut fitting = SHIPPED.iter().filter_map(|shipped| {
        // Every action's name is in the file: most are told apart without reading them.
        let header = shipped.header();
        let named = |name: &str| header.contains(&format!("[\\\"{name}\\\","));
        if !domain.actions.iter().all(|action| named(&action.name)) {
            return None;
        }
        let model = shipped.load().ok()?;
        let fits = model.function().check_domain(domain).is_ok();
        fits.then_some((*shipped, model))
    });
    let first = fitting.next()?;
    let is_named = |found: &(Shipped, AnyModel)| found.1.domain() == domain.name;
    if is_named(&first) {
        return Some(first);
    }
    Some(fitting.find(is_named).unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use homing_lab::DomainName;
    use homing_learner::{LearnConfig, ValueKind};

    use super::*;

    #[test]
    fn all_can_be_read_and_are_small() {
        let mut sum = 0;
        for shipped in &SHIPPED {
            let model = shipped.load().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(model.function().kind(), ValueKind::Counts);
            let AnyModel::Counts(model) = model else {
                unreachable!("of that kind");
            };
            assert_eq!(
                model.header.config,
                LearnConfig::default(),
                "{}",
                shipped.name
            );
            assert_eq!(model.header.seed, 0);
            sum += shipped.bytes.len();
        }
        assert!(sum < 2_000_000, "{sum} bytes");
    }

    #[test]
    fn each_of_the_eight_domains_has_its_own() {
        for name in DomainName::ALL {
            let (shipped, _) = find(name.domain()).unwrap_or_else(|| panic!("none for {name}"));
            // Satellite is the same domain in both collections.
            let folder = if name.to_string() == "satellite" {
                "learning"
            } else {
                "paper"
            };
            assert_eq!(shipped.name, format!("{folder}/{name}"));
        }
    }
}
