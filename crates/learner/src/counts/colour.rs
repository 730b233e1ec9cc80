//! Colours: 64-bit numbers made of names and of other colours, the same on every machine and for
//! every problem of a domain.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// What a node of the graph looks like after some rounds. 0 stands for no colour.
pub(crate) type Colour = u64;

/// A map from colours. They are hashes already, and serve as their own.
pub(crate) type ColourMap<V> = HashMap<Colour, V, BuildHasherDefault<Itself>>;

/// The hash of a colour: itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Itself(u64);

impl Hasher for Itself {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0, u64::from(byte));
        }
    }

    fn write_u64(&mut self, colour: u64) {
        self.0 = colour;
    }
}

const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND: u64 = 0xD1B5_4A32_D192_ED03;

/// Joins two numbers; the order of the two matters.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ FIRST) * u128::from(b ^ SECOND);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A number for a name, by its letters (FNV-1a, then mixed); `kind` keeps the names of different
/// kinds of things apart.
pub(crate) fn of_name(kind: Kind, name: &str) -> u64 {
    let letters = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mix(mix(letters, kind as u64), name.len() as u64)
}

/// Kinds of things that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Type = 1,
    Constant = 2,
    Predicate = 3,
    /// A predicate of one argument that no action changes, as a property of an object.
    Property = 4,
    /// A predicate that no action changes, as a relation of objects.
    Relation = 5,
}

/// What the goal says about an atom, and whether the atom is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// True; the goal is silent.
    True = 1,
    /// True, as the goal asks.
    Reached = 2,
    /// False, though the goal asks for it.
    Wanted = 3,
    /// False, as the goal asks.
    Absent = 4,
    /// True, though the goal asks that it be false.
    Unwanted = 5,
    /// True for ever: of a predicate that no action changes.
    Static = 6,
}

impl Status {
    /// All of them, by number: the first has number 1.
    pub(crate) const ALL: [Self; 6] = [
        Self::True,
        Self::Reached,
        Self::Wanted,
        Self::Absent,
        Self::Unwanted,
        Self::Static,
    ];
}

/// The first colour of an object: its constant's name if it is one, its types, its properties.
pub(crate) fn of_object(constant: Option<&str>, types: &[&str], properties: &[&str]) -> Colour {
    // Sums: types and properties are sets.
    let types = types.iter().fold(0u64, |sum, name| {
        sum.wrapping_add(of_name(Kind::Type, name))
    });
    let properties = properties.iter().fold(0u64, |sum, name| {
        sum.wrapping_add(of_name(Kind::Property, name))
    });
    let constant = constant.map_or(0, |name| of_name(Kind::Constant, name));
    mix(mix(types, properties), constant)
}

/// The first colour of an atom.
pub(crate) fn of_atom(predicate: &str, status: Status) -> Colour {
    let kind = if status == Status::Static {
        Kind::Relation
    } else {
        Kind::Predicate
    };
    mix(of_name(kind, predicate), status as u64)
}

/// The colour of an atom one round later, before it has looked at its arguments: another one even
/// if it has none, so that colours of different rounds never meet.
#[inline]
pub(crate) fn aged(atom: Colour) -> Colour {
    mix(atom, 0x6167_6564)
}

/// What an atom of some colour tells its argument at some position: added up over the distinct ones
/// next to an object.
#[inline]
pub(crate) fn told(atom: Colour, position: usize) -> u64 {
    mix(mix(atom, position as u64), 0x746F_6C64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Model files hold colours: another number here makes all of them worthless. The numbers are
    /// those of the definitions, written down once more in another language.
    #[test]
    fn colours_stay_the_same_for_ever() {
        let block = of_object(None, &["block"], &[]);
        let wanted = of_atom("on", Status::Wanted);
        assert_eq!(
            [block, wanted, told(wanted, 1), mix(block, wanted)],
            [
                14_979_571_530_614_495_309,
                8_146_290_153_950_266_090,
                3_748_798_593_077_175_662,
                9_817_972_731_928_504_565
            ]
        );
    }

    #[test]
    fn sets_have_no_order_and_kinds_do_not_meet() {
        assert_eq!(
            of_object(None, &["a", "b"], &["p", "q"]),
            of_object(None, &["b", "a"], &["q", "p"])
        );
        assert_ne!(of_object(None, &["a"], &[]), of_object(None, &[], &["a"]));
        assert_ne!(
            of_object(Some("a"), &["a"], &[]),
            of_object(None, &["a"], &[])
        );
        let mut all: Vec<Colour> = Status::ALL.iter().map(|&s| of_atom("p", s)).collect();
        all.extend([told(all[0], 0), told(all[0], 1), mix(1, 2), mix(2, 1)]);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 10);
    }
}
