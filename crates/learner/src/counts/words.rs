//! Colours in words.
//!
//! `(on X Y)` is an atom that is true; a word before it says more: `reached (on X Y)` is true and a
//! goal, `wanted (on X Y)` is a goal and not true, `unwanted` and `absent` are the same for goals
//! that ask for something to be false. An object is its type and what is said around it: `block X
//! with (clear X), wanted (on X block)`.

use std::collections::HashMap;

use super::colour::{Colour, ColourMap, Status};
use super::file::CountsModel;
use super::making::Making;
use super::model::WEIGHT_SCALE;

/// A feature of a model as a person reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureInWords {
    /// What is counted.
    pub text: String,
    /// The rounds it takes to see it.
    pub round: usize,
    /// What one more of it adds to the score, by head; less is better.
    pub weights: Vec<f64>,
}

/// Names of the arguments of an atom.
const ARGUMENTS: [&str; 4] = ["X", "Y", "Z", "W"];

fn argument(position: usize) -> String {
    ARGUMENTS
        .get(position)
        .map_or_else(|| format!("A{position}"), |&name| name.to_owned())
}

impl CountsModel {
    /// The features that weigh most, in words: the largest first, whatever their sign.
    pub fn features_in_words(&self, count: usize) -> Vec<FeatureInWords> {
        let function = &self.function;
        let by_colour: ColourMap<&Making> =
            function.makings().iter().map(|m| (m.colour(), m)).collect();
        let arities = self.header.signature.predicates.iter();
        let words = Words {
            by_colour,
            arities: arities
                .map(|(name, arity)| (name.as_str(), *arity))
                .collect(),
        };
        let makings = function.makings().iter();
        let mut heaviest: Vec<(Vec<i32>, &Making)> = makings
            .map(|making| {
                let weights = function.weight(making.colour());
                (weights[..function.heads()].to_vec(), making)
            })
            .collect();
        // A stable sort: equals stay in the order of the file.
        heaviest.sort_by_key(|(weights, _)| {
            std::cmp::Reverse(weights.iter().map(|weight| weight.abs()).max())
        });
        heaviest
            .into_iter()
            .filter(|(weights, _)| weights.iter().any(|&weight| weight != 0))
            .take(count)
            .map(|(weights, making)| FeatureInWords {
                text: words.node(making),
                round: words.round(making),
                weights: weights
                    .iter()
                    .map(|&weight| f64::from(weight) / f64::from(WEIGHT_SCALE))
                    .collect(),
            })
            .collect()
    }
}

struct Words<'m> {
    by_colour: ColourMap<&'m Making>,
    /// By predicate.
    arities: HashMap<&'m str, usize>,
}

impl<'m> Words<'m> {
    fn of(&self, colour: Colour) -> &'m Making {
        self.by_colour[&colour]
    }

    fn round(&self, making: &Making) -> usize {
        match making {
            Making::Object { .. } | Making::Atom { .. } => 0,
            Making::LaterObject { own, .. } | Making::LaterAtom { own, .. } => {
                1 + self.round(self.of(*own))
            }
        }
    }

    /// A node of any kind.
    fn node(&self, making: &Making) -> String {
        match making {
            Making::Object { .. } | Making::LaterObject { .. } => self.object(making, "X"),
            Making::Atom { .. } => self.atom(making, |_| "_".to_owned()),
            Making::LaterAtom { objects, .. } => {
                let plain = self.round(making) == 1;
                let mut text = self.atom(making, |position| {
                    if plain {
                        self.object(self.of(objects[position]), "")
                    } else {
                        argument(position)
                    }
                });
                if !plain {
                    let said = objects.iter().enumerate().map(|(position, &object)| {
                        self.object(self.of(object), &argument(position))
                    });
                    let said: Vec<String> = said.collect();
                    if !said.is_empty() {
                        text += &format!(", where {}", said.join("; "));
                    }
                }
                text
            }
        }
    }

    /// An object that goes by some name, and what is said around it.
    fn object(&self, making: &Making, name: &str) -> String {
        match making {
            Making::Object {
                constant,
                types,
                properties,
            } => {
                let noun = constant.clone().unwrap_or_else(|| types.join("/"));
                let mut text = noun;
                if !properties.is_empty() {
                    text += &format!(" that is {}", properties.join(" and "));
                }
                if !name.is_empty() {
                    text += &format!(" {name}");
                }
                text
            }
            Making::LaterObject { own, told } => {
                let said = told.iter().map(|&(atom, position)| {
                    let atom = self.of(atom);
                    self.atom(atom, |other| {
                        if other == position as usize {
                            name.to_owned()
                        } else {
                            self.other_argument(atom, other)
                        }
                    })
                });
                let mut said: Vec<String> = said.collect();
                said.sort_unstable();
                let first = self.object(self.first(*own), name);
                if said.is_empty() {
                    format!("{first} with nothing said of it")
                } else {
                    format!("{first} with {}", said.join(", "))
                }
            }
            Making::Atom { .. } | Making::LaterAtom { .. } => self.node(making),
        }
    }

    /// What is known of another argument of an atom next to an object.
    fn other_argument(&self, atom: &Making, position: usize) -> String {
        match atom {
            Making::LaterAtom { objects, .. } => self.object(self.first(objects[position]), ""),
            _ => "_".to_owned(),
        }
    }

    /// The node before the first round.
    fn first(&self, colour: Colour) -> &'m Making {
        match self.of(colour) {
            Making::LaterObject { own, .. } | Making::LaterAtom { own, .. } => self.first(*own),
            first => first,
        }
    }

    /// An atom whose arguments are given by position.
    fn atom(&self, making: &Making, argument: impl Fn(usize) -> String) -> String {
        let first = match making {
            Making::LaterAtom { own, .. } => self.first(*own),
            first => first,
        };
        let Making::Atom { predicate, status } = first else {
            return String::new();
        };
        let word = match status {
            Status::True | Status::Static => "",
            Status::Reached => "reached ",
            Status::Wanted => "wanted ",
            Status::Absent => "absent ",
            Status::Unwanted => "unwanted ",
        };
        let arity = match making {
            Making::LaterAtom { objects, .. } => objects.len(),
            _ => self.arities.get(predicate.as_str()).copied().unwrap_or(0),
        };
        let arguments: String = (0..arity).map(|at| format!(" {}", argument(at))).collect();
        format!("{word}({predicate}{arguments})")
    }
}
