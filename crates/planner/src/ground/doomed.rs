//! Steps that lose the goal, found before the search.
//!
//! Within a [mutex group](crate::Task::mutex_groups) one fact follows another: a box is at one place,
//! then at the next; a tile is clear, has a robot on it, or is painted. What can follow what is a
//! graph with an edge for each action that takes one fact of the group and adds another. In this graph
//! a fact may be *lost* once another one is true: nothing leads from paint back to a clear tile, nor
//! from a corner to any other place of a box. Three things follow.
//!
//! - A fact after which a goal of its own group is lost is a dead end, and so is every action that adds
//!   or needs it. No box goes into a corner that is not its goal.
//! - Let every action that achieves a goal g need something that is lost once p is true. Then g must be
//!   true before p or come with it: a state with p and without g is a dead end. An action that adds p
//!   and not g gets g as a precondition.
//! - If it cannot have it, since it excludes g or deletes it, it is doomed. Who paints a tile from above
//!   stands on a tile that is never painted afterwards.
//!
//! And an action that needs two facts of one group can never be taken.
//!
//! Without the doomed actions more is lost, so this is repeated. An action of a plan is never doomed,
//! and its plan gives it the preconditions that it gets: all plans remain, and nothing else is new.

use super::simplify::{kept_items, kept_rows};
use crate::components::components;
use crate::csr::Csr;
use crate::task::{ActionId, PropId, Task};
use crate::watch::{Pace, Stop, Watch};

/// Passes over all actions at the most. Floors take two.
const MAX_ROUNDS: usize = 20;

/// Bytes that say what is lost once what is true, at the most; further groups are left alone.
const MAX_BYTES: usize = 1 << 26;

/// Leaves out what no plan can have, and adds preconditions that every plan meets.
pub(super) fn leave_out_doomed(
    task: &mut Task,
    groups: &[Vec<PropId>],
    watch: &mut dyn Watch,
) -> Result<(), Stop> {
    if !task.is_strips() || task.goal.is_empty() {
        return Ok(());
    }
    let mut pace = Pace::building(watch, "orders of goals")?;
    let mut doom = Doom::new(task, groups, &mut pace)?;
    doom.never_applicable(&mut pace)?;
    for _ in 0..MAX_ROUNDS {
        let before = doom.count;
        let lost = Lost::new(&doom, &mut pace)?;
        if lost.is_empty() {
            break;
        }
        doom.dead_facts(&lost, &mut pace)?;
        doom.orders(&lost, &mut pace)?;
        if doom.count == before {
            break;
        }
    }
    let Doom { gone, extra, .. } = doom;
    let keep = |action: usize| !gone[action];
    let mut pre = Csr::default();
    for action in (0..gone.len()).filter(|&action| keep(action)) {
        let mut row = task.actions.pre.row(action).to_vec();
        row.extend_from_slice(&extra[action]);
        row.sort_unstable();
        pre.push_row(row);
    }
    let actions = &mut task.actions;
    actions.pre = pre;
    actions.schema = kept_items(&actions.schema, &keep);
    actions.arguments = kept_rows(&actions.arguments, &keep);
    actions.add = kept_rows(&actions.add, &keep);
    actions.del = kept_rows(&actions.del, &keep);
    actions.cost = kept_items(&actions.cost, &keep);
    Ok(())
}

/// What is known of the actions of a task.
struct Doom<'a> {
    task: &'a Task,
    groups: &'a [Vec<PropId>],
    /// By group the number of its first node: its members one behind the other, then one for whatever
    /// else may be true in their place.
    first: Vec<u32>,
    /// By proposition its nodes, in the order of its groups.
    nodes: Csr<u32>,
    /// By node its group.
    group: Vec<u32>,
    /// By proposition the actions that add it.
    adders: Csr<ActionId>,
    /// By action whether no plan has it.
    gone: Vec<bool>,
    /// By action the goals that hold before it in every plan, its preconditions aside.
    extra: Vec<Vec<PropId>>,
    /// How many actions are gone or have got a precondition.
    count: usize,
}

