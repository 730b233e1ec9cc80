//! `homing solve`.

use std::time::{Duration, Instant};

use homing::files::PlanFile;
use homing::{LazyConfig, Outcome, SearchConfig, SolveLimits, SolveRecord, SolveRequest};
use homing_planner::search::Limit;

use crate::args::{Solve, simd_from_environment};
use crate::exit::Exit;
use crate::guard::{Bounds, Guard};
use crate::input::problem_source;
use crate::output::print;
use crate::watch::{SearchObserver, catch_signals};

impl Solve {
    /// What the flags ask for.
    pub(crate) fn request(&self) -> anyhow::Result<SolveRequest> {
        Ok(SolveRequest {
            problem: problem_source(&self.files)?,
            search: SearchConfig {
                search: self.search,
                heuristic: self.heuristic,
                model: self.model.clone(),
                weight: self.weight,
                unit_cost: self.unit_cost,
                threads: self.threads,
                lazy: LazyConfig {
                    landmarks: !self.no_landmarks,
                    preferred: !self.no_preferred,
                    by_type: self.by_type,
                    interchange: !self.no_interchange,
                    doomed: !self.keep_doomed,
                    boost: self.boost,
                    share: self.share,
                    novelty: self.novelty,
                    serial: self.serial,
                    descent: self.descent,
                },
                walk: self.walk,
                learn: self.learn,
                learn_config: self.learn_config.clone(),
                seed: self.seed,
                improve: self.improve,
                anytime: self.anytime,
                simd: simd_from_environment()?,
            },
            limits: SolveLimits {
                max_evaluations: self.max_evaluations,
                max_expansions: self.max_expansions,
                time_limit: self.time_limit,
                memory_limit: self.memory_limit,
            },
        })
    }
}

pub(crate) fn run(arguments: &Solve) -> anyhow::Result<Exit> {
    let start = Instant::now();
    catch_signals();
    let request = arguments.request()?;
    if arguments.anytime {
        return crate::anytime::run(arguments, &request, start);
    }
    let plan_file = arguments
        .plan_file
        .as_deref()
        .map(PlanFile::prepare)
        .transpose()?;
    let observer = SearchObserver::new(arguments.json, arguments.verbose)
        .with_debugger(arguments.search_tree_dump);
    let guard = guard(&request.limits, start, &observer, arguments.json);
    let record = homing::solve(&request, &observer);
    guard.dismiss();
    observer.finish();
    let record = record?;
    deliver(&record, plan_file.as_ref(), arguments.json)?;
    Ok(record.outcome.into())
}

/// A guard that writes the record, if it comes to that.
pub(crate) fn guard(
    limits: &SolveLimits,
    start: Instant,
    observer: &SearchObserver,
    json: bool,
) -> Guard {
    let seen = observer.seen();
    let bounds = Bounds {
        start,
        time: limits.time_limit.and_then(seconds),
        memory: limits.memory_limit,
    };
    // Plan files are left as they are: plans that were found on the way are written already.
    let end = move |outcome: Outcome| match seen.ended(outcome) {
        Some(record) => {
            let _ = deliver(&record, None, json);
            record.outcome.into()
        }
        None => outcome.into(),
    };
    Guard::set(bounds, Box::new(end))
}

/// A limit past the end of all clocks is none.
fn seconds(limit: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(limit).ok()
}

/// Writes the plan file, then everything else.
fn deliver(record: &SolveRecord, file: Option<&PlanFile>, json: bool) -> anyhow::Result<()> {
    let plan_text = record.plan_text.as_deref();
    let written = match (plan_text, file) {
        (Some(text), Some(file)) => file.write(text),
        _ => Ok(()),
    };
    // A plan that could not be written is shown instead: it may have taken hours.
    let show_plan = file.is_none() || written.is_err();
    if json {
        print(&(serde_json::to_string(record)? + "\n"))?;
    } else {
        print(&text(record, plan_text.filter(|_| show_plan)))?;
    }
    Ok(written?)
}

/// How the search ended, in words.
fn outcome_text(record: &SolveRecord) -> &'static str {
    match (record.outcome, record.limit) {
        (Outcome::Solved, _) => "Solution found!",
        (Outcome::Unsolvable, _) => "There is no plan: the problem is unsolvable.",
        (Outcome::Limit, Some(Limit::Expansions)) => {
            "No plan found: the limit on expansions was reached."
        }
        (Outcome::Limit, _) => "No plan found: the limit on evaluations was reached.",
        (Outcome::TimeLimit, _) => "No plan found: the time limit was reached.",
        (Outcome::MemoryLimit, _) => "No plan found: the memory limit was reached.",
        (Outcome::Interrupted, _) => "No plan found: interrupted.",
    }
}

