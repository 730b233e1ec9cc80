//! The ground task: propositions, actions, and how states are packed.

use std::fmt;
use std::sync::Arc;

use homing_pddl::Problem;
use homing_pddl::index_type;
use homing_pddl::model::{Atom, ObjectId, SchemaId};

use crate::csr::Csr;
use crate::encoding::Encoding;

/// Rough nanoseconds of testing a conditional effect, and of comparing a variable of two states.
const EFFECT_WORK: u64 = 4;
const VARIABLE_WORK: u64 = 1;

index_type! {
    /// Index of a dynamic proposition of a [`Task`].
    PropId,
    /// Index of a ground action of a [`Task`].
    ActionId,
}

/// A dynamic proposition: one that holds in some reachable states and not in others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposition {
    /// The ground atom.
    pub atom: Atom<ObjectId>,
    /// `false` for the complement of the atom, which exists where a condition or goal is negative.
    pub positive: bool,
    /// Whether it stands for a part of a condition that is no literal, such as a disjunction. A
    /// helper has no name: the domain has no predicate of this index, and there are no arguments.
    pub is_helper: bool,
}

/// Ground actions by column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Actions {
    pub(crate) schema: Vec<SchemaId>,
    pub(crate) arguments: Csr<ObjectId>,
    pub(crate) pre: Csr<PropId>,
    pub(crate) add: Csr<PropId>,
    pub(crate) del: Csr<PropId>,
    pub(crate) cost: Vec<u32>,
}

/// Conditional effects, in the order of their actions: where the precondition of its action and its
/// condition hold, an effect takes place together with what the action does anyway. Where one part
/// of an action adds an atom and another deletes it, it ends up true.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    /// The effects of action a are those from `first[a]` to `first[a + 1]`; empty if no action has
    /// any.
    first: Vec<u32>,
    pub(crate) condition: Csr<PropId>,
    pub(crate) add: Csr<PropId>,
    pub(crate) del: Csr<PropId>,
}

impl Effects {
    pub(crate) fn is_empty(&self) -> bool {
        self.condition.len() == 0
    }

    /// The effects of an action.
    #[inline]
    pub(crate) fn of(&self, action: usize) -> std::ops::Range<usize> {
        match self.first.get(action..action + 2) {
            Some(ends) => ends[0] as usize..ends[1] as usize,
            None => 0..0,
        }
    }

    /// Adds an effect of an action that is not before the last one's.
    pub(crate) fn push(
        &mut self,
        action: usize,
        condition: Vec<PropId>,
        add: Vec<PropId>,
        del: Vec<PropId>,
    ) {
        self.first.resize(action + 1, self.condition.len() as u32);
        self.condition.push_row(condition);
        self.add.push_row(add);
        self.del.push_row(del);
    }

    /// No more effects follow, and so many actions there are.
    pub(crate) fn finish(&mut self, actions: usize) {
        if !self.is_empty() {
            self.first.resize(actions + 1, self.condition.len() as u32);
        }
    }

    /// The effects of the actions to keep.
    pub(crate) fn kept(&self, keep: &[bool]) -> Self {
        let mut kept = Self::default();
        let mut action = 0;
        for index in (0..keep.len()).filter(|&index| keep[index]) {
            for effect in self.of(index) {
                kept.push(
                    action,
                    self.condition.row(effect).to_vec(),
                    self.add.row(effect).to_vec(),
                    self.del.row(effect).to_vec(),
                );
            }
            action += 1;
        }
        kept.finish(action);
        kept
    }

    /// Whether two actions have the same effects.
    pub(crate) fn are_alike(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.of(a), self.of(b));
        a.len() == b.len()
            && a.zip(b).all(|(a, b)| {
                self.condition.row(a) == self.condition.row(b)
                    && self.add.row(a) == self.add.row(b)
                    && self.del.row(a) == self.del.row(b)
            })
    }
}