impl<'a> Doom<'a> {
    fn new(task: &'a Task, groups: &'a [Vec<PropId>], pace: &mut Pace<'_>) -> Result<Self, Stop> {
        let mut first = Vec::with_capacity(groups.len());
        let mut group = Vec::new();
        for (index, members) in groups.iter().enumerate() {
            first.push(group.len() as u32);
            group.resize(group.len() + members.len() + 1, index as u32);
        }
        pace.work(group.len() + task.action_count())?;
        let nodes = Csr::from_pairs(task.propositions.len(), 0, || {
            let members = groups.iter().zip(&first);
            members.flat_map(|(members, &first)| {
                let nodes = members.iter().zip(first..);
                nodes.map(|(prop, node)| (prop.index(), node))
            })
        });
        let adders = Csr::from_pairs(task.propositions.len(), ActionId(0), || {
            task.actions()
                .flat_map(|action| task.add(action).iter().map(move |p| (p.index(), action)))
        });
        Ok(Self {
            task,
            groups,
            first,
            nodes,
            group,
            adders,
            gone: vec![false; task.action_count()],
            extra: vec![Vec::new(); task.action_count()],
            count: 0,
        })
    }

    fn pre(&self, action: ActionId) -> impl Iterator<Item = PropId> {
        let pre = self.task.pre(action).iter();
        pre.chain(&self.extra[action.index()]).copied()
    }

    /// The achievers of a proposition that may be on a plan.
    fn achievers(&self, prop: PropId) -> impl Iterator<Item = ActionId> {
        let adders = self.adders.row(prop.index()).iter().copied();
        adders.filter(|action| !self.gone[action.index()])
    }

    fn nodes_of(&self, prop: PropId) -> &[u32] {
        self.nodes.row(prop.index())
    }

    /// The nodes of two propositions in a group that both are in.
    fn shared(&self, a: PropId, b: PropId) -> impl Iterator<Item = (u32, u32)> {
        self.nodes_of(a).iter().flat_map(move |&node| {
            let group = self.group[node as usize];
            let others = self.nodes_of(b).iter().copied();
            { others }
                .filter(move |&other| self.group[other as usize] == group)
                .map(move |other| (node, other))
        })
    }

    fn are_exclusive(&self, a: PropId, b: PropId) -> bool {
        a != b && self.shared(a, b).next().is_some()
    }

    /// The node of a group that stands for whatever else may be true.
    fn other(&self, group: usize) -> u32 {
        self.first[group] + self.groups[group].len() as u32
    }

    fn remove(&mut self, action: ActionId) {
        self.count += usize::from(!std::mem::replace(&mut self.gone[action.index()], true));
    }

    /// Drops actions that need two facts of one group.
    fn never_applicable(&mut self, pace: &mut Pace<'_>) -> Result<(), Stop> {
        let mut taken_by = vec![ActionId(u32::MAX); self.groups.len()];
        for action in self.task.actions() {
            let pre = self.task.pre(action);
            pace.work(1 + pre.len() / 4)?;
            let nodes = pre.iter().flat_map(|prop| self.nodes.row(prop.index()));
            let mut groups = nodes.map(|&node| self.group[node as usize] as usize);
            if groups.any(|group| std::mem::replace(&mut taken_by[group], action) == action) {
                self.remove(action);
            }
        }
        Ok(())
    }

    /// Drops actions that add or need a fact from which no way leads to a goal of its group, or that
    /// leave the group with no fact at all where that is so. Some facts are no propositions of the task
    /// because nothing depends on them: a box in a corner is nowhere.
    fn dead_facts(&mut self, lost: &Lost, pace: &mut Pace<'_>) -> Result<(), Stop> {
        let mut is_dead = vec![false; self.group.len()];
        for &goal in self.task.goal() {
            for &node in self.nodes_of(goal) {
                let group = self.group[node as usize] as usize;
                pace.work(self.groups[group].len())?;
                for other in self.first[group]..=self.other(group) {
                    is_dead[other as usize] |= lost.is_lost(other, node);
                }
            }
        }
        if !is_dead.contains(&true) {
            return Ok(());
        }
        let group_of = |node: &u32| self.group[*node as usize];
        let mut doomed = Vec::new();
        for action in self.task.actions() {
            pace.work(1)?;
            let (pre, add) = (self.task.pre(action), self.task.add(action));
            let nodes = |props: &'a [PropId]| props.iter().flat_map(|&prop| self.nodes_of(prop));
            let taken = self
                .task
                .del(action)
                .iter()
                .filter(|prop| pre.contains(prop));
            let mut left = taken.flat_map(|&prop| self.nodes_of(prop));
            let is_doomed = nodes(pre)
                .chain(nodes(add))
                .any(|&node| is_dead[node as usize])
                || left.any(|node| {
                    is_dead[self.other(group_of(node) as usize) as usize]
                        && !nodes(add).any(|added| group_of(added) == group_of(node))
                });
            if is_doomed {
                doomed.push(action);
            }
        }
        doomed.into_iter().for_each(|action| self.remove(action));
        Ok(())
    }

