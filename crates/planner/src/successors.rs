//! Which actions are applicable, without looking at all of them.
//!
//! A tree over variables: a node holds actions whose preconditions are all tested on the way to it,
//! and switches, each of which looks at one variable and goes on to the node of its value, if any
//! action needs that value.

use crate::csr::Csr;
use crate::encoding::Variable;
use crate::task::{ActionId, PropId, Task};
use crate::watch::{Pace, Stop, Watch};

/// Where to go on, by the value of a variable.
#[derive(Debug)]
struct Switch {
    variable: Variable,
    cases: Cases,
}

#[derive(Debug)]
enum Cases {
    /// One value matters.
    One { value: u32, node: u32 },
    /// `nodes[value - first]`, where 0 stands for nowhere: the root is nobody's child.
    Table { first: u32, nodes: Box<[u32]> },
    /// Few of many values matter: sorted.
    Sparse(Box<[(u32, u32)]>),
}

#[derive(Debug, Default)]
struct Node {
    /// The proposition that was tested last on the way; nothing at the root.
    tested: Option<PropId>,
    actions: Box<[ActionId]>,
    switches: Box<[Switch]>,
}

/// Lists the applicable actions of a state.
#[derive(Debug)]
pub struct SuccessorGenerator {
    nodes: Vec<Node>,
}

impl SuccessorGenerator {
    /// Builds the tree for a task.
    pub fn new(task: &Task) -> Self {
        Self::watched(task, &mut ()).expect("nothing says stop")
    }

    /// Builds the tree for a task, unless the watch says stop first.
    ///
    /// # Errors
    ///
    /// If it does.
    pub fn watched(task: &Task, watch: &mut dyn Watch) -> Result<Self, Stop> {
        let mut pace = Pace::building(watch, "successor tables")?;
        let encoding = task.encoding();
        // Variables that many actions test come first: high in the tree they are tested once.
        let mut uses = vec![0usize; encoding.variable_count()];
        for action in task.actions() {
            pace.work(1)?;
            for &prop in task.pre(action) {
                uses[encoding.place(prop).0] += 1;
            }
        }
        let mut order: Vec<usize> = (0..uses.len()).collect();
        order.sort_by_key(|&variable| (std::cmp::Reverse(uses[variable]), variable));
        let mut rank = vec![0; order.len()];
        for (position, &variable) in order.iter().enumerate() {
            rank[variable] = position as u32;
        }
        let mut conditions = Csr::default();
        let mut actions = Vec::with_capacity(task.action_count());
        let mut tests: Vec<Test> = Vec::new();
        for action in task.actions() {
            pace.work(4)?;
            tests.clear();
            let places = task.pre(action).iter().map(|&prop| encoding.place(prop));
            tests.extend(places.map(|(variable, value)| test(rank[variable], value)));
            tests.sort_unstable();
            conditions.push_row(tests.iter().copied());
            // Two values of one variable exclude one another: never applicable.
            if tests.windows(2).all(|pair| pair[0] >> 32 != pair[1] >> 32) {
                actions.push((NO_TEST, action));
            }
        }
        let mut builder = Builder {
            nodes: Vec::new(),
            conditions: &conditions,
            variable: &|rank| encoding.variables()[order[rank as usize]],
            prop: &|rank, value| encoding.prop(order[rank as usize], value),
            pace,
        };
        builder.build(&mut actions, 0)?;
        Ok(Self {
            nodes: builder.nodes,
        })
    }

    /// One that knows no actions: it stands in until the tree is built.
    pub(crate) fn without_actions() -> Self {
        Self {
            nodes: vec![Node::default()],
        }
    }

    /// Puts the applicable actions of a state into `actions`, in their order.
    pub fn applicable(&self, state: &[u32], actions: &mut Vec<ActionId>) {
        actions.clear();
        self.collect(&self.nodes[0], state, &|_| true, actions);
        actions.sort_unstable();
    }

    /// Like [`applicable`](Self::applicable), but without the actions that need a proposition that
    /// `enter` refuses: of millions of actions, most are then not even looked at.
    pub(crate) fn applicable_within(
        &self,
        state: &[u32],
        enter: impl Fn(PropId) -> bool,
        actions: &mut Vec<ActionId>,
    ) {
        actions.clear();
        self.collect(&self.nodes[0], state, &enter, actions);
        actions.sort_unstable();
    }

