//! Twins: objects that stand for one another in every true proposition.
//!
//! If x can replace y and y can replace x in any position of any true proposition, every tensor of
//! the network has equal rows for the two. A maximum over objects then needs one of them. With
//! `distinct`, a tuple holds at most M objects, so min(class size, M) of a class leave one over for
//! every reduction that had one.
//!
//! In the tree of `docs/nlm.md`: the first branch of `evaluate`; `backward` has none.

use crate::config::MAX_ARITY;
use crate::structure::Structure;
use crate::tuning::FEW_TO_COMPARE;

/// The quotient of a structure by the twin relation, or `None` where no two
/// objects are twins.
///
/// Without `distinct` one object a class is kept, with it `max_arity` objects.
pub(crate) fn quotient(
    structure: &Structure,
    distinct: bool,
    max_arity: usize,
) -> Option<Structure> {
    let objects = structure.objects();
    let keep = if distinct { max_arity.max(1) } else { 1 };
    let hashes = signatures(structure, distinct);
    // Most small structures have no twins: settle that without sorting.
    let lonely = |x: usize| !hashes[..x].contains(&hashes[x]);
    if objects <= FEW_TO_COMPARE && (1..objects).all(lonely) {
        return None;
    }
    let mut order: Vec<u16> = (0..objects as u16).collect();
    order.sort_unstable_by_key(|&x| (hashes[usize::from(x)], x));
    let candidates = order
        .windows(keep + 1)
        .any(|w| hashes[usize::from(w[0])] == hashes[usize::from(w[keep])]);
    if !candidates {
        return None;
    }
    let facts = Facts::new(structure, distinct);
    // The classes met so far with the current hash: first member, size.
    let mut classes: Vec<(u16, usize)> = Vec::new();
    let mut kept = vec![true; objects];
    let mut left_out = 0;
    for (i, &x) in order.iter().enumerate() {
        let hash = hashes[usize::from(x)];
        if i == 0 || hashes[usize::from(order[i - 1])] != hash {
            classes.clear();
        }
        match classes.iter_mut().find(|c| facts.twins(c.0, x)) {
            Some(class) => {
                class.1 += 1;
                if class.1 > keep {
                    kept[usize::from(x)] = false;
                    left_out += 1;
                }
            }
            None => classes.push((x, 1)),
        }
    }
    if left_out == 0 {
        return None;
    }
    let mut next = 0;
    let names: Vec<Option<u16>> = kept
        .iter()
        .map(|&k| {
            k.then(|| {
                next += 1;
                next - 1
            })
        })
        .collect();
    Some(structure.restrict(objects - left_out, &names))
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 32)).wrapping_mul(0x9fb2_1c65_1e98_df25);
    z ^ (z >> 29)
}

/// With `distinct` no tuple that repeats an object can matter.
fn ignored(x: &[u16], distinct: bool) -> bool {
    distinct && (1..x.len()).any(|i| x[..i].contains(&x[i]))
}

/// For each object a sum of hashes of the places it holds: equal for twins
/// (a proposition given twice at most hides a pair).
fn signatures(structure: &Structure, distinct: bool) -> Vec<u64> {
    let mut hashes = vec![0u64; structure.objects()];
    for arity in 1..structure.arities() {
        for (channel, x) in structure.propositions(arity) {
            if ignored(x, distinct) {
                continue;
            }
            for (position, &object) in x.iter().enumerate() {
                let mut h = mix(((arity * 8 + position) as u64) << 32 | channel as u64);
                for (i, &other) in x.iter().enumerate() {
                    if i != position {
                        h = mix(h ^ (u64::from(other) + 1).wrapping_mul(0xd6e8_feb8_6659_fd93));
                    }
                }
                let sum = &mut hashes[usize::from(object)];
                *sum = sum.wrapping_add(h);
            }
        }
    }
    hashes
}

/// An arity, a channel and so many objects, zeros behind them.
type Fact = (usize, usize, [u16; MAX_ARITY]);

/// The true propositions, to look one up and to list those of an object.
struct Facts {
    /// In order.
    all: Vec<Fact>,
    of: Vec<Vec<Fact>>,
}

impl Facts {
    fn new(structure: &Structure, distinct: bool) -> Self {
        let mut all = Vec::new();
        for arity in 1..structure.arities() {
            for (channel, x) in structure.propositions(arity) {
                if !ignored(x, distinct) {
                    let mut row = [0; MAX_ARITY];
                    row[..arity].copy_from_slice(x);
                    all.push((arity, channel, row));
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        let mut of = vec![Vec::new(); structure.objects()];
        for &fact in &all {
            for &object in &fact.2[..fact.0] {
                of[usize::from(object)].push(fact);
            }
        }
        Self { all, of }
    }

    fn twins(&self, x: u16, y: u16) -> bool {
        self.replaces(x, y) && self.replaces(y, x)
    }

    /// Whether y can take the place of x, one position at a time.
    fn replaces(&self, x: u16, y: u16) -> bool {
        self.of[usize::from(x)]
            .iter()
            .all(|&(arity, channel, row)| {
                (0..arity).filter(|&i| row[i] == x).all(|i| {
                    let mut replaced = row;
                    replaced[i] = y;
                    let fact = (arity, channel, replaced);
                    self.all.binary_search(&fact).is_ok()
                })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balls_in_a_room_are_twins() {
        let mut s = Structure::new(5);
        for ball in 0..3 {
            s.insert(0, &[ball]);
            s.insert(0, &[ball, 3]);
        }
        assert_eq!(quotient(&s, false, 3).unwrap().objects(), 3);
        // Three balls of which a triple can hold all three.
        assert!(quotient(&s, true, 3).is_none());
        assert_eq!(quotient(&s, true, 2).unwrap().objects(), 4);
    }

    #[test]
    fn a_goal_tells_objects_apart() {
        let mut s = Structure::new(3);
        s.insert(0, &[0]);
        s.insert(0, &[1]);
        s.insert(1, &[1]);
        assert!(quotient(&s, false, 3).is_none());
    }

    #[test]
    fn replacing_one_place_of_a_loop_must_hold_too() {
        // p(0,0) and p(1,1) look alike until p(0,1) is asked for.
        let mut s = Structure::new(2);
        s.insert(0, &[0, 0]);
        s.insert(0, &[1, 1]);
        assert!(quotient(&s, false, 2).is_none());
        s.insert(0, &[0, 1]);
        s.insert(0, &[1, 0]);
        assert_eq!(quotient(&s, false, 2).unwrap().objects(), 1);
    }
}
