//! The one reader of inputs by class: a structure as sets of bits, and from these to tensors.
//!
//! A value does not depend on the names of objects, so they may be chosen: objects with the same
//! unary propositions, of one type, come one after the other. Then the types of a pair a <= b come
//! in one order only, those of a triple x <= y <= z too, and there are fewer classes of both. The
//! order follows from the propositions, never from what was evaluated before.
//!
//! In the tree of `docs/nlm.md`: by class, values and gradients; the first step. It also counts the
//! bits that decide the way.

use crate::index::Index;
use crate::kernels::buffer::Buffer;
use crate::kernels::orbit::{ORDERS, SIX};
use crate::plan::Plan;
use crate::structure::Structure;

/// The binary propositions that hold of (a, b), and those that hold of (b, a); behind them what
/// reduce makes of the ternary propositions of (a, b, ·) and (b, a, ·).
pub(crate) type Sides = [u64; 2];

/// Whether a set of bits has this one.
pub(crate) fn bit(bits: u64, c: usize) -> f32 {
    f32::from((bits >> c & 1) as u8)
}

/// Writes a set of bits, one a column.
pub(crate) fn write(to: &mut [f32], bits: u64) {
    for (c, to) in to.iter_mut().enumerate() {
        *to = bit(bits, c);
    }
}

/// Writes the sums of the channels of (a, b) and (b, a), and their differences.
pub(crate) fn write_sums(sums: &mut [f32], differences: &mut [f32], [ab, ba]: Sides) {
    for (c, (sum, difference)) in sums.iter_mut().zip(differences).enumerate() {
        (*sum, *difference) = (bit(ab, c) + bit(ba, c), bit(ab, c) - bit(ba, c));
    }
}

/// What holds of (x, y) for some y and for all y.
#[derive(Clone, Copy)]
struct Reduced {
    some: u64,
    /// The propositions that hold for every y met.
    of_met: u64,
    met: usize,
}

impl Reduced {
    fn meet(&mut self, bits: u64) {
        self.some |= bits;
        self.of_met &= bits;
        self.met += 1;
    }
}

/// An orbit x <= y <= z, and the ternary propositions that hold of each of its orders.
pub(crate) type Triple = ([usize; 3], [u64; SIX]);

/// The propositions of one structure up to arity 3, as sets of bits.
#[derive(Default)]
pub(crate) struct Inputs {
    /// The new name of each object.
    names: Vec<u16>,
    /// The unary propositions of each object, by new name, and its old name.
    order: Vec<(u64, u16)>,
    /// Of each pair; empty between structures but for those touched.
    pairs: Vec<Sides>,
    /// The pairs that are not empty: their index and their objects.
    touched: Vec<[u32; 3]>,
    /// By object.
    reduced: Vec<Reduced>,
    /// The orbits of which some ternary proposition holds, in order.
    triples: Vec<Triple>,
}

impl Inputs {
    /// Whether the propositions of a network fit sets of bits.
    pub(crate) fn fit(plan: &Plan) -> bool {
        let pairs = plan.inputs(2) + plan.quantifiers * plan.inputs(3);
        plan.inputs(1) <= 64 && pairs <= 64
    }

    /// Reads a structure; objects are named by type.
    pub(crate) fn read(&mut self, structure: &Structure, index: &Index, plan: &Plan) {
        let objects = structure.objects() as u16;
        self.order.clear();
        self.order.extend((0..objects).map(|x| (0, x)));
        for row in structure.rows(1).chunks_exact(2) {
            self.order[usize::from(row[1])].0 |= 1 << row[0];
        }
        // Objects of one type keep their order.
        self.order.sort_unstable();
        self.names.resize(usize::from(objects), 0);
        for (new, &(_, old)) in self.order.iter().enumerate() {
            self.names[usize::from(old)] = new as u16;
        }
        for [pair, ..] in self.touched.drain(..) {
            self.pairs[pair as usize] = [0; 2];
        }
        self.pairs
            .resize(self.pairs.len().max(index.rows(2) / 2), [0; 2]);
        for row in structure.rows(2).chunks_exact(3) {
            let (x, y) = (self.name(row[1]), self.name(row[2]));
            self.insert(index, x, y, 1 << row[0]);
        }
        self.triples.clear();
        if plan.inputs(3) > 0 {
            self.read_triples(structure, index, plan);
        }
    }

    /// Notes that these propositions hold of (x, y).
    #[inline]
    fn insert(&mut self, index: &Index, x: usize, y: usize, bits: u64) {
        if index.distinct() && x == y {
            return;
        }
        let at = index.row(x, y);
        let sides = &mut self.pairs[at / 2];
        if *sides == [0; 2] {
            let (a, b) = (x.min(y) as u32, x.max(y) as u32);
            self.touched.push([at as u32 / 2, a, b]);
        }
        sides[at % 2] |= bits;
        if x == y {
            // Both rows of (x, x) hold the same tuple.
            sides[1] |= bits;
        }
    }

