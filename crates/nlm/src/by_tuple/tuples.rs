//! The tuples of one arity, one a row.

use crate::params::permutations;

/// The tuples of `[O]^n` that can matter, in lexicographic order, and where their permutations are.
///
/// With `distinct`, a tuple that repeats an object is read only by tuples that
/// repeat it too, and by no reduction: it never reaches the value, so it has no row.
#[derive(Clone, Debug)]
pub(super) struct Tuples {
    /// `[tuple as a number in base O]`: its row, or [`NO_ROW`].
    row_of: Vec<u32>,
    /// `[π][row]`: the row of the tuple ∘ π, π in lexicographic order.
    pub(super) permuted: Vec<Vec<u32>>,
    /// `[k][row]`: the row, of arity n - 1, of the tuple without its position k.
    pub(super) without: Vec<Vec<u32>>,
    /// `[row of arity n - 1][others]`: the tuples that reduce makes one of.
    pub(super) members: Vec<u32>,
    pub(super) rows: usize,
}

const NO_ROW: u32 = u32::MAX;

fn number(tuple: impl Iterator<Item = usize>, objects: usize) -> usize {
    tuple.fold(0, |at, x| at * objects + x)
}

impl Tuples {
    /// Given those of the arity below.
    pub(super) fn new(objects: usize, distinct: bool, below: Option<&Self>, arity: usize) -> Self {
        let total = objects.pow(arity as u32);
        let mut row_of = vec![NO_ROW; total];
        let mut tuples: Vec<Vec<usize>> = Vec::new();
        for (index, row) in row_of.iter_mut().enumerate() {
            let power = |i: usize| objects.pow((arity - 1 - i) as u32);
            let t: Vec<usize> = (0..arity).map(|i| index / power(i) % objects).collect();
            if !(distinct && (1..arity).any(|i| t[..i].contains(&t[i]))) {
                *row = tuples.len() as u32;
                tuples.push(t);
            }
        }
        let permuted = permutations(arity)
            .iter()
            .map(|p| {
                let of = |t: &Vec<usize>| row_of[number(p.iter().map(|&j| t[j]), objects)];
                tuples.iter().map(of).collect()
            })
            .collect();
        let mut without = Vec::with_capacity(arity);
        let mut members = Vec::new();
        if let Some(below) = below {
            for k in 0..arity {
                let rest = |t: &Vec<usize>| {
                    let kept = (0..arity).filter(|&j| j != k).map(|j| t[j]);
                    below.row_of[number(kept, objects)]
                };
                without.push(tuples.iter().map(rest).collect());
            }
            // Tuples that differ in their last object follow one another.
            members = (0..tuples.len() as u32).collect();
        }
        Self {
            row_of,
            permuted,
            without,
            members,
            rows: tuples.len(),
        }
    }

    /// The row of a tuple, if it can matter.
    pub(super) fn row(&self, tuple: &[u16], objects: usize) -> Option<usize> {
        let row = self.row_of[number(tuple.iter().map(|&x| usize::from(x)), objects)];
        (row != NO_ROW).then_some(row as usize)
    }
}