    fn collect(
        &self,
        node: &Node,
        state: &[u32],
        enter: &impl Fn(PropId) -> bool,
        actions: &mut Vec<ActionId>,
    ) {
        actions.extend_from_slice(&node.actions);
        for switch in &node.switches {
            let value = switch.variable.value(state);
            let next = switch.cases.find(value);
            if next != 0 {
                let node = &self.nodes[next as usize];
                if node.tested.is_none_or(enter) {
                    self.collect(node, state, enter, actions);
                }
            }
        }
    }
}

/// What an action asks of one variable, in one word: the rank of the variable, from 1 on, and its
/// value.
type Test = u64;

/// Less than every test.
const NO_TEST: Test = 0;

fn test(rank: u32, value: u32) -> Test {
    (u64::from(rank) + 1) << 32 | u64::from(value)
}

/// The tree under construction.
struct Builder<'a> {
    nodes: Vec<Node>,
    /// By action: what it tests, sorted.
    conditions: &'a Csr<Test>,
    variable: &'a dyn Fn(u32) -> Variable,
    /// The proposition that a value of a variable is.
    prop: &'a dyn Fn(u32, u32) -> Option<PropId>,
    pace: Pace<'a>,
}

impl Builder<'_> {
    /// Builds the node of `actions`, which agree on their first `depth` tests. The test beside each
    /// is the one to look at: it is written here.
    fn build(&mut self, actions: &mut [(Test, ActionId)], depth: usize) -> Result<u32, Stop> {
        self.pace.work(1 + 4 * actions.len())?;
        let index = self.nodes.len();
        self.nodes.push(Node::default());
        for (test, action) in actions.iter_mut() {
            let tests = self.conditions.row(action.index());
            *test = tests.get(depth).copied().unwrap_or(NO_TEST);
        }
        // Actions without a test at this depth come first.
        actions.sort_unstable();
        let done = actions.partition_point(|&(test, _)| test == NO_TEST);
        let (done, rest) = actions.split_at_mut(done);
        let mut switches = Vec::new();
        for group in rest.chunk_by_mut(|a, b| a.0 >> 32 == b.0 >> 32) {
            let mut cases: Vec<(u32, u32)> = Vec::new();
            let rank = (group[0].0 >> 32) as u32 - 1;
            for group in group.chunk_by_mut(|a, b| a.0 == b.0) {
                let value = group[0].0 as u32;
                let node = self.build(group, depth + 1)?;
                self.nodes[node as usize].tested = (self.prop)(rank, value);
                cases.push((value, node));
            }
            switches.push(Switch {
                variable: (self.variable)(rank),
                cases: Cases::new(cases),
            });
        }
        self.nodes[index] = Node {
            tested: None,
            actions: done.iter().map(|&(_, action)| action).collect(),
            switches: switches.into(),
        };
        Ok(index as u32)
    }
}

impl Cases {
    fn new(cases: Vec<(u32, u32)>) -> Self {
        if let [(value, node)] = cases[..] {
            return Self::One { value, node };
        }
        let first = cases[0].0;
        let span = (cases[cases.len() - 1].0 - first) as usize + 1;
        if span <= 4 * cases.len() {
            let mut nodes = vec![0; span];
            for (value, node) in cases {
                nodes[(value - first) as usize] = node;
            }
            Self::Table {
                first,
                nodes: nodes.into(),
            }
        } else {
            Self::Sparse(cases.into())
        }
    }

    #[inline]
    fn find(&self, wanted: u32) -> u32 {
        match self {
            Self::One { value, node } => {
                if *value == wanted {
                    *node
                } else {
                    0
                }
            }
            Self::Table { first, nodes } => nodes
                .get(wanted.wrapping_sub(*first) as usize)
                .copied()
                .unwrap_or(0),
            Self::Sparse(cases) => cases
                .binary_search_by_key(&wanted, |&(value, _)| value)
                .map_or(0, |at| cases[at].1),
        }
    }
}
