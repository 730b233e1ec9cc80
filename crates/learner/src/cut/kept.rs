//! The objects of a cut.

use homing_nlm::SplitMix64;
use homing_pddl::model::ObjectId;

/// A set of objects that is small beside all objects. Constants belong to every cut and are no
/// members.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    constants: usize,
    marked: Vec<bool>,
    /// In the order of insertion, without constants.
    list: Vec<ObjectId>,
}

impl Kept {
    pub(super) fn new(objects: usize, constants: usize) -> Self {
        let mut marked = vec![false; objects];
        marked[..constants].fill(true);
        Self {
            constants,
            marked,
            list: Vec::new(),
        }
    }

    /// Whether it is a constant or a member.
    pub(super) fn contains(&self, object: ObjectId) -> bool {
        self.marked[object.index()]
    }

    pub(super) fn contains_all(&self, objects: &[ObjectId]) -> bool {
        objects.iter().all(|&object| self.contains(object))
    }

    pub(super) fn insert(&mut self, object: ObjectId) -> bool {
        let new = !std::mem::replace(&mut self.marked[object.index()], true);
        if new {
            self.list.push(object);
        }
        new
    }

    pub(super) fn insert_all(&mut self, objects: &[ObjectId]) {
        for &object in objects {
            self.insert(object);
        }
    }

    pub(super) fn remove(&mut self, object: ObjectId) {
        if object.index() >= self.constants {
            self.marked[object.index()] = false;
            self.list.retain(|&other| other != object);
        }
    }

    pub(super) fn clear(&mut self) {
        for object in self.list.drain(..) {
            self.marked[object.index()] = false;
        }
    }

    /// The members.
    pub(super) fn list(&self) -> &[ObjectId] {
        &self.list
    }

    pub(super) fn any(&self, random: &mut SplitMix64) -> Option<ObjectId> {
        (!self.list.is_empty()).then(|| self.list[random.below(self.list.len())])
    }
}
