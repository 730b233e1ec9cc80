//! The classes of the orbits of a group, and where the values of every tuple lie.
//!
//! Objects of one type are named in any order, so that orbits come in several orders of one class:
//! the one with the least key stands for all.
//!
//! In the tree of `docs/nlm.md`: by class, gradients alone; values take orbits as they come.

use crate::classes::{Classes, IN_KEY, key, parts};
use crate::index::Index;
use crate::inputs::{Inputs, Triple};
use crate::interner::Interner;
use crate::kernels::orbit::{ORDERS, SIX};
use crate::plan::BLOCK;
use std::sync::LazyLock;

/// `[p][s]`: which order of an orbit (c0, c1, c2) the order s of (o0, o1, o2) is, where
/// c_i = o_p(i).
static SLOTS: LazyLock<[[usize; SIX]; SIX]> = LazyLock::new(|| {
    let place = |of: &[usize], x: usize| of.iter().position(|&o| o == x).expect("all of three");
    ORDERS.map(|named| {
        ORDERS.map(|order| {
            let order = order.map(|o| place(&named, o));
            let slot = ORDERS.iter().position(|slot| *slot == order);
            slot.expect("an order of three")
        })
    })
});

#[derive(Default)]
pub(super) struct Orbits {
    /// Orbits by the classes of their pairs as they come, and where their six orders lie.
    named: Interner<u64>,
    places_of_named: Vec<[u32; SIX]>,
    /// By class of pairs: the other way round, of objects of one type.
    reversed: Vec<u32>,
    /// The orbits of each structure of which some ternary proposition holds.
    marked: Vec<Vec<Triple>>,
    /// `[structure][a][b][z]`: where in a table over classes of orbits a tuple's values lie.
    pub(super) places: Vec<u32>,
}

impl Orbits {
    pub(super) fn clear(&mut self) {
        self.named.clear();
        self.places_of_named.clear();
        self.marked.clear();
    }

    /// Notes the ternary propositions of the next structure.
    pub(super) fn mark(&mut self, inputs: &Inputs) {
        self.marked.push(inputs.triples().to_vec());
    }

    /// The class of each class of pairs the other way round.
    fn reverse_pairs(&mut self, classes: &mut Classes) {
        self.reversed.clear();
        let mut class = 0;
        while (class as usize) < classes.pairs() {
            let [a, b, _] = classes.pair(class);
            let reversed = if a == b {
                classes.reversed(class)
            } else {
                class
            };
            self.reversed.push(reversed);
            class += 1;
        }
    }

    /// The place in a table of each of the six orders of an orbit with this key.
    #[cold]
    fn six_places(&self, classes: &mut Classes, orbit: u64, width: u32) -> [u32; SIX] {
        let [xy, xz, yz] = parts(orbit);
        let ([x, y, _], [_, z, _]) = (classes.pair(xy), classes.pair(yz));
        let reversed = |class: u32| self.reversed[class as usize];
        let (yx, zx, zy) = (reversed(xy), reversed(xz), reversed(yz));
        let mut best = (orbit, 0);
        for (order, pairs, allowed) in [
            (1, [xz, xy, zy], y == z),
            (2, [yx, yz, xz], x == y),
            (3, [yz, yx, zx], x == y && y == z),
            (4, [zx, zy, xy], x == y && y == z),
            (5, [zy, zx, yx], x == y && y == z),
        ] {
            if allowed {
                best = best.min((key(pairs), order));
            }
        }
        let at = classes.orbits.number(best.0) * width;
        SLOTS[best.1].map(|slot| at + (slot * BLOCK) as u32)
    }

    /// The class of every orbit of a group whose pairs have theirs, and where the values of every
    /// tuple lie in a table with so many f32 a class.
    pub(super) fn find(&mut self, classes: &mut Classes, index: &Index, width: usize) {
        let n = index.objects();
        self.reverse_pairs(classes);
        let mut all = std::mem::take(&mut self.places);
        all.resize(index.group() * n * n * n, 0);
        let mut matrix = vec![0u64; n * n];
        for (structure, places) in all.chunks_exact_mut(n * n * n).enumerate() {
            let first = structure * index.rows(2) / 2;
            let own = &classes.of_pairs[first..first + index.rows(2) / 2];
            for (to, &row) in matrix.iter_mut().zip(index.row_of()) {
                let class = own.get(row as usize / 2);
                *to = class.map_or(0, |&class| u64::from(class));
            }
            for x in 0..n {
                for y in index.after(x)..n {
                    let xy = matrix[x * n + y];
                    let (xz, yz) = (&matrix[x * n..(x + 1) * n], &matrix[y * n..(y + 1) * n]);
                    for z in index.after(y)..n {
                        let key = xy << IN_KEY[0] | xz[z] << IN_KEY[1] | yz[z];
                        let orbit = self.named.number(key) as usize;
                        if orbit == self.places_of_named.len() {
                            let six = self.six_places(classes, key, width as u32);
                            self.places_of_named.push(six);
                        }
                        let six = &self.places_of_named[orbit];
                        // A tuple that several orders name has its values at the first.
                        places[(z * n + y) * n + x] = six[5];
                        places[(z * n + x) * n + y] = six[4];
                        places[(y * n + z) * n + x] = six[3];
                        places[(y * n + x) * n + z] = six[2];
                        places[(x * n + z) * n + y] = six[1];
                        places[(x * n + y) * n + z] = six[0];
                    }
                }
            }
        }
        for (at, marked) in self.marked.iter().enumerate() {
            let places = &mut all[at * n * n * n..];
            for triple in marked {
                let key = classes.marked(index, at, triple);
                let first = classes.orbits.number(key) as usize * width;
                // The first of the orders that name a tuple comes last.
                for (s, order) in ORDERS.iter().enumerate().rev() {
                    let [a, b, c] = order.map(|i| triple.0[i]);
                    places[(a * n + b) * n + c] = (first + s * BLOCK) as u32;
                }
            }
        }
        if index.distinct() {
            // Tuples that repeat an object do not count: they are behind all classes.
            let nowhere = (classes.orbits.len() * width) as u32;
            for places in all.chunks_exact_mut(n * n * n) {
                for (a, places) in places.chunks_exact_mut(n * n).enumerate() {
                    for (b, places) in places.chunks_exact_mut(n).enumerate() {
                        (places[a], places[b]) = (nowhere, nowhere);
                        if a == b {
                            places.fill(nowhere);
                        }
                    }
                }
            }
        }
        self.places = all;
    }
}