/// What an action does under a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect<'a> {
    /// What must hold before the action, its precondition aside; sorted.
    pub condition: &'a [PropId],
    /// What becomes true, sorted.
    pub add: &'a [PropId],
    /// What becomes false unless another part of the action adds its atom; sorted.
    pub del: &'a [PropId],
}

/// Axioms, level by level: what a level derives is settled before the next one asks what is false.
#[derive(Clone, Debug, Default)]
pub(crate) struct Axioms {
    pub(crate) head: Vec<PropId>,
    pub(crate) body: Csr<PropId>,
    /// Every proposition that axioms derive, sorted.
    pub(crate) derived: Vec<PropId>,
    /// Derived propositions with their complements, sorted.
    pub(crate) complements: Vec<(PropId, PropId)>,
}

/// The rules of the delete relaxation where they are not simply the actions: what each action does
/// in any case, what it does under each condition, then the axioms, which cost nothing. Complements
/// of derived propositions are free: what may be underivable is not looked into.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pre: Csr<PropId>,
    add: Csr<PropId>,
    /// The action of each rule; axioms have none.
    action: Vec<Option<ActionId>>,
}

impl Rules {
    pub(crate) fn new(actions: &Actions, effects: &Effects, axioms: &Axioms) -> Option<Self> {
        if effects.is_empty() && axioms.derived.is_empty() {
            return None;
        }
        let mut rules = Self {
            pre: actions.pre.clone(),
            add: actions.add.clone(),
            action: (0..actions.cost.len())
                .map(|action| Some(ActionId::from_index(action)))
                .collect(),
        };
        for action in 0..actions.cost.len() {
            for effect in effects.of(action) {
                let mut pre = actions.pre.row(action).to_vec();
                pre.extend_from_slice(effects.condition.row(effect));
                pre.sort_unstable();
                rules.pre.push_row(pre);
                rules.add.push_row(effects.add.row(effect).iter().copied());
                rules.action.push(Some(ActionId::from_index(action)));
            }
        }
        for (&head, body) in axioms.head.iter().zip(axioms.body.rows()) {
            rules.pre.push_row(body.iter().copied());
            rules.add.push_row([head]);
            rules.action.push(None);
        }
        for &(_, complement) in &axioms.complements {
            rules.pre.push_row([]);
            rules.add.push_row([complement]);
            rules.action.push(None);
        }
        Some(rules)
    }
}

/// A ground task: what [`ground`](crate::ground) makes of a problem.
///
/// Actions stand in the order of their schemas, then of their arguments; propositions in the order
/// of predicates, then of arguments, complements after them, helpers last.
#[derive(Clone, Debug)]
pub struct Task {
    pub(crate) problem: Arc<Problem>,
    pub(crate) propositions: Vec<Proposition>,
    pub(crate) statics: Vec<Atom<ObjectId>>,
    pub(crate) actions: Actions,
    pub(crate) effects: Effects,
    pub(crate) axioms: Axioms,
    pub(crate) rules: Option<Rules>,
    pub(crate) init: Vec<PropId>,
    pub(crate) goal: Vec<PropId>,
    pub(crate) groups: Csr<PropId>,
    pub(crate) encoding: Encoding,
}

impl Task {
    /// The lifted problem it came from.
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// The dynamic propositions.
    pub fn propositions(&self) -> &[Proposition] {
        &self.propositions
    }

    /// The propositions that hold in every reachable state.
    pub fn statics(&self) -> &[Atom<ObjectId>] {
        &self.statics
    }

    /// The number of ground actions.
    pub fn action_count(&self) -> usize {
        self.actions.cost.len()
    }

    /// All ground actions.
    pub fn actions(&self) -> impl ExactSizeIterator<Item = ActionId> + use<> {
        (0..self.action_count()).map(ActionId::from_index)
    }

    /// The schema of an action.
    pub fn schema(&self, action: ActionId) -> SchemaId {
        self.actions.schema[action.index()]
    }