    /// Reads the ternary propositions, by orbit, and reduces them.
    fn read_triples(&mut self, structure: &Structure, index: &Index, plan: &Plan) {
        let distinct = index.distinct();
        let rows = structure.rows(3).chunks_exact(4);
        let tuple = |row: &[u16]| [1, 2, 3].map(|i| self.name(row[i]));
        let mut all: Vec<([usize; 3], u64)> = rows
            .map(|row| (tuple(row), 1 << row[0]))
            .filter(|([x, y, z], _)| !distinct || (x != y && y != z && x != z))
            .collect();
        merge(&mut all, |first, next| *first |= next);
        for &(tuple, bits) in &all {
            let mut sorted = tuple;
            sorted.sort_unstable();
            // Several orders name the tuple where objects repeat.
            let names = |order: [usize; 3]| order.map(|i| sorted[i]) == tuple;
            let six = ORDERS.map(|order| if names(order) { bits } else { 0 });
            self.triples.push((sorted, six));
        }
        merge(&mut self.triples, |first, next| {
            *first = std::array::from_fn(|s| first[s] | next[s]);
        });
        let (n, shift) = (index.objects(), plan.inputs(2));
        let thirds = if distinct { n.saturating_sub(2) } else { n };
        let every_shift = shift + plan.inputs(3);
        for of_pair in all.chunk_by(|a, b| a.0[..2] == b.0[..2]) {
            let ([x, y, _], _) = of_pair[0];
            let some = of_pair.iter().fold(0, |some, (_, bits)| some | bits);
            self.insert(index, x, y, some << shift);
            let every = of_pair
                .iter()
                .fold(u64::MAX, |every, (_, bits)| every & bits);
            if plan.quantifiers == 2 && of_pair.len() == thirds && every != 0 {
                self.insert(index, x, y, every << every_shift);
            }
        }
        if plan.quantifiers == 2 && thirds == 0 {
            // Everything holds of nothing.
            let every = (u64::MAX >> (64 - plan.inputs(3))) << every_shift;
            for (x, y) in (0..n).flat_map(|x| (0..n).map(move |y| (x, y))) {
                self.insert(index, x, y, every);
            }
        }
    }

    /// The orbits of which some ternary proposition holds.
    pub(crate) fn triples(&self) -> &[Triple] {
        &self.triples
    }

    /// The new name of an object.
    #[inline]
    pub(crate) fn name(&self, old: u16) -> usize {
        usize::from(self.names[usize::from(old)])
    }

    /// The type of each object, in the new order.
    pub(crate) fn types(&self) -> impl Iterator<Item = u64> {
        self.order.iter().map(|&(bits, _)| bits)
    }

    /// The propositions of each pair.
    pub(crate) fn pairs(&self, index: &Index) -> &[Sides] {
        &self.pairs[..index.rows(2) / 2]
    }

    /// Writes the structure read, the `at`-th of a group, into the first columns of `own` up to
    /// arity 1, and into those of `red` what reduce makes of all propositions.
    pub(crate) fn write(
        &mut self,
        structure: &Structure,
        plan: &Plan,
        index: &Index,
        at: usize,
        own: &mut [Buffer; 3],
        red: &mut [Buffer; 3],
    ) {
        let both = plan.quantifiers == 2;
        let first = at * plan.own_columns[0];
        let nullary = &mut own[0].as_mut_slice()[first..first + plan.inputs(0)];
        nullary.fill(0.0);
        for &channel in structure.rows(0) {
            nullary[usize::from(channel)] = 1.0;
        }
        if plan.max_arity == 0 {
            return;
        }
        let (channels, stride) = (plan.inputs(1), plan.own_columns[1]);
        let first = at * index.objects();
        let (mut some, mut every) = (0, u64::MAX);
        for (x, &(bits, _)) in self.order.iter().enumerate() {
            let from = (first + x) * stride;
            write(&mut own[1].as_mut_slice()[from..from + channels], bits);
            some |= bits;
            every &= bits;
        }
        let to = &mut red[0].as_mut_slice()[at * plan.red_columns[0]..];
        write_reduced(to, channels, some, both.then_some(every));
        if plan.max_arity == 1 {
            return;
        }
        self.reduce(index.objects());
        let (channels, stride) = (plan.inputs(2), plan.red_columns[1]);
        let others = index.objects() - usize::from(index.distinct());
        for (x, reduced) in self.reduced.iter().enumerate() {
            // Where some pair is empty nothing holds of all.
            let every = if reduced.met == others {
                reduced.of_met
            } else {
                0
            };
            let to = &mut red[1].as_mut_slice()[(first + x) * stride..];
            write_reduced(to, channels, reduced.some, both.then_some(every));
        }
        let (shift, channels) = (channels, plan.inputs(3) * plan.quantifiers);
        if channels > 0 {
            let stride = plan.red_columns[2];
            let first = at * index.rows(2) * stride;
            let rows = red[2].as_mut_slice()[first..].chunks_exact_mut(2 * stride);
            for (rows, sides) in rows.zip(self.pairs(index)) {
                let (sums, differences) = rows.split_at_mut(stride);
                write_sums(
                    &mut sums[..channels],
                    differences,
                    sides.map(|side| side >> shift),
                );
            }
        }
    }

    fn reduce(&mut self, objects: usize) {
        let start = Reduced {
            some: 0,
            of_met: u64::MAX,
            met: 0,
        };
        self.reduced.clear();
        self.reduced.resize(objects, start);
        for &[pair, a, b] in &self.touched {
            let [ab, ba] = self.pairs[pair as usize];
            self.reduced[a as usize].meet(ab);
            if a != b {
                self.reduced[b as usize].meet(ba);
            }
        }
    }
}

/// Sorts, and makes one of those with the same key.
fn merge<K: Ord, V: Copy + Ord>(all: &mut Vec<(K, V)>, mut add: impl FnMut(&mut V, V)) {
    all.sort_unstable();
    all.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            add(&mut first.1, next.1);
        }
        same
    });
}

fn write_reduced(to: &mut [f32], channels: usize, some: u64, every: Option<u64>) {
    write(&mut to[..channels], some);
    if let Some(every) = every {
        write(&mut to[channels..2 * channels], every);
    }
}
