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
        let mut conditions = Conditions::default();
        let mut actions: Vec<ActionId> = Vec::with_capacity(task.action_count());
        let mut tests: Vec<Test> = Vec::new();
        for action in task.actions() {
            pace.work(4)?;
            tests.clear();
            tests.extend(task.pre(action).iter().map(|&prop| {
                let (variable, value) = encoding.place(prop);
                (rank[variable], value, prop)
            }));
            tests.sort_unstable();
            conditions.push_row(tests.iter().copied());
            // Two values of one variable exclude one another: never applicable.
            if tests.windows(2).all(|pair| pair[0].0 != pair[1].0) {
                actions.push(action);
            }
        }
        let mut builder = Builder {
            nodes: Vec::new(),
            conditions: &conditions,
            variable: &|rank| encoding.variables()[order[rank as usize]],
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

/// A test for a proposition: the rank of its variable, and the value that it is.
type Test = (u32, u32, PropId);

/// By action: what it tests, sorted.
type Conditions = Csr<Test>;

/// The tree under construction.
struct Builder<'a> {
    nodes: Vec<Node>,
    conditions: &'a Conditions,
    variable: &'a dyn Fn(u32) -> Variable,
    pace: Pace<'a>,
}

impl Builder<'_> {
    /// Builds the node of `actions`, which agree on their first `depth` tests.
    fn build(&mut self, actions: &mut [ActionId], depth: usize) -> Result<u32, Stop> {
        self.pace.work(1 + 4 * actions.len())?;
        let index = self.nodes.len();
        self.nodes.push(Node::default());
        let conditions = self.conditions;
        let test = |action: ActionId| conditions.row(action.index()).get(depth).copied();
        // Actions without a test at this depth come first.
        actions.sort_unstable_by_key(|&action| (test(action), action));
        let done = actions.partition_point(|&action| test(action).is_none());
        let (done, rest) = actions.split_at_mut(done);
        let mut switches = Vec::new();
        let variable_of = |action: ActionId| test(action).map(|(variable, ..)| variable);
        for group in rest.chunk_by_mut(|&a, &b| variable_of(a) == variable_of(b)) {
            let mut cases: Vec<(u32, u32)> = Vec::new();
            let rank = variable_of(group[0]).expect("it has a test");
            for group in group.chunk_by_mut(|&a, &b| test(a) == test(b)) {
                let (_, value, tested) = test(group[0]).expect("it has a test");
                let node = self.build(group, depth + 1)?;
                self.nodes[node as usize].tested = Some(tested);
                cases.push((value, node));
            }
            switches.push(Switch {
                variable: (self.variable)(rank),
                cases: Cases::new(cases),
            });
        }
        self.nodes[index] = Node {
            tested: None,
            actions: Box::from(&*done),
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
