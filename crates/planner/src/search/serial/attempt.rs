//! An attempt to reach one goal after another, and going back in it.

use super::goals::Goals;
use super::reach::Relaxed;
use crate::task::{ActionId, Task};

/// Places to which an attempt goes back for one goal until one is found from which it can be reached.
const PLACES: usize = 8;

/// An attempt to reach one goal after another.
pub(super) struct Attempt {
    pub(super) state: Vec<u32>,
    pub(super) plan: Vec<ActionId>,
    pub(super) kept: Vec<bool>,
    /// By action: how many of the goals that are kept it would undo.
    undoes: Vec<u16>,
    /// By goal: how it was last seen that it can be reached.
    pub(super) relaxed: Vec<Relaxed>,
    /// The open goals in the order in which they are tried, and where this stands.
    pub(super) order: Vec<usize>,
    pub(super) at: usize,
    pub(super) pass: usize,
    /// By goal: how often it was tried.
    pub(super) in_vain: Vec<u32>,
    /// By goal: by how much its distance counts for more.
    pub(super) noise: Vec<f64>,
    /// Where it stood before each goal that it reached.
    pub(super) history: Vec<Checkpoint>,
    /// Going back for a goal, and by goal how often that was done.
    pub(super) mending: Option<Mending>,
    mended: Vec<u8>,
    /// Work that looking for one way may take, and whether one was given up for that since this was
    /// raised.
    pub(super) most_work: u64,
    pub(super) is_cut_short: bool,
    /// The fewest goals that were open, all work until then, and when it began.
    pub(super) fewest_open: usize,
    pub(super) reached_work: u64,
    pub(super) begun_work: u64,
}

/// Where an attempt stood.
pub(super) struct Checkpoint {
    pub(super) state: Vec<u32>,
    kept: Vec<bool>,
    steps: usize,
}

/// Going back for a goal that what was reached since has put out of reach.
pub(super) struct Mending {
    pub(super) goal: usize,
    /// The latest place from which it was reached, if one is known.
    from: Option<usize>,
    /// A later one from which it was not.
    until: usize,
    /// Places that were tried in vain before there was one.
    tried: usize,
    /// Where the attempt stands when it does not look elsewhere.
    now: Checkpoint,
}

impl Attempt {
    pub(super) fn new(task: &Task, noise: Vec<f64>, most_work: u64, begun_work: u64) -> Self {
        let count = noise.len();
        Self {
            state: task.initial_state(),
            plan: Vec::new(),
            kept: vec![false; count],
            undoes: vec![0; task.action_count()],
            relaxed: vec![Relaxed::default(); count],
            order: Vec::new(),
            at: 0,
            pass: 0,
            in_vain: vec![0; count],
            noise,
            history: Vec::new(),
            mending: None,
            mended: vec![0; count],
            most_work,
            is_cut_short: false,
            fewest_open: usize::MAX,
            reached_work: begun_work,
            begun_work,
        }
    }

    pub(super) fn keep(&mut self, goal: usize, kept: bool, goals: &Goals) {
        if std::mem::replace(&mut self.kept[goal], kept) == kept {
            return;
        }
        for action in goals.undoing.row(goal) {
            let undoes = &mut self.undoes[action.index()];
            *undoes = if kept { *undoes + 1 } else { *undoes - 1 };
        }
    }

    pub(super) fn allows(&self, action: ActionId) -> bool {
        self.undoes[action.index()] == 0
    }

    /// Begins to look for ways at greater length.
    pub(super) fn look_longer(&mut self, most_work: u64) {
        self.pass = 0;
        self.is_cut_short = false;
        self.at = 0;
        self.most_work = (self.most_work * 2).min(most_work);
        self.mended.fill(0);
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            state: self.state.clone(),
            kept: self.kept.clone(),
            steps: self.plan.len(),
        }
    }

    fn go_to(&mut self, place: &Checkpoint, goals: &Goals) {
        self.state.clone_from(&place.state);
        for (goal, &kept) in place.kept.iter().enumerate() {
            self.keep(goal, kept, goals);
        }
    }

    /// Takes a way that the attempt has gone.
    pub(super) fn commit(&mut self, before: Checkpoint, way: Vec<ActionId>) {
        self.history.push(before);
        self.plan.extend(way);
    }

    /// Begins to go back for an open goal for which that was not done too often; `false` without one.
    pub(super) fn begin_mending(&mut self, most: u8) -> bool {
        let may_be_mended = |goal: &&usize| self.mended[**goal] < most;
        let goal = { self.order.iter() }.find(may_be_mended).copied();
        let Some(goal) = goal.filter(|_| !self.history.is_empty()) else {
            return false;
        };
        self.mended[goal] += 1;
        self.mending = Some(Mending {
            goal,
            from: None,
            until: self.history.len(),
            tried: 0,
            now: self.checkpoint(),
        });
        true
    }

    /// Stands where it stood once.
    pub(super) fn go_back(&mut self, place: usize, goals: &Goals) {
        let history = std::mem::take(&mut self.history);
        self.go_to(&history[place], goals);
        self.history = history;
    }

    /// Takes a way from where it stood once, and forgets what it did after that.
    pub(super) fn commit_from(&mut self, place: usize, way: Vec<ActionId>) {
        self.plan.truncate(self.history[place].steps);
        self.history.truncate(place + 1);
        self.plan.extend(way);
    }

    /// Stands where it stood when it began to go back; goes on with that if there is a place left.
    pub(super) fn come_back(&mut self, mut mending: Mending, from: (usize, bool), goals: &Goals) {
        let (place, is_reached) = from;
        self.go_to(&mending.now, goals);
        match (is_reached, mending.from) {
            (true, _) => mending.from = Some(place),
            (false, Some(_)) => mending.until = place,
            (false, None) => mending.tried += 1,
        }
        let goes_on = match mending.from {
            Some(from) => from < mending.until,
            None => mending.tried < PLACES.min(self.history.len()),
        };
        match goes_on {
            true => self.mending = Some(mending),
            false => self.mended[mending.goal] = u8::MAX,
        }
    }
}

impl Mending {
    /// Where to look next: half-way between a place from which the goal was reached and one from which it
    /// was not. Without one of the first kind, places spread over all: the first, the one in the middle,
    /// those at a quarter and at three quarters.
    pub(super) fn next_place(&self) -> usize {
        match self.from {
            Some(from) => usize::midpoint(from, self.until),
            None => {
                let spread = (self.tried as u32).reverse_bits();
                ((self.until as u64 * u64::from(spread)) >> u32::BITS) as usize
            }
        }
    }

    /// Whether no later place is left.
    pub(super) fn is_latest(&self, place: usize) -> bool {
        place + 1 == self.until
    }
}
