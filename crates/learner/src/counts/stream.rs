//! Makings as a run of numbers, for files. Names are kept aside in a list; colours are numbered in
//! the order of the run, and refer to earlier ones by number.

use std::collections::HashMap;

use super::colour::{Colour, Status};
use super::making::Making;

/// The first number of an entry says what it is.
const OBJECT: u32 = 0;
const ATOM: u32 = 1;
const LATER_OBJECT: u32 = 2;
const LATER_ATOM: u32 = 3;

/// Stands for no name.
const NO_NAME: u32 = u32::MAX;

/// Writes makings, each after those it is made of.
pub(crate) fn encode(makings: &[Making]) -> (Vec<String>, Vec<u32>) {
    let mut names: Vec<String> = Vec::new();
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut name = |text: &String| {
        *known.entry(text.clone()).or_insert_with(|| {
            names.push(text.clone());
            names.len() as u32 - 1
        })
    };
    let mut numbers: HashMap<Colour, u32> = HashMap::new();
    let mut stream = Vec::new();
    for (number, making) in makings.iter().enumerate() {
        match making {
            Making::Object {
                constant,
                types,
                properties,
            } => {
                let constant = constant.as_ref().map_or(NO_NAME, &mut name);
                stream.extend([OBJECT, constant]);
                for list in [types, properties] {
                    stream.push(list.len() as u32);
                    stream.extend(list.iter().map(&mut name));
                }
            }
            Making::Atom { predicate, status } => {
                stream.extend([ATOM, name(predicate), *status as u32]);
            }
            Making::LaterObject { own, told } => {
                stream.extend([LATER_OBJECT, numbers[own], told.len() as u32]);
                for (atom, position) in told {
                    stream.extend([numbers[atom], *position]);
                }
            }
            Making::LaterAtom { own, objects } => {
                stream.extend([LATER_ATOM, numbers[own], objects.len() as u32]);
                stream.extend(objects.iter().map(|object| numbers[object]));
            }
        }
        numbers.insert(making.colour(), number as u32);
    }
    (names, stream)
}

/// Reads what [`encode`] wrote; `None` if it did not.
pub(crate) fn decode(names: &[String], stream: &[u32]) -> Option<Vec<(Colour, Making)>> {
    let mut reader = Reader {
        names,
        rest: stream,
        made: Vec::new(),
    };
    while !reader.rest.is_empty() {
        let making = reader.making()?;
        reader.made.push((making.colour(), making));
    }
    Some(reader.made)
}

struct Reader<'a> {
    names: &'a [String],
    rest: &'a [u32],
    made: Vec<(Colour, Making)>,
}

impl Reader<'_> {
    fn making(&mut self) -> Option<Making> {
        Some(match self.number()? {
            OBJECT => Making::Object {
                constant: match self.number()? {
                    NO_NAME => None,
                    at => Some(self.names.get(at as usize)?.clone()),
                },
                types: self.list(Self::name)?,
                properties: self.list(Self::name)?,
            },
            ATOM => Making::Atom {
                predicate: self.name()?,
                status: {
                    let number = self.number()? as usize;
                    *Status::ALL.get(number.checked_sub(1)?)?
                },
            },
            LATER_OBJECT => Making::LaterObject {
                own: self.colour()?,
                told: {
                    // In the order of colours, as they are made: numbers have another order.
                    let mut told =
                        self.list(|reader| Some((reader.colour()?, reader.number()?)))?;
                    told.sort_unstable();
                    told
                },
            },
            LATER_ATOM => Making::LaterAtom {
                own: self.colour()?,
                objects: self.list(Self::colour)?,
            },
            _ => return None,
        })
    }

    fn number(&mut self) -> Option<u32> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn name(&mut self) -> Option<String> {
        let at = self.number()?;
        self.names.get(at as usize).cloned()
    }

    fn colour(&mut self) -> Option<Colour> {
        let at = self.number()?;
        self.made.get(at as usize).map(|(colour, _)| *colour)
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()? as usize;
        // Each item takes a number at least: no file makes us reserve more than it holds.
        if length > self.rest.len() {
            return None;
        }
        (0..length).map(|_| item(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_and_damage_is_noticed() {
        let object = Making::Object {
            constant: Some("base".to_owned()),
            types: vec!["place".to_owned()],
            properties: vec!["open".to_owned()],
        };
        let atom = Making::Atom {
            predicate: "at".to_owned(),
            status: Status::Wanted,
        };
        let later_object = Making::LaterObject {
            own: object.colour(),
            told: vec![(atom.colour(), 0), (atom.colour(), 1)],
        };
        let later_atom = Making::LaterAtom {
            own: atom.colour(),
            objects: vec![object.colour(), object.colour()],
        };
        let makings = [object, atom, later_object, later_atom];
        let (names, stream) = encode(&makings);
        let read = decode(&names, &stream).expect("as written");
        assert_eq!(
            read.iter().map(|(_, m)| m).collect::<Vec<_>>(),
            makings.iter().collect::<Vec<_>>()
        );
        for length in 1..stream.len() {
            let cut = decode(&names, &stream[..length]);
            assert!(cut.is_none_or(|made| made.len() < makings.len()));
        }
        for place in 0..stream.len() {
            let mut damaged = stream.clone();
            damaged[place] = 1_000_000;
            let _ = decode(&names, &damaged);
        }
    }
}
