//! `homing validate`.

use homing::input::{defines, read_bytes};
use homing_planner::Plan;

use crate::args::Validate;
use crate::exit::{Exit, Failure};
use crate::input::{Warnings, domain_and_problem, load_problem};
use crate::output::print;

pub(crate) fn run(arguments: &Validate) -> anyhow::Result<Exit> {
    let [files @ .., plan_path] = arguments.files.as_slice() else {
        unreachable!("one file is required");
    };
    if files.is_empty() {
        return Err(Failure::because(
            Exit::BadInput,
            "expected a problem and a plan\n\nUsage: homing validate [DOMAIN] PROBLEM PLAN",
        ));
    }
    if let Some(what) = defines(plan_path)?.filter(|what| what == "domain" || what == "problem") {
        return Err(Failure::because(
            Exit::BadInput,
            format!(
                "{} holds a {what}, where a plan is expected: the plan comes last",
                plan_path.display()
            ),
        ));
    }
    let (domain, problem) = domain_and_problem(files)?;
    let problem = load_problem(&domain, &problem, Warnings::Count)?;
    let bytes = read_bytes(plan_path)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::because(
            Exit::BadInput,
            format!("{} is not a text file", plan_path.display()),
        )
    })?;
    let plan = Plan::parse(&text).map_err(|error| {
        Failure::because(Exit::BadInput, format!("{}, {error}", plan_path.display()))
    })?;
    match plan.validate(&problem) {
        Ok(validated) => {
            print(&format!("Plan valid\nValue: {}\n", validated.cost))?;
            Ok(Exit::Success)
        }
        Err(error) => {
            print(&format!("Plan invalid\n{error}\n"))?;
            Ok(Exit::PlanInvalid)
        }
    }
}
