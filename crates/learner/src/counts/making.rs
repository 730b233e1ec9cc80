//! How colours were made: enough to say them in words, and to make the same number again.
//!
//! A colour is the end of a small tree: names at the bottom, colours of earlier rounds above. Model
//! files hold these trees and not the numbers, so that they say what they mean.

use super::colour::{Colour, Status, aged, mix, of_atom, of_object, told};

/// How a colour was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Making {
    /// An object before the first round.
    Object {
        constant: Option<String>,
        /// In the order of names.
        types: Vec<String>,
        /// Unary predicates that hold of it for ever, in the order of names.
        properties: Vec<String>,
    },
    /// An atom before the first round.
    Atom { predicate: String, status: Status },
    /// An object one round later: its colour, and what it was told: (colour of an atom, its
    /// position there), in ascending order.
    LaterObject {
        own: Colour,
        told: Vec<(Colour, u32)>,
    },
    /// An atom one round later: its colour, and those of its arguments.
    LaterAtom { own: Colour, objects: Vec<Colour> },
}

impl Making {
    /// The colour made in this way.
    pub(crate) fn colour(&self) -> Colour {
        fn refs(names: &[String]) -> Vec<&str> {
            names.iter().map(String::as_str).collect()
        }
        match self {
            Self::Object {
                constant,
                types,
                properties,
            } => of_object(constant.as_deref(), &refs(types), &refs(properties)),
            Self::Atom { predicate, status } => of_atom(predicate, *status),
            Self::LaterObject { own, told: heard } => {
                let sum = heard.iter().fold(0u64, |sum, &(atom, position)| {
                    sum.wrapping_add(told(atom, position as usize))
                });
                mix(*own, sum)
            }
            Self::LaterAtom { own, objects } => {
                objects.iter().fold(aged(*own), |colour, &o| mix(colour, o))
            }
        }
    }
}
