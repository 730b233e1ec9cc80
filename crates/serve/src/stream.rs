//! `/work`, for the page: a job in, its events out as they come, a JSON object a line. A client that
//! breaks off ends the job.

use std::sync::Arc;

use homing::Learner;
use homing::train::within_budget;
use homing_lab::DomainName;
use homing_learner::TrainConfig;
use homing_planner::HeuristicKind;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::child::{self, End};
use crate::choices::solve_request;
use crate::http::{Connection, Reply, Request};
use crate::job::{Event, Job};
use crate::server::{Lane, Shared};

/// Problems of a training, at the most.
const MOST_PROBLEMS: usize = 500;

/// What the page asks for.
#[derive(Debug, Deserialize)]
#[serde(tag = "job", rename_all = "kebab-case")]
enum Ask {
    Check {
        domain: String,
        #[serde(default)]
        problems: Vec<String>,
    },
    Solve {
        #[serde(default)]
        trace: bool,
        #[serde(flatten)]
        fields: Map<String, Value>,
    },
    Replay {
        domain: String,
        problem: String,
        plan: String,
    },
    Generate {
        domain: DomainName,
        sizes: String,
        #[serde(default)]
        seed: u64,
        count: u64,
    },
    Train(Training),
    Model {
        model: String,
    },
}

#[derive(Debug, Deserialize)]
struct Training {
    domain: String,
    problems: Vec<String>,
    #[serde(default)]
    learner: LearnerName,
    #[serde(default)]
    heuristic: Option<HeuristicKind>,
    #[serde(default)]
    steps: Option<u64>,
    #[serde(default)]
    budget: Option<f64>,
    #[serde(default)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LearnerName {
    #[default]
    Counts,
    Nlm,
}

impl Training {
    fn learner(&self) -> Learner {
        match self.learner {
            LearnerName::Counts => {
                let budget = self.budget.filter(|budget| budget.is_finite());
                Learner::Counts(Box::new(within_budget(
                    budget.unwrap_or(20.0).clamp(1.0, 600.0),
                )))
            }
            LearnerName::Nlm => {
                let usual = TrainConfig::default();
                let config = TrainConfig {
                    steps: self.steps.unwrap_or(1_000).clamp(1, 1_000_000),
                    heuristic: self.heuristic.unwrap_or(usual.heuristic),
                    ..usual
                };
                let training = homing::NlmTraining {
                    config,
                    checkpoint_every: 0,
                    log: false,
                    ..homing::NlmTraining::default()
                };
                Learner::Nlm(Box::new(training))
            }
        }
    }
}

/// A job, and the model that it will have made.
fn job(shared: &Shared, ask: Ask) -> Result<(Job, Lane, Option<String>), String> {
    let options = &shared.options;
    Ok(match ask {
        Ask::Check { domain, problems } => (Job::Check { domain, problems }, Lane::Quick, None),
        Ask::Replay {
            domain,
            problem,
            plan,
        } => {
            let job = Job::Replay {
                domain,
                problem,
                plan,
            };
            (job, Lane::Quick, None)
        }
        Ask::Generate {
            domain,
            sizes,
            seed,
            count,
        } => {
            let job = Job::Generate {
                domain,
                sizes,
                seed,
                count,
            };
            (job, Lane::Quick, None)
        }
        Ask::Model { model } => {
            let place = shared.models.find(&model);
            let model = place.ok_or_else(|| format!("there is no model `{model}` here"))?;
            (Job::Model { model }, Lane::Quick, None)
        }
        Ask::Solve { trace, fields } => {
            let (longest, memory) = (options.time_limit, options.memory_limit);
            let job = Job::Solve {
                request: Box::new(solve_request(&fields, &shared.models, longest, memory)?),
                trace,
                debugger: None,
            };
            (job, Lane::Long, None)
        }
        Ask::Train(training) => {
            if training.problems.is_empty() || training.problems.len() > MOST_PROBLEMS {
                return Err(format!("training takes 1 to {MOST_PROBLEMS} problems"));
            }
            let learner = training.learner();
            let (name, out) = shared.models.begin();
            let job = Job::Train {
                learner,
                domain: training.domain,
                problems: training.problems,
                seed: training.seed,
                out,
            };
            (job, Lane::Long, Some(name))
        }
    })
}

/// Answers `/work`.
pub(crate) fn work(
    shared: &Arc<Shared>,
    request: &Request,
    mut connection: Connection,
    headers: &[(&'static str, String)],
) {
    let ask = connection.json::<Ask>(request);
    let (job, lane, model) = match ask.and_then(|ask| job(shared, ask)) {
        Ok(job) => job,
        Err(message) => return connection.reply(&Reply::error(400, &message)),
    };
    let Ok(mut turn) = shared.join(lane, request.body.len()) else {
        let message = "too many requests wait already; try again later";
        return connection.reply(&Reply::error(429, message));
    };
    if !connection.begin_stream(headers) {
        return;
    }
    let mut last_ahead = None;
    let came = turn.wait(&mut |ahead| {
        if shared.stopped() || connection.gone() {
            return false;
        }
        // Nobody is told of a wait that is over at once.
        if ahead > 0 && last_ahead != Some(ahead) {
            last_ahead = Some(ahead);
            return tell(&mut connection, &json!(Event::Queued { ahead }));
        }
        true
    });
    if !came {
        return;
    }
    if let Some(name) = &model {
        tell(&mut connection, &json!({"event": "model", "name": name}));
    }
    let limits = shared.limits(&job);
    let workshop = &shared.workshop;
    let mut domain = None;
    let end = child::run(
        &workshop.command,
        &workshop.folder,
        &job,
        &limits,
        &mut |line| {
            let Some(line) = line else {
                return !shared.stopped() && !connection.gone();
            };
            if model.is_some()
                && let Ok(Event::Done { result }) = serde_json::from_str(line)
            {
                domain = result["domain"].as_str().map(str::to_owned);
            }
            // Known before its client can ask for it.
            if let (Some(name), Some(domain)) = (&model, domain.take()) {
                shared.models.finish(name.clone(), domain);
            }
            connection.part(line.as_bytes()) && connection.part(b"\n")
        },
    );
    if let End::Lost(message) = end {
        tell(&mut connection, &json!(child::failed(message)));
    }
    connection.end();
}

fn tell(connection: &mut Connection, event: &Value) -> bool {
    connection.part(format!("{event}\n").as_bytes())
}
