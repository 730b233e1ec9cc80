//! The order in which a structure's objects are taken.
//!
//! A value does not depend on the names of objects, so the engines may choose them: objects with the same unary
//! propositions, of one type, come one after the other. Then the types of a pair a <= b come in one order only, those of a triple
//! x <= y <= z too, and there are fewer classes of both. The order follows from
//! the propositions, never from what was evaluated before.

use crate::bits::write;
use crate::structure::Structure;

#[derive(Default)]
pub(crate) struct ObjectOrder {
    /// The new name of each object.
    names: Vec<u16>,
    /// The unary propositions of each object, by new name, and its old name.
    order: Vec<(u64, u16)>,
}

impl ObjectOrder {
    /// ObjectOrder objects by type, or, where types do not matter, as they were.
    pub(crate) fn find(&mut self, structure: &Structure, by_type: bool) {
        let objects = structure.objects() as u16;
        self.order.clear();
        self.order.extend((0..objects).map(|x| (0, x)));
        self.names.clear();
        self.names.extend(0..objects);
        if !by_type {
            return;
        }
        for row in structure.rows(1).chunks_exact(2) {
            self.order[usize::from(row[1])].0 |= 1 << row[0];
        }
        // Objects of one type keep their order.
        self.order.sort_unstable();
        for (new, &(_, old)) in self.order.iter().enumerate() {
            self.names[usize::from(old)] = new as u16;
        }
    }

    /// The new name of an object.
    #[inline]
    pub(crate) fn of(&self, old: u16) -> usize {
        usize::from(self.names[usize::from(old)])
    }

    /// The unary propositions of each object, in the new order, where objects are named by type.
    pub(crate) fn types(&self) -> impl Iterator<Item = u64> {
        self.order.iter().map(|&(bits, _)| bits)
    }

    /// Writes the unary propositions of each object, in the new order, into the first columns of the rows of `own`, and
    /// what reduce makes of them into `red`: whether one object has it and, with both quantifiers, whether every one has.
    pub(crate) fn write_types(
        &self,
        channels: usize,
        own: &mut [f32],
        stride: usize,
        red: &mut [f32],
        both: bool,
    ) {
        if channels == 0 {
            return;
        }
        let (mut some, mut every) = (0, u64::MAX);
        for (bits, row) in self.types().zip(own.chunks_exact_mut(stride)) {
            write(&mut row[..channels], bits);
            some |= bits;
            every &= bits;
        }
        write(&mut red[..channels], some);
        if both {
            write(&mut red[channels..2 * channels], every);
        }
    }
}
