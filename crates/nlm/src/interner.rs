//! Numbers for keys, in the order they come.

/// Open addressing from a key to its number.
#[derive(Default)]
pub(crate) struct Interner {
    /// A power of two of places, at most a quarter of them taken: a key and its number each.
    places: Vec<(u64, u32)>,
    keys: Vec<u64>,
}

/// The number where there is no key.
const FREE: u32 = u32::MAX;

impl Interner {
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        let len = self.places.len().max(256);
        self.places.clear();
        self.places.resize(len, (0, FREE));
    }

    /// The keys by number.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.keys
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Where a key is looked for first: the high bits of a product depend on all bits of the key.
    #[inline]
    fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (self.places.len() - 1)
    }

    /// The number of a key, a new one if it has none. Needs a [`clear`](Self::clear) at first.
    #[inline]
    pub(crate) fn number(&mut self, key: u64) -> u32 {
        let (known, number) = self.places[self.home(key)];
        if known == key && number != FREE {
            return number;
        }
        self.look_further(key)
    }

    #[cold]
    fn look_further(&mut self, key: u64) -> u32 {
        let at = self.place(key);
        if self.places[at].1 != FREE {
            return self.places[at].1;
        }
        let number = self.keys.len() as u32;
        self.keys.push(key);
        self.places[at] = (key, number);
        if 4 * self.keys.len() > self.places.len() {
            let len = 4 * self.places.len();
            self.places.clear();
            self.places.resize(len, (0, FREE));
            for number in 0..self.keys.len() {
                let key = self.keys[number];
                let at = self.place(key);
                self.places[at] = (key, number as u32);
            }
        }
        number
    }

    /// The place of a key, or the free one where it belongs.
    fn place(&self, key: u64) -> usize {
        let mut at = self.home(key);
        while self.places[at].1 != FREE && self.places[at].0 != key {
            at = (at + 1) & (self.places.len() - 1);
        }
        at
    }

    pub(crate) fn bytes(&self) -> usize {
        self.places.capacity() * 16 + self.keys.capacity() * 8
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
