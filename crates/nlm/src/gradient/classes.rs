//! The classes of a group: types of objects, classes of pairs and of orbits.
//!
//! They are counted in the order in which the structures of the group have them, so that a gradient's
//! bits follow from the batch alone.

use crate::bits::{differences, sums, write};
use crate::buffer::Buffer;
use crate::index::Index;
use crate::kernels::orbit::SIX;
use crate::object_order::ObjectOrder;
use crate::plan::{BLOCK, Plan};
use crate::structure::Structure;

/// Numbers keys in the order they come.
#[derive(Default)]
struct Numbers {
    /// A power of two of places, each a key and its number plus one; 0 where there is none.
    places: Vec<(u64, u32)>,
    keys: Vec<u64>,
}

impl Numbers {
    fn clear(&mut self) {
        self.keys.clear();
        self.places.resize(self.places.len().max(256), (0, 0));
        self.places.fill((0, 0));
    }

    /// Where to look first: the high bits of a product depend on all bits of the key.
    #[inline]
    fn first(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (self.places.len() - 1)
    }

    #[inline]
    fn number(&mut self, key: u64) -> u32 {
        let mut at = self.first(key);
        loop {
            let (known, number) = self.places[at];
            if number == 0 {
                return self.add(at, key);
            }
            if known == key {
                return number - 1;
            }
            at = (at + 1) & (self.places.len() - 1);
        }
    }

    #[cold]
    fn add(&mut self, at: usize, key: u64) -> u32 {
        self.keys.push(key);
        let number = self.keys.len() as u32;
        self.places[at] = (key, number);
        if 2 * self.keys.len() > self.places.len() {
            let len = 4 * self.places.len();
            self.places.clear();
            self.places.resize(len, (0, 0));
            for (i, &key) in self.keys.iter().enumerate() {
                let mut at = self.first(key);
                while self.places[at].1 != 0 {
                    at = (at + 1) & (len - 1);
                }
                self.places[at] = (key, i as u32 + 1);
            }
        }
        number - 1
    }

    fn bytes(&self) -> usize {
        self.places.capacity() * 16 + self.keys.capacity() * 8
    }
}

/// Three numbers below 2^21 in one key, and back.
fn key(a: u32, b: u32, c: u32) -> u64 {
    u64::from(a) << 42 | u64::from(b) << 21 | u64::from(c)
}

fn parts(key: u64) -> [u32; 3] {
    [42, 21, 0].map(|shift| (key >> shift) as u32 & ((1 << 21) - 1))
}

/// So many bits number the classes of pairs where these are few.
const SMALL_BITS: u32 = 6;

/// The permutations of three in lexicographic order, as everywhere.
const ORDERS: [[usize; 3]; SIX] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// `[p][s]`: which order of an orbit (c0, c1, c2) the order s of (o0, o1, o2) is, where c_i = o_p(i).
const SLOTS: [[usize; SIX]; SIX] = {
    let mut slots = [[0; SIX]; SIX];
    let mut p = 0;
    while p < SIX {
        let mut place = [0; 3];
        let mut i = 0;
        while i < 3 {
            place[ORDERS[p][i]] = i;
            i += 1;
        }
        let mut s = 0;
        while s < SIX {
            let [a, b, _] = ORDERS[s];
            let mut slot = 0;
            while ORDERS[slot][0] != place[a] || ORDERS[slot][1] != place[b] {
                slot += 1;
            }
            slots[p][s] = slot;
            s += 1;
        }
        p += 1;
    }
    slots
};

