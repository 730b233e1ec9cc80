//! Index tables over the tuples of one arity.

use crate::params::permutations;

/// The tuples of `[O]^n` that can matter, and where their permutations are.
///
/// With `distinct`, a tuple that repeats an object is read only by tuples that
/// repeat it too, and by no reduction: it never reaches the value, so it is
/// left out everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Tuples {
    /// Row-major indices of the tuples that matter, ascending.
    pub(crate) live: Vec<u32>,
    /// `[π][i]`: the index of `live[i]`∘π, π in lexicographic order.
    pub(crate) permuted: Vec<u32>,
    /// `[π][i]`: the index of `live[i]`∘π⁻¹.
    pub(crate) inverse: Vec<u32>,
    /// `[k][i]`: the index of `live[i]` without its position k, among the
    /// tuples of arity n - 1.
    pub(crate) without: Vec<u32>,
    /// Whether each tuple of the full array is left out; empty when none is.
    pub(crate) dead: Vec<bool>,
}

impl Tuples {
    pub(crate) fn new(objects: usize, arity: usize, distinct: bool) -> Self {
        let total = objects.pow(arity as u32);
        let perms = permutations(arity);
        let mut live = Vec::new();
        let mut tuples = Vec::new();
        let mut dead = Vec::with_capacity(if distinct { total } else { 0 });
        let mut t = vec![0usize; arity];
        for index in 0..total {
            let repeats = (1..arity).any(|i| t[..i].contains(&t[i]));
            if distinct {
                dead.push(repeats);
            }
            if !(distinct && repeats) {
                live.push(index as u32);
                tuples.extend_from_slice(&t);
            }
            for x in t.iter_mut().rev() {
                *x += 1;
                if *x < objects {
                    break;
                }
                *x = 0;
            }
        }
        let n = live.len();
        let mut permuted = Vec::with_capacity(perms.len() * n);
        let mut inverse = Vec::with_capacity(perms.len() * n);
        for p in &perms {
            let mut back = vec![0; arity];
            for (i, &j) in p.iter().enumerate() {
                back[j] = i;
            }
            for i in 0..n {
                let t = &tuples[i * arity..(i + 1) * arity];
                permuted.push(p.iter().fold(0, |at, &j| at * objects + t[j]) as u32);
                inverse.push(back.iter().fold(0, |at, &j| at * objects + t[j]) as u32);
            }
        }
        let mut without = Vec::with_capacity(arity * n);
        for k in 0..arity {
            for i in 0..n {
                let t = &tuples[i * arity..(i + 1) * arity];
                let kept = t.iter().enumerate().filter(|&(j, _)| j != k);
                without.push(kept.fold(0, |at, (_, &x)| at * objects + x) as u32);
            }
        }
        Self {
            live,
            permuted,
            inverse,
            without,
            dead,
        }
    }
}