    /// Finds which facts must wait for which goals, and what follows for the actions that add them.
    fn orders(&mut self, lost: &Lost, pace: &mut Pace<'_>) -> Result<(), Stop> {
        let goals = self.task.goal();
        let mut number = vec![None; self.task.propositions.len()];
        for (index, goal) in goals.iter().enumerate() {
            number[goal.index()] = Some(index);
        }
        let mut waits = vec![true; goals.len()];
        let mut queue: Vec<usize> = (0..goals.len()).rev().collect();
        while let Some(index) = queue.pop() {
            waits[index] = false;
            let goal = goals[index];
            for prop in self.facts_that_wait_for(goal, lost, pace)? {
                for at in 0..self.adders.row(prop.index()).len() {
                    let action = self.adders.row(prop.index())[at];
                    pace.work(1)?;
                    if self.gone[action.index()] || !self.must_follow(action, goal) {
                        continue;
                    }
                    // Other goals that it achieved may have to come earlier now.
                    for added in self.task.add(action) {
                        if let Some(index) = number[added.index()]
                            && !std::mem::replace(&mut waits[index], true)
                        {
                            queue.push(index);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The action adds what must not be true before the goal. Says whether that changes anything.
    fn must_follow(&mut self, action: ActionId, goal: PropId) -> bool {
        let task = self.task;
        if task.add(action).contains(&goal) || self.pre(action).any(|prop| prop == goal) {
            // It may delete what it needs: then the goal is false afterwards.
            if !task.del(action).contains(&goal) {
                return false;
            }
            self.remove(action);
        } else if task.del(action).contains(&goal)
            || self.pre(action).any(|prop| self.are_exclusive(prop, goal))
        {
            self.remove(action);
        } else {
            self.extra[action.index()].push(goal);
            self.count += 1;
        }
        true
    }

    /// The facts once which are true no action can achieve the goal any more.
    fn facts_that_wait_for(
        &self,
        goal: PropId,
        lost: &Lost,
        pace: &mut Pace<'_>,
    ) -> Result<Vec<PropId>, Stop> {
        // Each achiever needs something that is lost, so candidates come from any one of them.
        let reach = |action: &ActionId| -> usize { self.candidates(*action, lost).count() };
        let Some(first) = self.achievers(goal).min_by_key(reach) else {
            return Ok(Vec::new());
        };
        let mut facts: Vec<PropId> = self.candidates(first, lost).collect();
        facts.sort_unstable();
        facts.dedup();
        let mut found = Vec::new();
        for prop in facts {
            let mut stays = prop != goal;
            let mut achievers = self.achievers(goal);
            while stays && let Some(action) = achievers.next() {
                pace.work(1)?;
                stays = self.pre(action).any(|needed| {
                    let mut shared = self.shared(prop, needed);
                    shared.any(|(from, to)| lost.is_lost(from, to))
                });
            }
            if stays {
                found.push(prop);
            }
        }
        Ok(found)
    }

    /// The facts once which are true something is lost that the action needs; some of them twice.
    fn candidates<'s>(
        &'s self,
        action: ActionId,
        lost: &'s Lost,
    ) -> impl Iterator<Item = PropId> + use<'s, 'a> {
        let nodes = self.pre(action).flat_map(|prop| self.nodes_of(prop));
        nodes.flat_map(move |&node| {
            let group = self.group[node as usize] as usize;
            let members = match lost.loses(group) {
                true => &self.groups[group][..],
                false => &[],
            };
            let others = members.iter().zip(self.first[group]..);
            { others }
                .filter(move |&(_, other)| lost.is_lost(other, node))
                .map(|(&prop, _)| prop)
        })
    }
}

/// What can follow what within each group.
struct Lost {
    /// By node the component of its group that it is in; those that it leads to have lower numbers.
    component: Vec<u32>,
    /// By node where the row of its component begins, in words; `ALL` if nothing is lost.
    row: Vec<u32>,
    /// Rows of bits: the components that each component leads to.
    reached: Vec<u64>,
    /// By group whether something is ever lost.
    loses: Vec<bool>,
}

/// All nodes of the group can be reached.
const ALL: u32 = u32::MAX;

impl Lost {
    fn new(doom: &Doom<'_>, pace: &mut Pace<'_>) -> Result<Self, Stop> {
        let edges = edges(doom, pace)?;
        pace.work(edges.len() * 4)?;
        let (order, _) = components(&edges);
        let mut lost = Self {
            component: vec![0; edges.len()],
            row: vec![ALL; edges.len()],
            reached: Vec::new(),
            loses: vec![false; doom.groups.len()],
        };
        for (group, members) in doom.groups.iter().enumerate() {
            let first = doom.first[group] as usize;
            let nodes = first..first + members.len() + 1;
            let mut orders: Vec<u32> = order[nodes.clone()].to_vec();
            orders.sort_unstable();
            orders.dedup();
            let words = orders.len().div_ceil(64);
            let bytes = (lost.reached.len() + orders.len() * words) * size_of::<u64>();
            if orders.len() == 1 || bytes > MAX_BYTES {
                continue;
            }
            pace.work(orders.len() * words)?;
            let begin = lost.reached.len();
            lost.reached.resize(begin + orders.len() * words, 0);
            let mut by_component: Vec<Vec<usize>> = vec![Vec::new(); orders.len()];
            for node in nodes {
                let component = orders.binary_search(&order[node]).expect("listed above");
                lost.component[node] = component as u32;
                lost.row[node] = (begin + component * words) as u32;
                by_component[component].push(node);
            }
            for (component, nodes) in by_component.iter().enumerate() {
                let at = begin + component * words;
                lost.reached[at + component / 64] |= 1 << (component % 64);
                for &next in nodes.iter().flat_map(|&node| &edges[node]) {
                    let from = lost.row[next as usize] as usize;
                    if from != at {
                        pace.work(words)?;
                        for word in 0..words {
                            lost.reached[at + word] |= lost.reached[from + word];
                        }
                    }
                }
            }
            lost.loses[group] = true;
        }
        Ok(lost)
    }

    fn is_empty(&self) -> bool {
        self.reached.is_empty()
    }

    fn loses(&self, group: usize) -> bool {
        self.loses[group]
    }

    /// Whether one node can never be true again once another one of its group is.
    fn is_lost(&self, from: u32, to: u32) -> bool {
        let row = self.row[from as usize];
        if row == ALL {
            return false;
        }
        let to = self.component[to as usize];
        self.reached[row as usize + to as usize / 64] >> (to % 64) & 1 == 0
    }
}

/// What follows each node within its group, by an action that may be on a plan.
fn edges(doom: &Doom<'_>, pace: &mut Pace<'_>) -> Result<Vec<Vec<u32>>, Stop> {
    let task = doom.task;
    let mut edges: Vec<Vec<u32>> = vec![Vec::new(); doom.group.len()];
    for (group, &first) in doom.first.iter().enumerate() {
        // What is true may give way to none of the group, and that to what needs none.
        let other = doom.other(group);
        (first..other).for_each(|node| edges[node as usize].push(other));
    }
    for action in task.actions() {
        pace.work(1)?;
        if doom.gone[action.index()] {
            continue;
        }
        for &node in task
            .add(action)
            .iter()
            .flat_map(|&prop| doom.nodes_of(prop))
        {
            let group = doom.group[node as usize];
            let before = doom.pre(action).flat_map(|prop| doom.nodes_of(prop));
            let mut before = before.filter(|&&before| doom.group[before as usize] == group);
            let from = before.next().copied();
            let from = from.unwrap_or_else(|| doom.other(group as usize));
            if edges[from as usize].last() != Some(&node) {
                edges[from as usize].push(node);
            }
        }
    }
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use homing_pddl::{Source, read_problem};
    use std::sync::Arc;

    use crate::ground::{Spare, ground_sparing};
    use crate::task::Task;
    use crate::test_tasks::{action_name, prop_name};

    fn spared(domain: &str, problem: &str) -> Task {
        let domain = format!("(define (domain test) {domain})");
        let problem = format!("(define (problem test) (:domain test) {problem})");
        let (problem, messages) = read_problem(
            &Source::new("domain.pddl", domain.into_bytes()),
            &Source::new("problem.pddl", problem.into_bytes()),
        );
        let problem = Arc::new(problem.unwrap_or_else(|| panic!("{messages}")));
        let spare = Spare {
            doomed: true,
            ..Spare::default()
        };
        ground_sparing(&problem, spare, &mut ()).expect("it can be grounded")
    }

    /// The actions that begin so, with those of their preconditions that are goals.
    fn actions(task: &Task, schema: &str) -> Vec<String> {
        let named = task.actions().map(|action| {
            let pre = task.pre(action).iter();
            let goals = pre.filter(|prop| task.goal().contains(prop));
            let goals = goals.map(|&goal| format!(" after {}", prop_name(task, goal)));
            format!("{}{}", action_name(task, action), goals.collect::<String>())
        });
        named.filter(|name| name.starts_with(schema)).collect()
    }

    #[test]
    fn a_floor_is_painted_from_the_far_end() {
        // A robot paints the tile before it or behind it, and never steps on paint. It stands on t0.
        let task = spared(
            "(:predicates (at ?t) (next ?t ?u) (clear ?t) (painted ?t) (floor ?t))
             (:action walk :parameters (?t ?u)
              :precondition (and (at ?t) (next ?t ?u) (clear ?u))
              :effect (and (not (at ?t)) (at ?u) (clear ?t) (not (clear ?u))))
             (:action back :parameters (?t ?u)
              :precondition (and (at ?t) (next ?u ?t) (clear ?u))
              :effect (and (not (at ?t)) (at ?u) (clear ?t) (not (clear ?u))))
             (:action before :parameters (?t ?u)
              :precondition (and (at ?t) (next ?t ?u) (clear ?u) (floor ?u))
              :effect (and (painted ?u) (not (clear ?u))))
             (:action behind :parameters (?t ?u)
              :precondition (and (at ?t) (next ?u ?t) (clear ?u) (floor ?u))
              :effect (and (painted ?u) (not (clear ?u))))",
            "(:objects t0 t1 t2 t3 t4)
             (:init (at t0) (clear t1) (clear t2) (clear t3) (clear t4)
                    (floor t1) (floor t2) (floor t3) (floor t4)
                    (next t0 t1) (next t1 t2) (next t2 t3) (next t3 t4))
             (:goal (and (painted t1) (painted t2) (painted t3) (painted t4)))",
        );
        assert_eq!(actions(&task, "behind"), [""; 0]);
        let expected = [
            "before t0 t1 after painted t2",
            "before t1 t2 after painted t3",
            "before t2 t3 after painted t4",
            "before t3 t4",
        ];
        assert_eq!(actions(&task, "before"), expected);
    }

    #[test]
    fn nothing_goes_where_it_cannot_leave() {
        // A box on a line can be pushed from left to right only while there is a cell behind it.
        let task = spared(
            "(:predicates (box ?c) (next ?c ?d))
             (:action push :parameters (?c ?d)
              :precondition (and (box ?c) (next ?c ?d))
              :effect (and (not (box ?c)) (box ?d)))",
            "(:objects corner left middle right)
             (:init (box middle) (next middle left) (next left middle) (next left corner)
                    (next middle right) (next right middle))
             (:goal (box right))",
        );
        let expected = [
            "push left middle",
            "push middle left",
            "push middle right",
            "push right middle after box right",
        ];
        assert_eq!(actions(&task, "push"), expected);
    }

    #[test]
    fn tasks_where_nothing_is_lost_stay_as_they_are() {
        let task = spared(
            "(:predicates (at ?c) (road ?c ?d))
             (:action go :parameters (?c ?d) :precondition (and (at ?c) (road ?c ?d))
              :effect (and (not (at ?c)) (at ?d)))",
            "(:objects a b c) (:init (at a) (road a b) (road b a) (road b c) (road c b))
             (:goal (at c))",
        );
        assert_eq!(task.action_count(), 4);
    }
}
