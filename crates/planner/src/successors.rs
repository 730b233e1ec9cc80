//! Which actions are applicable, without looking at all of them.
//!
//! A tree over variables: a node holds actions whose preconditions are all tested on the way to it,
//! and switches, each of which looks at one variable and goes on to the node of its value, if any
//! action needs that value.

use crate::encoding::Variable;
use crate::task::{ActionId, Task};

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
        let encoding = task.encoding();
        // Variables that many actions test come first: high in the tree they are tested once.
        let mut uses = vec![0usize; encoding.variable_count()];
        for action in task.actions() {
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
        let mut conditions: Vec<(Vec<(u32, u32)>, ActionId)> = task
            .actions()
            .filter_map(|action| {
                let places = task.pre(action).iter().map(|&prop| encoding.place(prop));
                let mut tests: Vec<(u32, u32)> = places
                    .map(|(variable, value)| (rank[variable], value))
                    .collect();
                tests.sort_unstable();
                // Two values of one variable exclude one another: never applicable.
                let possible = tests.windows(2).all(|pair| pair[0].0 != pair[1].0);
                possible.then_some((tests, action))
            })
            .collect();
        conditions.sort();
        let mut generator = Self { nodes: Vec::new() };
        let variable = |rank: u32| encoding.variables()[order[rank as usize]];
        generator.build(&conditions, 0, &variable);
        generator
    }

    /// Builds the node of `conditions`, which agree on their first `depth` tests and are sorted.
    fn build(
        &mut self,
        conditions: &[(Vec<(u32, u32)>, ActionId)],
        depth: usize,
        variable: &dyn Fn(u32) -> Variable,
    ) -> u32 {
        let index = self.nodes.len();
        self.nodes.push(Node::default());
        let done = conditions.partition_point(|(tests, _)| tests.len() == depth);
        let actions = conditions[..done]
            .iter()
            .map(|&(_, action)| action)
            .collect();
        let mut switches = Vec::new();
        let same_variable = conditions[done..].chunk_by(|a, b| a.0[depth].0 == b.0[depth].0);
        for group in same_variable {
            let cases: Vec<(u32, u32)> = group
                .chunk_by(|a, b| a.0[depth].1 == b.0[depth].1)
                .map(|group| (group[0].0[depth].1, self.build(group, depth + 1, variable)))
                .collect();
            switches.push(Switch {
                variable: variable(group[0].0[depth].0),
                cases: Cases::new(cases),
            });
        }
        self.nodes[index] = Node {
            actions,
            switches: switches.into(),
        };
        index as u32
    }

    /// Puts the applicable actions of a state into `actions`, in their order.
    pub fn applicable(&self, state: &[u32], actions: &mut Vec<ActionId>) {
        actions.clear();
        self.collect(&self.nodes[0], state, actions);
        actions.sort_unstable();
    }

    fn collect(&self, node: &Node, state: &[u32], actions: &mut Vec<ActionId>) {
        actions.extend_from_slice(&node.actions);
        for switch in &node.switches {
            let value = switch.variable.value(state);
            let next = switch.cases.find(value);
            if next != 0 {
                self.collect(&self.nodes[next as usize], state, actions);
            }
        }
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