    /// The objects an action's parameters stand for.
    pub fn arguments(&self, action: ActionId) -> &[ObjectId] {
        self.actions.arguments.row(action.index())
    }

    /// pre(a), sorted; static propositions left out.
    pub fn pre(&self, action: ActionId) -> &[PropId] {
        self.actions.pre.row(action.index())
    }

    /// add(a), sorted; without what pre(a) has and nothing deletes. What conditional effects add is
    /// not among it.
    pub fn add(&self, action: ActionId) -> &[PropId] {
        self.actions.add.row(action.index())
    }

    /// del(a), sorted; disjoint from add(a).
    pub fn del(&self, action: ActionId) -> &[PropId] {
        self.actions.del.row(action.index())
    }

    /// What an action does under conditions, besides add(a) and del(a).
    pub fn conditional_effects(&self, action: ActionId) -> impl Iterator<Item = Effect<'_>> {
        let effects = self.effects.of(action.index());
        effects.map(|effect| Effect {
            condition: self.effects.condition.row(effect),
            add: self.effects.add.row(effect),
            del: self.effects.del.row(effect),
        })
    }

    /// The axioms: a proposition, and what it follows from. Those of lower levels come first.
    pub fn axioms(&self) -> impl Iterator<Item = (PropId, &[PropId])> {
        let heads = self.axioms.head.iter().copied();
        heads.zip(self.axioms.body.rows())
    }

    /// cost(a).
    pub fn cost(&self, action: ActionId) -> u32 {
        self.actions.cost[action.index()]
    }

    /// Whether every action costs 1.
    pub fn is_unit_cost(&self) -> bool {
        self.actions.cost.iter().all(|&cost| cost == 1)
    }

    /// I: the dynamic propositions true at the start, sorted.
    pub fn init(&self) -> &[PropId] {
        &self.init
    }

    /// G: the dynamic propositions that must hold, sorted.
    pub fn goal(&self) -> &[PropId] {
        &self.goal
    }

    /// Groups of propositions of which at most one is true in every reachable state, as far as they
    /// were found; each sorted, with two members at least. A proposition may be in several.
    pub fn mutex_groups(&self) -> impl ExactSizeIterator<Item = &[PropId]> {
        self.groups.rows()
    }

    /// The propositions that the goal is made of, sorted: G itself, and in the place of a helper those
    /// that it is derived from. Where the goal is a conjunction of literals, it is G.
    pub fn goal_parts(&self) -> Vec<PropId> {
        let is_helper = |prop: PropId| self.propositions[prop.index()].is_helper;
        let mut parts = self.goal.clone();
        if !parts.iter().any(|&prop| is_helper(prop)) {
            return parts;
        }
        let mut seen = vec![false; self.propositions.len()];
        let mut open = std::mem::take(&mut parts);
        while let Some(prop) = open.pop() {
            if std::mem::replace(&mut seen[prop.index()], true) {
                continue;
            }
            if !is_helper(prop) {
                parts.push(prop);
                continue;
            }
            for (_, body) in self.axioms().filter(|(head, _)| *head == prop) {
                open.extend_from_slice(body);
            }
        }
        parts.sort_unstable();
        parts
    }

    /// How states are packed.
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// The initial state, packed.
    pub fn initial_state(&self) -> Vec<u32> {
        self.encoding.pack(&self.init)
    }

    /// Whether actions have no conditional effects and nothing is derived: pre(a), add(a) and
    /// del(a) say all.
    pub fn is_strips(&self) -> bool {
        self.rules.is_none()
    }

    /// Whether some propositions are derived by axioms.
    pub fn has_axioms(&self) -> bool {
        !self.axioms.derived.is_empty()
    }

    /// Whether a proposition is derived by axioms: its value follows from those of others.
    pub fn is_derived(&self, prop: PropId) -> bool {
        let mut complements = self.axioms.complements.iter();
        self.axioms.derived.binary_search(&prop).is_ok()
            || (!self.propositions[prop.index()].positive
                && complements.any(|&(_, complement)| complement == prop))
    }

    /// Applies an action to a packed state in place, whether it is applicable or not. What is derived
    /// must be right in the state before.
    #[inline]
    pub fn apply(&self, action: ActionId, state: &mut [u32]) {
        if self.rules.is_some() {
            self.encoding.apply_in_full(self, action, state);
            return;
        }
        for effect in self.encoding.effects.row(action.index()) {
            effect.write(state);
        }
    }

    /// Rough nanoseconds of finding out what an action changes in a state, beyond looking at its lists.
    /// Conditional effects and axioms make it a matter of applying it and comparing all variables.
    pub fn change_work(&self, action: ActionId) -> u64 {
        if self.is_strips() {
            return 0;
        }
        let effects = self.effects.of(action.index()).len() as u64;
        effects * EFFECT_WORK + self.encoding.variable_count() as u64 * VARIABLE_WORK
    }

    /// The packed states before each of these actions, and the one after the last.
    pub fn states_along(&self, actions: &[ActionId]) -> Vec<Vec<u32>> {
        let mut state = self.initial_state();
        let mut states = vec![state.clone()];
        for &action in actions {
            self.apply(action, &mut state);
            states.push(state.clone());
        }
        states
    }

    /// The conditions of the rules of the delete relaxation, sorted. Those of actions come first.
    pub(crate) fn rule_pre(&self) -> &Csr<PropId> {
        self.rules.as_ref().map_or(&self.actions.pre, |r| &r.pre)
    }

    /// What the rules of the delete relaxation add.
    pub(crate) fn rule_add(&self) -> &Csr<PropId> {
        self.rules.as_ref().map_or(&self.actions.add, |r| &r.add)
    }

    /// The action of a rule of the delete relaxation, `None` for an axiom.
    #[inline]
    pub(crate) fn rule_action(&self, rule: usize) -> Option<ActionId> {
        match &self.rules {
            Some(rules) => rules.action[rule],
            None => Some(ActionId::from_index(rule)),
        }
    }

    /// What the first so many rules of the delete relaxation delete: actions, then their effects.
    /// Axioms delete nothing.
    pub(crate) fn rule_del(&self, rule: usize) -> &[PropId] {
        match rule.checked_sub(self.action_count()) {
            None => self.actions.del.row(rule),
            Some(effect) if effect < self.effects.del.len() => self.effects.del.row(effect),
            Some(_) => &[],
        }
    }

    /// The rules of an action: what it does in any case, then its conditional effects.
    pub(crate) fn rules_of(&self, action: usize) -> impl Iterator<Item = usize> + use<> {
        let count = self.action_count();
        let effects = self.effects.of(action);
        std::iter::once(action).chain(effects.map(move |effect| count + effect))
    }

    /// How many goals do not hold in a packed state.
    pub fn open_goals(&self, state: &[u32]) -> usize {
        let goals = self.goal().iter();
        goals
            .filter(|&&goal| !self.encoding().holds(goal, state))
            .count()
    }

    /// Whether a packed state is a goal.
    #[inline]
    pub fn is_goal(&self, state: &[u32]) -> bool {
        self.encoding
            .goal
            .iter()
            .all(|condition| condition.holds(state))
    }

    /// An action as plans show it: `(stack a b)`.
    pub fn action_name(&self, action: ActionId) -> ActionName<'_> {
        ActionName { task: self, action }
    }
}

/// Shows an action as `(name argument...)`.
#[derive(Clone, Copy, Debug)]
pub struct ActionName<'a> {
    task: &'a Task,
    action: ActionId,
}

impl fmt::Display for ActionName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = &self.task.problem;
        let schema = self.task.schema(self.action);
        write!(f, "({}", problem.domain.actions[schema.index()].name)?;
        for argument in self.task.arguments(self.action) {
            write!(f, " {}", problem.objects[argument.index()].name)?;
        }
        write!(f, ")")
    }
}
