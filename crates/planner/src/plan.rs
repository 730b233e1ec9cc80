//! Plans, their files, and their validation.
//!
//! Validation replays a plan from the lifted actions over sets of ground atoms. It shares no code
//! with grounding or the successor generator: a mistake there cannot hide here.

mod facts;
mod query;
mod world;

use std::collections::HashMap;
use std::fmt;

use homing_pddl::Problem;
use homing_pddl::model::{ActionSchema, CostTerm, ObjectId, SchemaId};

use crate::task::{ActionId, Task};
pub use world::World;

/// One action of a plan, by names in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// The action schema.
    pub name: String,
    /// The objects.
    pub arguments: Vec<String>,
}

impl fmt::Display for PlanStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}", self.name)?;
        for argument in &self.arguments {
            write!(f, " {argument}")?;
        }
        write!(f, ")")
    }
}

/// A sequence of actions. It counts as a plan only once [`Plan::validate`] says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The actions in order.
    pub steps: Vec<PlanStep>,
}

/// Why a plan is none, and at which step (counted from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// There is no such action.
    UnknownAction {
        /// The step.
        step: usize,
        /// The action's name.
        name: String,
    },
    /// An argument is no object of the problem.
    UnknownObject {
        /// The step.
        step: usize,
        /// The object's name.
        name: String,
    },
    /// The action takes another number of arguments.
    WrongArity {
        /// The step.
        step: usize,
        /// The action's name.
        name: String,
        /// How many it takes.
        expected: usize,
        /// How many are given.
        given: usize,
    },
    /// An argument is of a wrong type.
    WrongType {
        /// The step.
        step: usize,
        /// The object's name.
        object: String,
        /// The parameter's name.
        parameter: String,
    },
    /// A precondition does not hold.
    Precondition {
        /// The step.
        step: usize,
        /// The action.
        action: PlanStep,
        /// The condition that fails, as PDDL.
        condition: String,
    },
    /// The initial state does not say what the action costs.
    MissingCost {
        /// The step.
        step: usize,
        /// The function with its arguments, as PDDL.
        function: String,
    },
    /// What axioms derive is not settled after the step (0 for the initial state).
    Unsettled {
        /// The step.
        step: usize,
        /// A derived atom that depends on its own negation, as PDDL.
        atom: String,
    },
    /// A goal does not hold at the end.
    Goal {
        /// The goal that fails, as PDDL.
        condition: String,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAction { step, name } => {
                write!(f, "step {step}: the domain has no action `{name}`")
            }
            Self::UnknownObject { step, name } => {
                write!(f, "step {step}: the problem has no object `{name}`")
            }
            Self::WrongArity {
                step,
                name,
                expected,
                given,
            } => write!(
                f,
                "step {step}: `{name}` takes {expected} arguments, but {given} are given"
            ),
            Self::WrongType {
                step,
                object,
                parameter,
            } => {
                write!(
                    f,
                    "step {step}: `{object}` does not fit the type of `?{parameter}`"
                )
            }
            Self::Precondition {
                step,
                action,
                condition,
            } => {
                write!(
                    f,
                    "step {step}: {action} needs {condition}, which does not hold"
                )
            }
            Self::MissingCost { step, function } => {
                write!(
                    f,
                    "step {step}: the initial state gives no value for {function}"
                )
            }
            Self::Unsettled { step, atom } => {
                write!(f, "step {step}: {atom} depends on its own negation")
            }
            Self::Goal { condition } => {
                write!(f, "the goal {condition} does not hold at the end")
            }
        }
    }
}

impl std::error::Error for PlanError {}

/// What validation found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validated {
    /// The plan's cost: the sum of the actions' costs, or their number without a metric.
    pub cost: u64,
}

/// Why a text is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSyntaxError {
    /// The line, counted from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

impl fmt::Display for PlanSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}: expected `(action object ...)`, found `{}`",
            self.line, self.text
        )
    }
}

impl std::error::Error for PlanSyntaxError {}

