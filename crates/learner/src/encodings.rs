//! The encodings of the states in the replay memory and of their successors: each made once, when
//! the first of them needs it, and dropped with the last.
//!
//! They lie one behind the other in one array. States leave the memory in no order that the array
//! could follow, since a successor may belong to several; so holes are left, and when they are more
//! than half of it, what lives is moved together. A move pays for the states that left since the
//! one before.

/// Where an encoding lies and how many need it.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    start: u32,
    len: u32,
    uses: u32,
}

/// The encodings of one space's nodes.
#[derive(Debug, Default)]
pub(crate) struct Encodings {
    words: Vec<u16>,
    /// By node.
    places: Vec<Place>,
    /// Words that are in use.
    live: usize,
}

/// Fewer words than this are not worth a move.
const SMALL: usize = 1 << 10;

impl Encodings {
    /// Keeps the encoding of a node, once more if it is kept already; `encode` appends it.
    pub(crate) fn keep(&mut self, node: u32, encode: impl FnOnce(&mut Vec<u16>)) {
        let index = node as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, Place::default());
        }
        let place = &mut self.places[index];
        if place.uses == 0 {
            let start = self.words.len();
            encode(&mut self.words);
            let fits = "fewer than 2³² words of encodings";
            place.start = u32::try_from(start).expect(fits);
            place.len = u32::try_from(self.words.len() - start).expect(fits);
            self.live += self.words.len() - start;
        }
        place.uses += 1;
    }

    /// Undoes one [`keep`](Self::keep).
    pub(crate) fn release(&mut self, node: u32) {
        let place = &mut self.places[node as usize];
        place.uses -= 1;
        if place.uses == 0 {
            self.live -= place.len as usize;
            if self.words.len() > SMALL.max(2 * self.live) {
                self.move_together();
            }
        }
    }

    fn move_together(&mut self) {
        let mut words = Vec::with_capacity(self.live + self.live / 2);
        for place in self.places.iter_mut().filter(|place| place.uses > 0) {
            let start = words.len() as u32;
            let from = place.start as usize;
            words.extend_from_slice(&self.words[from..from + place.len as usize]);
            place.start = start;
        }
        self.words = words;
    }

    /// The encoding of a node that is kept.
    pub(crate) fn of(&self, node: u32) -> &[u16] {
        let place = self.places[node as usize];
        assert!(place.uses > 0, "what is asked for is kept");
        &self.words[place.start as usize..(place.start + place.len) as usize]
    }
}

#[cfg(test)]
mod tests {
    use homing_nlm::SplitMix64;

    use super::*;

    /// Keeps and releases at random beside a plain list; encodings of all lengths, none included.
    #[test]
    fn what_is_kept_stays_and_what_is_not_makes_room() {
        let text = |node: u32| vec![node as u16; node as usize % 40];
        let mut encodings = Encodings::default();
        let mut kept: Vec<u32> = Vec::new();
        let mut random = SplitMix64::new(4);
        let mut encoded = 0;
        for round in 0..20_000 {
            // Grows, then shrinks, then grows again.
            let most = if (round / 5_000) % 2 == 0 { 600 } else { 30 };
            if kept.len() < most {
                let node = random.below(400) as u32;
                let is_new = !kept.contains(&node);
                encodings.keep(node, |words| {
                    assert!(is_new, "encoded again");
                    encoded += 1;
                    words.extend(text(node));
                });
                kept.push(node);
            } else {
                let node = kept.swap_remove(random.below(kept.len()));
                encodings.release(node);
            }
            if let Some(&node) = kept.last() {
                assert_eq!(encodings.of(node), text(node));
            }
            if round % 500 == 0 {
                let mut all = kept.clone();
                all.sort_unstable();
                all.dedup();
                assert!(all.iter().all(|&node| encodings.of(node) == text(node)));
                let live: usize = all.iter().map(|&node| text(node).len()).sum();
                assert_eq!(encodings.live, live);
                assert!(encodings.words.len() <= SMALL.max(2 * live) + 40);
            }
        }
        assert!(encoded > 1_000);
        kept.iter().for_each(|&node| encodings.release(node));
        assert_eq!(encodings.live, 0);
    }
}
