//! Numbers for keys, in the order they come.
//!
//! In the tree of `docs/nlm.md`: by class, under `classes.rs`, and under `by_class/orbits.rs` for
//! gradients.

/// What can be numbered.
pub(crate) trait Key: Copy + Default + Eq {
    /// Of which the high bits depend on all bits of the key.
    fn mixed(self) -> u64;
}

impl Key for u64 {
    #[inline]
    fn mixed(self) -> u64 {
        self.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Key for [u64; 3] {
    #[inline]
    fn mixed(self) -> u64 {
        self.into_iter().fold(0, |hash, part| {
            (hash.rotate_left(32) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        })
    }
}

/// Open addressing from a key to its number.
#[derive(Default)]
pub(crate) struct Interner<K> {
    /// A power of two of places, at most a quarter of them taken: a key and its number each.
    places: Vec<(K, u32)>,
    /// Which are taken. Few are, and many interners are cleared for every gradient.
    taken: Vec<u32>,
    keys: Vec<K>,
}

/// The number where there is no key.
const FREE: u32 = u32::MAX;

/// Where a key is looked for first.
#[inline]
fn home<K: Key>(places: &[(K, u32)], key: K) -> usize {
    (key.mixed() >> 40) as usize & (places.len() - 1)
}

impl<K: Key> Interner<K> {
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        if self.places.is_empty() {
            self.places.resize(256, (K::default(), FREE));
        }
        for at in self.taken.drain(..) {
            self.places[at as usize].1 = FREE;
        }
    }

    /// The keys by number.
    pub(crate) fn keys(&self) -> &[K] {
        &self.keys
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The number of a key, a new one if it has none. Needs a [`clear`](Self::clear) at first.
    #[inline]
    pub(crate) fn number(&mut self, key: K) -> u32 {
        let mut number = 0;
        self.numbers([key], std::slice::from_mut(&mut number));
        number
    }

    /// The numbers of many keys, one after the other.
    #[inline]
    pub(crate) fn numbers(&mut self, keys: impl IntoIterator<Item = K>, to: &mut [u32]) {
        let mut places = &self.places[..];
        for (to, key) in to.iter_mut().zip(keys) {
            let (known, number) = places[home(places, key)];
            *to = number;
            if known != key || number == FREE {
                *to = self.look_further(key);
                places = &self.places;
            }
        }
    }

    #[cold]
    fn look_further(&mut self, key: K) -> u32 {
        let at = self.place(key);
        if self.places[at].1 != FREE {
            return self.places[at].1;
        }
        self.keys.push(key);
        if 4 * self.keys.len() <= self.places.len() {
            return self.put(at, self.keys.len() - 1);
        }
        let len = 4 * self.places.len();
        self.places.clear();
        self.places.resize(len, (key, FREE));
        self.taken.clear();
        for number in 0..self.keys.len() {
            self.put(self.place(self.keys[number]), number);
        }
        self.keys.len() as u32 - 1
    }

    fn put(&mut self, at: usize, number: usize) -> u32 {
        self.taken.push(at as u32);
        self.places[at] = (self.keys[number], number as u32);
        number as u32
    }

    /// The place of a key, or the free one where it belongs.
    fn place(&self, key: K) -> usize {
        let mut at = home(&self.places, key);
        while self.places[at].1 != FREE && self.places[at].0 != key {
            at = (at + 1) & (self.places.len() - 1);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_order_of_keys() {
        let mut interner = Interner::default();
        // Fewer under Miri, which takes a thousand times as long.
        let count: u64 = if cfg!(miri) { 300 } else { 3000 };
        for round in 0..2 {
            interner.clear();
            for i in 0..count {
                let key = (i + round).wrapping_mul(0x1_0000_0001) ^ u64::MAX;
                assert_eq!(interner.number(key), i as u32);
                assert_eq!(interner.number(key), i as u32);
            }
            assert_eq!(
                interner.keys()[0],
                round.wrapping_mul(0x1_0000_0001) ^ u64::MAX
            );
            assert_eq!(interner.len() as u64, count);
        }
    }
}