impl Plan {
    /// The plan of some actions.
    pub fn from_actions(task: &Task, actions: &[ActionId]) -> Self {
        let problem = task.problem();
        let steps = actions
            .iter()
            .map(|&action| PlanStep {
                name: problem.domain.actions[task.schema(action).index()]
                    .name
                    .clone(),
                arguments: task
                    .arguments(action)
                    .iter()
                    .map(|object| problem.objects[object.index()].name.clone())
                    .collect(),
            })
            .collect();
        Self { steps }
    }

    /// The actions of a task that a plan names, `None` if one is not there or not applicable where
    /// it stands: such a plan is none, or needs an action that grounding left out.
    pub fn to_actions(&self, task: &Task) -> Option<Vec<ActionId>> {
        let problem = task.problem();
        let chosen = self.chosen(problem).ok()?;
        let objects = objects_by_name(problem);
        let mut state = task.initial_state();
        let mut actions = Vec::with_capacity(self.steps.len());
        for (index, step) in self.steps.iter().enumerate() {
            let schema = match &chosen {
                Some(chosen) => chosen[index],
                None => candidates(problem, step).next()?,
            };
            let arguments = resolve(problem, &objects, schema, step, index + 1).ok()?;
            // Actions stand in the order of their schemas, then of their arguments.
            let key = |index: usize| {
                let action = ActionId::from_index(index);
                (task.schema(action), task.arguments(action))
            };
            let wanted = (schema, arguments.as_slice());
            let first = first_index(task.action_count(), |index| key(index) >= wanted);
            let action = (first..task.action_count())
                .take_while(|&index| key(index) == wanted)
                .map(ActionId::from_index)
                .find(|&action| {
                    let mut pre = task.pre(action).iter();
                    pre.all(|&prop| task.encoding().holds(prop, &state))
                })?;
            task.apply(action, &mut state);
            actions.push(action);
        }
        Some(actions)
    }