#[derive(Default)]
pub(super) struct Classes {
    types: Numbers,
    patterns: Numbers,
    pairs: Numbers,
    /// Orbits by the classes of their pairs, and the classes of these.
    named_orbits: Numbers,
    orbit_places: Vec<[u32; SIX]>,
    /// `[xy][xz][yz]`: numbers of orbits plus one, where there are few classes of pairs; zero between groups.
    small_orbits: Vec<u32>,
    orbits: Numbers,
    reversed: Vec<u32>,
    /// Of the structure at hand.
    names: ObjectOrder,
    type_of: Vec<u32>,
    /// The binary propositions of the pairs at hand.
    pair_bits: Vec<u64>,
    /// The class of each pair of the group.
    pub(super) of_pairs: Vec<u32>,
    /// The types of the objects of each class of pairs.
    pub(super) ends: Vec<[u32; 2]>,
    /// The classes of pairs xy, xz, yz of each class of orbits.
    pub(super) orbit_members: Vec<[u32; 3]>,
    /// `[structure][a][b][z]`: where in a table over classes of orbits a tuple's values lie.
    pub(super) places: Vec<u32>,
    /// The members of reductions of pairs, as rows of pair classes.
    pub(super) members: Vec<u32>,
}

/// The tensors the true propositions go to.
pub(super) struct Inputs<'a> {
    pub(super) own: &'a mut [Buffer; 3],
    pub(super) red: &'a mut [Buffer; 3],
}

impl Classes {
    pub(super) fn bytes(&self) -> usize {
        let numbers = [
            &self.types,
            &self.patterns,
            &self.pairs,
            &self.named_orbits,
            &self.orbits,
        ];
        numbers.into_iter().map(Numbers::bytes).sum::<usize>()
            + self.pair_bits.capacity() * 8
            + (self.of_pairs.capacity() + 2 * self.ends.capacity()) * 4
            + (self.places.capacity() + self.members.capacity()) * 4
            + self.orbit_members.capacity() * 12
            + self.orbit_places.capacity() * 24
            + self.small_orbits.capacity() * 4
    }

    /// How many types, classes of pairs and classes of orbits there are.
    pub(super) fn types(&self) -> usize {
        self.types.keys.len()
    }

    pub(super) fn pairs(&self) -> usize {
        self.pairs.keys.len()
    }

    pub(super) fn orbits(&self) -> usize {
        self.orbit_members.len()
    }

    /// Finds the classes of a group, and writes what is no function of them: the
    /// propositions of arity 0 and 1 and all reductions.
    pub(super) fn find(
        &mut self,
        plan: &Plan,
        index: &Index,
        structures: &[&Structure],
        inputs: &mut Inputs<'_>,
    ) {
        let pairs = plan.max_arity >= 2;
        for numbers in [
            &mut self.types,
            &mut self.patterns,
            &mut self.pairs,
            &mut self.named_orbits,
            &mut self.orbits,
        ] {
            numbers.clear();
        }
        // The empty pattern is the first.
        self.patterns.number(0);
        self.of_pairs.clear();
        self.orbit_places.clear();
        for (s, structure) in structures.iter().enumerate() {
            for (c, _) in structure.propositions(0) {
                inputs.own[0].set(s * plan.own_columns[0] + c, 1.0);
            }
            if plan.max_arity >= 1 {
                self.name(structure);
                self.load_objects(plan, index, s, inputs);
            }
            if pairs {
                self.load_pairs(plan, index, s, structure, inputs);
            } else if plan.max_arity == 1 {
                debug_assert_eq!(plan.inputs(2), 0);
            }
        }
        self.members.clear();
        self.orbit_members.clear();
        if plan.max_arity == 3 {
            self.find_orbits(plan, index);
        }
        self.ends.clear();
        let ends = self.pairs.keys.iter().map(|&pair| parts(pair));
        self.ends.extend(ends.map(|[a, b, _]| [a, b]));
        if !pairs {
            return;
        }
        let of_pairs = &self.of_pairs;
        self.members.extend(
            index
                .members(2)
                .iter()
                .map(|&row| 2 * of_pairs[row as usize / 2] + row % 2),
        );
    }

    /// Gives the objects of a structure names in the order of their types, so that fewer orbits differ.
    fn name(&mut self, structure: &Structure) {
        self.names.find(structure, true);
        self.type_of.clear();
        for bits in self.names.types() {
            self.type_of.push(self.types.number(bits));
        }
    }