/// The summary, in the lines that the field's tools read.
pub(crate) fn text(record: &SolveRecord, plan: Option<&str>) -> String {
    let mut text = String::new();
    let mut line = |content: String| {
        text.push_str(&content);
        text.push('\n');
    };
    line(outcome_text(record).to_owned());
    if let Some(length) = record.plan_length {
        if let Some(plan) = plan {
            line(plan.trim_end().to_owned());
        }
        line(format!("Plan length: {length} step(s)."));
        line(format!("Plan cost: {}", record.plan_cost.unwrap_or(0)));
    }
    if record.evaluations > 0 {
        let estimate = record
            .initial_h
            .map_or_else(|| "infinite".to_owned(), |value| value.to_string());
        line(format!(
            "Initial heuristic value for {}: {estimate}",
            record.heuristic.as_deref().unwrap_or_default()
        ));
    }
    if let Some(learned) = &record.learned {
        let lessons = match learned.lessons {
            0 | 1 => String::new(),
            lessons => format!(", lesson {lessons}"),
        };
        line(format!(
            "Learnt from {} small problems cut out of this one{lessons}, in {:.1} s.",
            learned.cuts,
            learned.cut_seconds + learned.fit_seconds
        ));
    }
    line(format!("Expanded {} state(s).", record.expansions));
    line(format!("Reopened {} state(s).", record.reopened));
    line(format!("Evaluated {} state(s).", record.evaluations));
    line(format!("Evaluations: {}", record.evaluations));
    if record.scored > 0 {
        line(format!("Scored {} successor(s).", record.scored));
    }
    line(format!("Generated {} state(s).", record.generated));
    line(format!("Dead ends: {} state(s).", record.dead_ends));
    line(format!(
        "Stored states: {} of {} bytes",
        record.stored, record.bytes_per_state
    ));
    line(format!("Peak open list: {}", record.peak_open));
    line(format!("Search time: {:.6}s", record.search_cpu_seconds));
    line(format!("Total time: {:.6}s", record.total_cpu_seconds));
    if let Some(peak) = record.peak_memory_kb {
        line(format!("Peak memory: {peak} KB"));
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use homing::{LearnWhen, ProblemSource};
    use homing_planner::search::Walk;
    use homing_planner::{HeuristicKind, SearchKind};

    use super::*;
    use crate::args::{Cli, Command};

    /// What the library asks of a process is what the command understands.
    #[test]
    fn a_request_survives_the_way_through_the_command_line() {
        for search in SearchKind::ALL {
            for heuristic in HeuristicKind::ALL {
                let with_model = heuristic == HeuristicKind::Ff;
                let request = SolveRequest {
                    problem: ProblemSource::files("d.pddl", "p.pddl"),
                    search: SearchConfig {
                        search,
                        // One that is not asked has its default.
                        heuristic: if search.uses_heuristic() {
                            heuristic
                        } else {
                            HeuristicKind::default()
                        },
                        model: with_model.then(|| "m.safetensors".into()),
                        weight: if search.uses_weight() { 3.5 } else { 2.0 },
                        unit_cost: with_model,
                        threads: std::num::NonZeroUsize::new(2).filter(|_| with_model),
                        lazy: if search == SearchKind::Lazy {
                            LazyConfig {
                                landmarks: with_model,
                                preferred: with_model,
                                by_type: with_model,
                                interchange: with_model,
                                doomed: with_model,
                                boost: 7,
                                share: 0.25,
                                novelty: 0.125,
                                serial: 0.375,
                                descent: 0.25,
                            }
                        } else {
                            LazyConfig::default()
                        },
                        learn: if search == SearchKind::Lazy {
                            LearnWhen::First
                        } else {
                            LearnWhen::Auto
                        },
                        learn_config: (search == SearchKind::Lazy).then(|| "l.toml".into()),
                        walk: if search.uses_policy() {
                            Walk::Best
                        } else {
                            Walk::Sample
                        },
                        seed: if search == SearchKind::Lazy || search.uses_policy() {
                            5
                        } else {
                            0
                        },
                        improve: with_model,
                        anytime: with_model,
                        simd: None,
                    },
                    limits: SolveLimits {
                        max_evaluations: Some(7),
                        max_expansions: with_model.then_some(8),
                        time_limit: Some(1.25),
                        memory_limit: Some(9 << 20),
                    },
                };
                let arguments = homing::child::solve_arguments(&request, None);
                let cli = Cli::try_parse_from(std::iter::once("homing".into()).chain(arguments));
                let Command::Solve(solve) = cli.expect("it is understood").command else {
                    panic!("another command");
                };
                assert!(solve.json);
                assert_eq!(solve.request().expect("a request"), request);
            }
        }
    }
}