    /// Reads a plan file: one `(name argument...)` a line; comments and blank lines are skipped,
    /// and so is a time stamp such as `0:` before an action.
    ///
    /// # Errors
    ///
    /// At the first line that is none of these.
    ///
    /// ```
    /// let plan = homing_planner::Plan::parse("(pick-up a)\n(STACK a b)\n; cost = 2 (unit cost)\n");
    /// assert_eq!(plan.unwrap().steps[1].to_string(), "(stack a b)");
    /// ```
    pub fn parse(text: &str) -> Result<Self, PlanSyntaxError> {
        let mut steps = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let content = line.split(';').next().unwrap_or("").trim();
            if content.is_empty() {
                continue;
            }
            let error = || PlanSyntaxError {
                line: index + 1,
                text: line.trim().to_owned(),
            };
            let action = match content.split_once(':') {
                Some((stamp, action)) if stamp.trim().parse::<f64>().is_ok() => action.trim(),
                _ => content,
            };
            let inner = action
                .strip_prefix('(')
                .and_then(|rest| rest.split_once(')'))
                .filter(|(inner, rest)| {
                    let rest = rest.trim();
                    !inner.contains('(') && (rest.is_empty() || rest.starts_with('['))
                })
                .map(|(inner, _)| inner.to_ascii_lowercase())
                .ok_or_else(error)?;
            let mut words = inner.split_whitespace().map(str::to_owned);
            steps.push(PlanStep {
                name: words.next().ok_or_else(error)?,
                arguments: words.collect(),
            });
        }
        Ok(Self { steps })
    }

    /// The text of a plan file, given the plan's cost.
    pub fn file_text(&self, cost: u64, unit_cost: bool) -> String {
        let mut text = String::new();
        for step in &self.steps {
            text.push_str(&step.to_string());
            text.push('\n');
        }
        let kind = if unit_cost {
            "unit cost"
        } else {
            "general cost"
        };
        text.push_str(&format!("; cost = {cost} ({kind})\n"));
        text
    }

    /// Replays the plan from the lifted actions.
    ///
    /// # Errors
    ///
    /// At the first step that is not an applicable action, or if a goal fails at the end.
    pub fn validate(&self, problem: &Problem) -> Result<Validated, PlanError> {
        self.replay(problem, &mut |_| {})
    }

    /// Replays the plan and shows `each` what is true at the beginning and after every step, derived
    /// atoms included, in order.
    ///
    /// # Errors
    ///
    /// As [`Plan::validate`]; `each` has seen the states before.
    pub fn replay(
        &self,
        problem: &Problem,
        each: &mut dyn FnMut(&World<'_>),
    ) -> Result<Validated, PlanError> {
        let chosen = self.chosen(problem)?;
        let mut world = World::new(problem);
        each(&world);
        let mut cost = 0u64;
        for (index, step) in self.steps.iter().enumerate() {
            let schema = match &chosen {
                Some(chosen) => chosen[index],
                None => first_candidate(problem, step, index + 1)?,
            };
            cost += world.step(schema, step, index + 1)?;
            each(&world);
        }
        world.end()?;
        Ok(Validated { cost })
    }

    /// The schema of each step where several actions have one name: the cheapest way to take the
    /// names for actions so that the plan is one, the first among equals. Nothing where names say
    /// it.
    ///
    /// # Errors
    ///
    /// If there is no such way: what is wrong with the one that comes furthest.
    fn chosen(&self, problem: &Problem) -> Result<Option<Vec<SchemaId>>, PlanError> {
        if self
            .steps
            .iter()
            .all(|step| candidates(problem, step).nth(1).is_none())
        {
            return Ok(None);
        }
        // All states that the steps so far may lead to, each by the cheapest choice.
        let mut ways: Vec<(World<'_>, u64, Vec<SchemaId>)> =
            vec![(World::new(problem), 0, Vec::new())];
        for (index, step) in self.steps.iter().enumerate() {
            let mut next: Vec<(World<'_>, u64, Vec<SchemaId>)> = Vec::new();
            let mut error: Option<PlanError> = None;
            for (world, cost, schemas) in &ways {
                for schema in candidates(problem, step) {
                    let mut world = world.clone();
                    match world.step(schema, step, index + 1) {
                        Err(wrong) => {
                            // What lacks a precondition comes further than what has other parameters.
                            let further = matches!(wrong, PlanError::Precondition { .. });
                            if error.is_none() || further {
                                error = Some(wrong);
                            }
                        }
                        Ok(more) => {
                            let cost = cost + more;
                            let schemas = schemas.iter().copied().chain([schema]).collect();
                            match next.iter_mut().find(|known| known.0.is_same(&world)) {
                                Some(known) if known.1 <= cost => {}
                                Some(known) => *known = (world, cost, schemas),
                                None => next.push((world, cost, schemas)),
                            }
                        }
                    }
                }
            }
            if next.is_empty() {
                return Err(match error {
                    Some(error) => error,
                    None => first_candidate(problem, step, index + 1).expect_err("there is none"),
                });
            }
            ways = next;
        }
        let wrong = ways[0].0.end().err();
        ways.retain(|(world, ..)| world.end().is_ok());
        let best = ways.into_iter().min_by_key(|(_, cost, _)| *cost);
        match best {
            Some((_, _, schemas)) => Ok(Some(schemas)),
            None => Err(wrong.expect("no way reaches the goal")),
        }
    }
}

impl World<'_> {
    /// Takes a step, if it can be taken, and says what it costs.
    fn step(&mut self, schema: SchemaId, step: &PlanStep, number: usize) -> Result<u64, PlanError> {
        let problem = self.problem();
        if number == 1 {
            self.settled(0)?;
        }
        let arguments = resolve(problem, self.named(), schema, step, number)?;
        let schema = &problem.domain.actions[schema.index()];
        if let Some(condition) = self.violation(&schema.precondition, &arguments) {
            return Err(PlanError::Precondition {
                step: number,
                action: step.clone(),
                condition,
            });
        }
        self.apply(schema, &arguments);
        self.settled(number)?;
        cost_of(problem, schema, &arguments, number)
    }

    fn settled(&self, step: usize) -> Result<(), PlanError> {
        match self.unsettled() {
            Some(atom) => Err(PlanError::Unsettled { step, atom }),
            None => Ok(()),
        }
    }

    /// Whether the goal holds.
    fn end(&self) -> Result<(), PlanError> {
        self.settled(0)?;
        match self.goal_violation() {
            Some(condition) => Err(PlanError::Goal { condition }),
            None => Ok(()),
        }
    }
}

/// The first index for which something holds that holds from there on.
fn first_index(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The actions that have the name of a step.
fn candidates<'p>(problem: &'p Problem, step: &'p PlanStep) -> impl Iterator<Item = SchemaId> + 'p {
    let schemas = problem.domain.actions.iter().enumerate();
    schemas
        .filter(|(_, schema)| schema.name == step.name)
        .map(|(index, _)| SchemaId::from_index(index))
}

fn first_candidate(
    problem: &Problem,
    step: &PlanStep,
    number: usize,
) -> Result<SchemaId, PlanError> {
    let first = candidates(problem, step).next();
    first.ok_or_else(|| PlanError::UnknownAction {
        step: number,
        name: step.name.clone(),
    })
}

/// The objects of a problem by their names: a long plan names thousands.
fn objects_by_name(problem: &Problem) -> HashMap<&str, ObjectId> {
    let objects = problem.objects.iter().enumerate();
    let named = objects.map(|(index, object)| (object.name.as_str(), ObjectId::from_index(index)));
    named.collect()
}

/// The objects of a step of this action.
fn resolve(
    problem: &Problem,
    objects: &HashMap<&str, ObjectId>,
    schema: SchemaId,
    step: &PlanStep,
    number: usize,
) -> Result<Vec<ObjectId>, PlanError> {
    let schema = &problem.domain.actions[schema.index()];
    if schema.parameters.len() != step.arguments.len() {
        return Err(PlanError::WrongArity {
            step: number,
            name: step.name.clone(),
            expected: schema.parameters.len(),
            given: step.arguments.len(),
        });
    }
    let mut arguments = Vec::new();
    for (name, parameter) in step.arguments.iter().zip(&schema.parameters) {
        let found = objects.get(name.as_str());
        let object = *found.ok_or_else(|| PlanError::UnknownObject {
            step: number,
            name: name.clone(),
        })?;
        let declared = &problem.objects[object.index()].types;
        let fits = declared.iter().any(|&declared| {
            parameter
                .types
                .iter()
                .any(|&wanted| problem.domain.is_subtype(declared, wanted))
        });
        if !fits {
            return Err(PlanError::WrongType {
                step: number,
                object: name.clone(),
                parameter: parameter.name.clone(),
            });
        }
        arguments.push(object);
    }
    Ok(arguments)
}

pub(crate) fn names(problem: &Problem, head: &str, objects: &[ObjectId]) -> String {
    let mut text = format!("({head}");
    for object in objects {
        text.push(' ');
        text.push_str(&problem.objects[object.index()].name);
    }
    text + ")"
}

fn cost_of(
    problem: &Problem,
    schema: &ActionSchema,
    arguments: &[ObjectId],
    step: usize,
) -> Result<u64, PlanError> {
    if !problem.minimize_cost {
        return Ok(1);
    }
    let (function, terms) = match &schema.cost {
        None => return Ok(0),
        Some(CostTerm::Constant(amount)) => return Ok(u64::from(*amount)),
        Some(CostTerm::Function(function, terms)) => (*function, terms),
    };
    let key: Vec<ObjectId> = terms
        .iter()
        .map(|&term| world::value(term, arguments))
        .collect();
    let mut values = problem.values.iter();
    let found = values.find(|given| given.function == function && given.arguments == key);
    match found {
        Some(given) => Ok(u64::from(given.value)),
        None => Err(PlanError::MissingCost {
            step,
            function: names(
                problem,
                &problem.domain.functions[function.index()].name,
                &key,
            ),
        }),
    }
}