    fn load_objects(&self, plan: &Plan, index: &Index, s: usize, inputs: &mut Inputs<'_>) {
        let stride = plan.own_columns[1];
        let (own, red) = (s * index.objects * stride, s * plan.red_columns[0]);
        self.names.write_types(
            plan.inputs(1),
            &mut inputs.own[1].as_mut_slice()[own..],
            stride,
            &mut inputs.red[0].as_mut_slice()[red..],
            plan.quantifiers == 2,
        );
    }

    fn load_pairs(
        &mut self,
        plan: &Plan,
        index: &Index,
        s: usize,
        structure: &Structure,
        inputs: &mut Inputs<'_>,
    ) {
        let n = index.objects;
        let channels = plan.inputs(2);
        self.pair_bits.clear();
        self.pair_bits.resize(index.rows(2) / 2, 0);
        let columns = plan.red_columns[1];
        let red = &mut inputs.red[1];
        for (c, x) in structure.propositions(2) {
            let [x, y] = [x[0], x[1]].map(|x| self.names.of(x));
            if index.distinct && x == y {
                continue;
            }
            let row = index.row_of[x * n + y] as usize;
            let bit = 1u64 << (c + (row % 2) * channels);
            let twin = if x == y { bit << channels } else { 0 };
            let bits = &mut self.pair_bits[row / 2];
            if *bits & bit != 0 {
                continue;
            }
            *bits |= bit | twin;
            let at = (s * n + x) * columns + c;
            red.set(at, 1.0);
            if plan.quantifiers == 2 {
                red.add(at + channels, 1.0);
            }
        }
        if plan.quantifiers == 2 {
            // From how many hold to whether all do.
            let others = n - usize::from(index.distinct);
            for x in 0..n {
                let at = (s * n + x) * columns + channels;
                for i in at..at + channels {
                    let holds = red.at(i) == others as f32;
                    red.set(i, f32::from(u8::from(holds)));
                }
            }
        }
        let mut pairs = self.pair_bits.iter();
        for a in 0..n {
            for b in a + usize::from(index.distinct)..n {
                let bits = *pairs.next().expect("one for each pair");
                // Most pairs are empty.
                let pattern = if bits == 0 {
                    0
                } else {
                    self.patterns.number(bits)
                };
                let class = key(self.type_of[a], self.type_of[b], pattern);
                self.of_pairs.push(self.pairs.number(class));
            }
        }
    }

    /// The class of each class of pairs the other way round; of objects of one type only.
    fn reverse_pairs(&mut self, channels: usize) {
        self.reversed.clear();
        let mut class = 0;
        while class < self.pairs() {
            let [a, b, pattern] = parts(self.pairs.keys[class]);
            let mut reversed = class as u32;
            if a == b {
                let bits = self.patterns.keys[pattern as usize];
                let (ab, ba) = (bits & ((1 << channels) - 1), bits >> channels);
                let pattern = self.patterns.number(ab << channels | ba);
                reversed = self.pairs.number(key(a, a, pattern));
            }
            self.reversed.push(reversed);
            class += 1;
        }
    }

    /// The place in a table of each of the six orders of an orbit with this key.
    ///
    /// Objects of one type are named in any order, so that orbits come in several orders of one class: the
    /// one with the least key stands for all.
    #[cold]
    fn six_places(&mut self, orbit: u64, width: u32) -> [u32; SIX] {
        let [xy, xz, yz] = parts(orbit);
        let (first, last) = (self.pairs.keys[xy as usize], self.pairs.keys[yz as usize]);
        let ([x, y, _], [_, z, _]) = (parts(first), parts(last));
        let reversed = |class: u32| self.reversed[class as usize];
        let (yx, zx, zy) = (reversed(xy), reversed(xz), reversed(yz));
        let mut best = (orbit, 0);
        for (order, key, allowed) in [
            (1, key(xz, xy, zy), y == z),
            (2, key(yx, yz, xz), x == y),
            (3, key(yz, yx, zx), x == y && y == z),
            (4, key(zx, zy, xy), x == y && y == z),
            (5, key(zy, zx, yx), x == y && y == z),
        ] {
            if allowed {
                best = best.min((key, order));
            }
        }
        let at = self.orbits.number(best.0) * width;
        SLOTS[best.1].map(|slot| at + (slot * BLOCK) as u32)
    }

