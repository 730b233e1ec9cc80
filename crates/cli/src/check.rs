//! `homing check`.

use std::fmt::Write as _;
use std::time::Instant;

use homing::LimitWatch;
use homing::input::defines;
use homing_pddl::{Domain, Problem};
use homing_planner::{GroundError, ground};

use crate::args::Check;
use crate::exit::{Exit, Failure};
use crate::input::{Warnings, domain_and_problem, load_domain, load_problem};
use crate::output::print;
use crate::watch::{SearchObserver, catch_interrupts};

pub(crate) fn run(arguments: &Check) -> anyhow::Result<Exit> {
    catch_interrupts();
    if let [file] = arguments.files.as_slice()
        && defines(file)?.as_deref() != Some("problem")
    {
        print(&domain_text(&load_domain(file)?))?;
        return Ok(Exit::Success);
    }
    let (domain, problem) = domain_and_problem(&arguments.files)?;
    let problem = load_problem(&domain, &problem, Warnings::Show)?;
    let mut text = domain_text(&problem.domain);
    text.push_str(&problem_text(&problem));
    print(&text)?;
    let observer = SearchObserver::new(false, false);
    let start = Instant::now();
    let grounded = ground(&problem, &mut LimitWatch::new(None, None, &observer));
    observer.finish();
    match grounded {
        Ok(task) => {
            let mut rows = Rows::new("ground task");
            rows.row("actions", task.action_count());
            let (dynamic, fixed) = (task.propositions().len(), task.statics().len());
            rows.row(
                "propositions",
                format!("{dynamic} that change, {fixed} that never do"),
            );
            rows.row("variables", task.encoding().variable_count());
            rows.row("bytes per state", task.encoding().words() * 4);
            rows.row(
                "grounded in",
                format!("{:.3} s", start.elapsed().as_secs_f64()),
            );
            print(&rows.text)?;
            Ok(Exit::Success)
        }
        Err(error @ GroundError::Unsolvable { .. }) => {
            print(&format!("ground task\n  unsolvable: {error}\n"))?;
            Ok(Exit::Success)
        }
        Err(GroundError::Stopped { .. }) => Err(Failure::silent(Exit::Interrupted)),
        Err(error @ (GroundError::MissingCost { .. } | GroundError::Unstratified { .. })) => {
            Err(Failure::because(Exit::BadPddl, error.to_string()))
        }
    }
}

/// A titled table of two columns.
struct Rows {
    text: String,
}

impl Rows {
    fn new(title: &str) -> Self {
        Self {
            text: format!("{title}\n"),
        }
    }

    fn row(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.text, "  {name:<16} {value}");
    }
}

fn domain_text(domain: &Domain) -> String {
    let mut rows = Rows::new(&format!("domain {}", domain.name));
    let requirements: Vec<&str> = domain.requirements.iter().map(|r| r.keyword()).collect();
    rows.row(
        "requirements",
        if requirements.is_empty() {
            "none".to_owned()
        } else {
            requirements.join(" ")
        },
    );
    rows.row("types", domain.types.len() - 1);
    rows.row("constants", domain.constants.len());
    let widest = domain
        .predicates
        .iter()
        .map(|p| p.parameters.len())
        .max()
        .unwrap_or(0);
    rows.row(
        "predicates",
        format!("{}, of arity {widest} at the most", domain.predicates.len()),
    );
    rows.row("functions", domain.functions.len());
    rows.row("actions", domain.actions.len());
    rows.text
}

fn problem_text(problem: &Problem) -> String {
    let mut rows = Rows::new(&format!("problem {}", problem.name));
    rows.row("objects", problem.objects.len());
    rows.row("initial facts", problem.init.len());
    rows.row(
        "goals",
        problem.goal.literals.len() + problem.goal.equalities.len() + problem.goal.formulas.len(),
    );
    rows.row(
        "metric",
        if problem.minimize_cost {
            "total cost"
        } else {
            "plan length"
        },
    );
    rows.text
}
