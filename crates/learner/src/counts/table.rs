//! Weights by colour: a small table with open addressing, made once for a model and
//! shared by its scorers.

use std::sync::Arc;

use super::colour::Colour;

/// Orders that a model offers.
pub(crate) const HEADS: usize = homing_planner::search::SCORER_HEADS;

/// Weights of one colour, by head.
pub(crate) type Weights = [i32; HEADS];

/// Looks up the weights of a colour; those of an unknown one are 0.
#[derive(Clone, Debug)]
pub(crate) struct WeightTable {
    mask: usize,
    slots: Arc<[(Colour, Weights)]>,
}

impl WeightTable {
    pub(crate) fn new(weights: impl ExactSizeIterator<Item = (Colour, Weights)>) -> Self {
        let size = (weights.len() * 3 + 8).next_power_of_two();
        let mask = size - 1;
        let mut slots = vec![(0, [0; HEADS]); size];
        for (colour, weights) in weights {
            // What weighs nothing need not be found.
            if weights == [0; HEADS] || colour == 0 {
                continue;
            }
            let mut at = colour as usize & mask;
            while slots[at].0 != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = (colour, weights);
        }
        Self {
            mask,
            slots: slots.into(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, colour: Colour) -> Weights {
        let mut at = colour as usize & self.mask;
        loop {
            let (found, weights) = self.slots[at];
            if found == colour {
                return weights;
            }
            if found == 0 {
                return [0; HEADS];
            }
            at = (at + 1) & self.mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_is_found_and_others_are_0() {
        // All of them want the same place.
        let weights: Vec<(Colour, Weights)> =
            (1..200).map(|i| (i << 32, [i as i32 - 100, 7])).collect();
        let table = WeightTable::new(weights.iter().copied());
        for &(colour, weights) in &weights {
            assert_eq!(table.get(colour), weights);
        }
        assert_eq!(table.get(0), [0; HEADS]);
        assert_eq!(table.get(200 << 32), [0; HEADS]);
    }
}