    /// The number of an orbit with this key, where there are few classes of pairs.
    #[inline]
    fn number_small(&mut self, place: usize, key: u64) -> u32 {
        let known = &mut self.small_orbits[place];
        if *known == 0 {
            self.named_orbits.keys.push(key);
            *known = self.named_orbits.keys.len() as u32;
        }
        *known - 1
    }

    /// The class of every orbit, and where the values of every tuple lie.
    fn find_orbits(&mut self, plan: &Plan, index: &Index) {
        let n = index.objects;
        let apart = usize::from(index.distinct);
        let width = (plan.features * SIX) as u32;
        self.reverse_pairs(plan.inputs(2));
        let mut all = std::mem::take(&mut self.places);
        all.resize(index.group * n * n * n, 0);
        let small = self.pairs() <= 1 << SMALL_BITS;
        if small {
            self.small_orbits.resize(1 << (3 * SMALL_BITS), 0);
        }
        let mut matrix = vec![0u64; n * n];
        for (structure, places) in all.chunks_exact_mut(n * n * n).enumerate() {
            let own =
                &self.of_pairs[structure * index.rows(2) / 2..(structure + 1) * index.rows(2) / 2];
            for (to, &row) in matrix.iter_mut().zip(&index.row_of) {
                let class = own.get(row as usize / 2);
                *to = class.map_or(0, |&class| u64::from(class));
            }
            for x in 0..n {
                for y in x + apart..n {
                    let xy = matrix[x * n + y];
                    let (xz, yz) = (&matrix[x * n..(x + 1) * n], &matrix[y * n..(y + 1) * n]);
                    for z in y + apart..n {
                        let key = xy << 42 | xz[z] << 21 | yz[z];
                        let orbit = if small {
                            let place = xy << (2 * SMALL_BITS) | xz[z] << SMALL_BITS | yz[z];
                            self.number_small(place as usize, key)
                        } else {
                            self.named_orbits.number(key)
                        };
                        let orbit = orbit as usize;
                        if orbit == self.orbit_places.len() {
                            let six = self.six_places(key, width);
                            self.orbit_places.push(six);
                        }
                        let six = &self.orbit_places[orbit];
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
        if small {
            for &key in &self.named_orbits.keys {
                let [xy, xz, yz] = parts(key);
                let place = xy << (2 * SMALL_BITS) | xz << SMALL_BITS | yz;
                self.small_orbits[place as usize] = 0;
            }
        }
        self.places = all;
        self.orbit_members
            .extend(self.orbits.keys.iter().map(|&k| parts(k)));
    }

    /// The propositions of each type, as rows.
    pub(super) fn type_inputs(&self, channels: usize, to: &mut Buffer) {
        to.reserve(self.types() * channels);
        let rows = &mut to.as_mut_slice()[..self.types() * channels];
        if channels > 0 {
            for (row, &bits) in rows.chunks_exact_mut(channels).zip(&self.types.keys) {
                write(row, bits);
            }
        }
    }

    /// The propositions of each class of pairs, as sums and differences in the first columns of its rows.
    pub(super) fn pair_inputs(&self, channels: usize, stride: usize, to: &mut Buffer) {
        for (i, &pair) in self.pairs.keys.iter().enumerate() {
            let bits = self.patterns.keys[parts(pair)[2] as usize];
            let both = sums(bits, channels).zip(differences(bits, channels));
            for (c, (sum, difference)) in both.enumerate() {
                to.set(2 * i * stride + c, sum);
                to.set((2 * i + 1) * stride + c, difference);
            }
        }
    }
}
