//! The child's side: carries out one job and writes events, a JSON object a line.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use homing::{
    Error, Learner, Notice, Observer, Outcome, PlanningProgress, ProblemSource, SolveRecord,
    TrainEnd, TrainRequest,
};
use homing_lab::Parameters;
use homing_lab::suite::{Draw, draw};
use homing_learner::{LearnProgress, StepRecord};
use homing_planner::{Met, Plan, Progress, StateId, Task, Verdict};
use serde_json::{Value, json};

use crate::debugger::Debugger;
use crate::findings;
use crate::job::{Event, Finding, Job, StateKind};
use crate::model;
use crate::replay::{grounded, replay};

/// States past this many are not told: a picture has no room for them.
const MOST_STATES: usize = 30_000;

/// Events about the same are this far apart.
const BETWEEN_EVENTS: Duration = Duration::from_millis(100);

/// Where events go.
#[derive(Clone)]
pub struct Events(Arc<Mutex<Box<dyn Write + Send>>>);

impl Events {
    /// To this place.
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        Self(Arc::new(Mutex::new(out)))
    }

    /// Writes an event. Where nobody reads any more there is nobody to tell.
    pub fn tell(&self, event: &Event) {
        let Ok(mut line) = serde_json::to_vec(event) else {
            return;
        };
        line.push(b'\n');
        let mut out = self.0.lock().expect("no thread panics here");
        let _ = out.write_all(&line).and_then(|()| out.flush());
    }

    fn fail(&self, message: impl Into<String>) {
        self.tell(&Event::Failed {
            message: message.into(),
            diagnostics: Vec::new(),
        });
    }
}

/// Carries out a job. The last event is [`Event::Done`] or [`Event::Failed`].
pub fn carry_out(job: Job, events: &Events) {
    let result = match job {
        Job::Check { domain, problems } => Ok(json!(findings::check(&domain, &problems))),
        Job::Solve {
            request,
            trace,
            debugger,
        } => solve(&request, trace, debugger, events),
        Job::Replay {
            domain,
            problem,
            plan,
        } => replay_text(domain, problem, &plan),
        Job::Generate {
            domain,
            sizes,
            seed,
            count,
        } => generate(domain, &sizes, seed, count),
        Job::Train {
            domain,
            problems,
            learner,
            seed,
            out,
        } => train(&domain, &problems, learner, seed, out, events),
        Job::Model { model } => model::describe(&model),
    };
    match result {
        Ok(result) => events.tell(&Event::Done { result }),
        Err(Error::Pddl(diagnostics)) => {
            let diagnostics = findings::all(&diagnostics);
            let errors = diagnostics.iter().filter(|one| one.severity == "error");
            let sentences: Vec<String> = errors.map(Finding::sentence).collect();
            events.tell(&Event::Failed {
                message: sentences.join("\n"),
                diagnostics,
            });
        }
        Err(error) => events.fail(without_paths(&error)),
    }
}

/// What a client may know: names of files are the server's own affair.
fn without_paths(error: &Error) -> String {
    match error {
        Error::Read { .. } | Error::Write { .. } | Error::BadFile { .. } => {
            "a file of the server cannot be used".to_owned()
        }
        Error::Model { error, .. } => error.to_string(),
        Error::Train { error, .. } => error.to_string(),
        Error::Ground { error, .. } => error.to_string(),
        Error::Swapped { .. } => {
            "domain and problem are swapped: the first text holds a problem, the second a domain"
                .to_owned()
        }
        error => error.to_string(),
    }
}

fn solve(
    request: &homing::SolveRequest,
    trace: bool,
    debugger: Option<u16>,
    events: &Events,
) -> Result<Value, Error> {
    let teller = Teller::new(events, trace, debugger);
    let record = homing::solve(request, &teller)?;
    teller.flush();
    let mut result = json!(record);
    result["summary"] = json!(summary(&record));
    result["plan_text"] = json!(plan_text(&record));
    if let Some(steps) = &record.plan {
        let problem = request.problem.load()?.value;
        let plan = Plan::parse(&steps.join("\n")).map_err(|error| Error::Bug(error.to_string()))?;
        let texts = plan.steps.iter().map(|step| grounded(&problem, step));
        result["actions"] = json!(texts.collect::<Vec<_>>());
        result["replay"] = replay(&problem, &plan);
    }
    Ok(result)
}

/// A plan as editors read it: counts before the steps, and the cost at the end of its line.
fn plan_text(record: &SolveRecord) -> Option<String> {
    let steps = record.plan.as_ref()?;
    let mut text = format!("; States evaluated: {}\n", record.evaluations);
    text.push_str(&format!("; cost = {}\n", record.plan_cost.unwrap_or(0)));
    for step in steps {
        text.push_str(step);
        text.push('\n');
    }
    Some(text)
}

fn summary(record: &SolveRecord) -> String {
    let mut text = match record.outcome {
        Outcome::Solved => "Solution found.",
        Outcome::Unsolvable => "There is no plan: the problem is unsolvable.",
        Outcome::Limit => "No plan found: a limit was reached.",
        Outcome::TimeLimit => "No plan found: the time limit was reached.",
        Outcome::MemoryLimit => "No plan found: the memory limit was reached.",
        Outcome::Interrupted => "No plan found: interrupted.",
    }
    .to_owned();
    if let (Some(length), Some(cost)) = (record.plan_length, record.plan_cost) {
        text.push_str(&format!(
            "\nPlan length: {length} step(s).\nPlan cost: {cost}"
        ));
    }
    text.push_str(&format!(
        "\nExpanded {} state(s).\nEvaluated {} state(s).\nSearch time: {:.3}s\nTotal time: {:.3}s\n",
        record.expansions, record.evaluations, record.search_seconds, record.total_seconds
    ));
    text
}

fn replay_text(domain: String, problem: String, plan: &str) -> Result<Value, Error> {
    let loaded = ProblemSource::Text { domain, problem }.load()?;
    match Plan::parse(plan) {
        Ok(plan) => Ok(replay(&loaded.value, &plan)),
        Err(error) => Ok(json!({
            "valid": false, "error": error.to_string(), "at_line": error.line, "steps": [],
        })),
    }
}

fn generate(
    domain: homing_lab::DomainName,
    sizes: &str,
    seed: u64,
    count: u64,
) -> Result<Value, Error> {
    let parameters = Parameters::from_label(domain, sizes).ok_or_else(|| {
        Error::Request(format!(
            "`{sizes}` is no size of {domain}; docs/domains.md says what is"
        ))
    })?;
    let draws: Vec<Draw> = (seed..seed.saturating_add(count.min(200)))
        .map(|seed| Draw { parameters, seed })
        .collect();
    let drawn = draw(&draws, |_| {}).map_err(|error| Error::Request(error.to_string()))?;
    let problems = drawn.instances.iter().map(
        |instance| json!({"name": instance.draw.file(), "text": instance.problem.to_string()}),
    );
    Ok(json!({"domain": domain.text(), "problems": problems.collect::<Vec<_>>()}))
}

fn train(
    domain: &str,
    problems: &[String],
    learner: Learner,
    seed: u64,
    out: std::path::PathBuf,
    events: &Events,
) -> Result<Value, Error> {
    let failed = |error: std::io::Error| Error::Request(format!("cannot keep problems: {error}"));
    let parent = homing::files::parent(&out);
    let folder = tempfile::tempdir_in(parent).map_err(failed)?;
    let mut files = vec![folder.path().join("domain.pddl")];
    std::fs::write(&files[0], domain).map_err(failed)?;
    for (index, problem) in problems.iter().enumerate() {
        // So that their mistakes are told with their places, and the names stay ours.
        let source = ProblemSource::Text {
            domain: domain.to_owned(),
            problem: problem.clone(),
        };
        source.load()?;
        let file = folder.path().join(format!("p{index:03}.pddl"));
        std::fs::write(&file, problem).map_err(failed)?;
        files.push(file);
    }
    let mut teller = Teller::new(events, false, None);
    if let Learner::Nlm(training) = &learner {
        teller.steps = training.config.steps;
    }
    let request = TrainRequest {
        learner,
        seed,
        ..TrainRequest::new(files, &out)
    };
    match homing::train(&request, &teller)? {
        TrainEnd::Trained(_) | TrainEnd::AlreadyThere(_) => {
            teller.flush();
            model::describe(&crate::job::ModelPlace::File(out))
        }
        TrainEnd::Stopped { .. } => Err(Error::Request("training was stopped".to_owned())),
    }
}

/// Tells a client what the library shows.
struct Teller<'e> {
    events: &'e Events,
    trace: bool,
    debugger: Option<Debugger>,
    steps: u64,
    state: Mutex<TellerState>,
}

struct TellerState {
    last: Instant,
    states: Vec<(u32, i64, StateKind, Option<f64>, u32)>,
    /// By state: how deep it is.
    depths: std::collections::HashMap<StateId, u32>,
    told: usize,
    /// Points of the curve that are still to be told: step, goals, loss.
    points: Vec<(u64, u64, Option<f64>)>,
    /// The losses since the last point, as sum and number.
    losses: (f64, u32),
}

/// Points of a curve of training. They are taken by steps and not by the clock: a short run has a curve
/// too, and the same one each time.
const POINTS: u64 = 150;

impl<'e> Teller<'e> {
    fn new(events: &'e Events, trace: bool, debugger: Option<u16>) -> Self {
        Self {
            events,
            trace,
            debugger: debugger.map(Debugger::new),
            steps: 0,
            state: Mutex::new(TellerState {
                last: Instant::now(),
                states: Vec::new(),
                depths: std::collections::HashMap::new(),
                told: 0,
                points: Vec::new(),
                losses: (0.0, 0),
            }),
        }
    }

    fn flush(&self) {
        let mut state = self.state.lock().expect("no thread panics here");
        state.flush(self.events, self.steps);
    }
}

impl TellerState {
    fn flush(&mut self, events: &Events, of: u64) {
        self.last = Instant::now();
        if !self.states.is_empty() {
            let states = std::mem::take(&mut self.states);
            events.tell(&Event::States { states });
        }
        if !self.points.is_empty() {
            let steps = std::mem::take(&mut self.points);
            events.tell(&Event::Steps { steps, of });
        }
    }
}

impl Observer for Teller<'_> {
    fn notice(&self, notice: &Notice) {
        let text = match notice {
            Notice::Warnings(diagnostics) => {
                let findings = findings::all(diagnostics);
                let sentences: Vec<String> = findings.iter().map(Finding::sentence).collect();
                sentences.join("\n")
            }
            Notice::Grounded { size, .. } => format!(
                "grounded: {} actions, {} propositions",
                size.actions, size.propositions
            ),
            Notice::LearnedHere(learned) if learned.lessons > 1 => format!(
                "still no plan; learnt anew from {} other small problems, lesson {}",
                learned.cuts, learned.lessons
            ),
            Notice::LearnedHere(learned) => format!(
                "no plan yet; learnt from {} small problems cut out of this one, and searching on \
                 with that",
                learned.cuts
            ),
            Notice::Unsolvable(error) | Notice::NotGrounded(error) => error.to_string(),
            Notice::LeftOut { error, .. } => format!("a problem is left out: {error}"),
            Notice::Raised { field, value } => format!(
                "{field} is raised to {value}, the least with which a network can read this domain"
            ),
            Notice::ModelShips { name } => format!("a model ships for this domain: {name}"),
            Notice::LowTrust { share } => format!(
                "the model has seen {:.0} % of what is in this problem",
                100.0 * share
            ),
            Notice::FewWalked(data) => format!(
                "only {} of the problems could be walked through, {} are too large: smaller ones \
                 help",
                data.walked, data.too_large
            ),
            Notice::SelectsBySuite { taken, of, domain } => format!(
                "snapshots are tried on {taken} of the {of} validation problems of {domain}"
            ),
        };
        self.events.tell(&Event::Notice { text });
    }

    fn planning(&self, planning: &PlanningProgress) {
        let (text, evaluations, best) = match planning.progress {
            Progress::Reading => ("reading".to_owned(), 0, None),
            Progress::Grounding { actions } => (format!("grounding: {actions} actions"), 0, None),
            Progress::Building { what } => (format!("building {what}"), 0, None),
            Progress::Cutting { cuts, .. } => (format!("cutting: {cuts} small problems"), 0, None),
            Progress::Landmarks { found } => (format!("landmarks: {found}"), 0, None),
            Progress::Improving { cost } => (format!("improving a plan of cost {cost}"), 0, None),
            Progress::Search {
                evaluations,
                expansions,
                best,
            } => (
                format!("searching: {evaluations} evaluations, {expansions} expansions"),
                evaluations,
                best,
            ),
        };
        self.events.tell(&Event::Progress {
            text,
            evaluations,
            best,
        });
    }

    fn met(&self, task: &Task, met: Met) {
        if let Some(debugger) = &self.debugger {
            debugger.met(task, met);
        }
        if !self.trace {
            return;
        }
        let mut state = self.state.lock().expect("no thread panics here");
        if state.told >= MOST_STATES && met.verdict != Verdict::Goal {
            return;
        }
        let parent = met.reached.map(|(parent, _)| parent);
        let depth = parent.map_or(0, |parent| {
            state.depths.get(&parent).map_or(0, |depth| depth + 1)
        });
        state.depths.insert(met.state, depth);
        state.told += 1;
        let (kind, value) = match met.verdict {
            Verdict::Estimate(h) => (StateKind::Estimate, Some(h)),
            Verdict::Score(score) => (StateKind::Score, Some(score as f64)),
            Verdict::DeadEnd => (StateKind::Dead, None),
            Verdict::Goal => (StateKind::Goal, Some(0.0)),
        };
        let parent = parent.map_or(-1, |parent| parent.index() as i64);
        state
            .states
            .push((met.state.index() as u32, parent, kind, value, depth));
        if state.states.len() >= 4096 || state.last.elapsed() > BETWEEN_EVENTS {
            state.flush(self.events, self.steps);
        }
    }

    fn training_step(&self, _seed: u64, record: &StepRecord) {
        let mut state = self.state.lock().expect("no thread panics here");
        if let Some(sgd) = record.sgd {
            state.losses.0 += sgd.loss;
            state.losses.1 += 1;
        }
        let every = self.steps.div_ceil(POINTS).max(1);
        if record.step.is_multiple_of(every) || record.step == self.steps {
            let (sum, count) = std::mem::take(&mut state.losses);
            let loss = (count > 0).then(|| sum / f64::from(count));
            state.points.push((record.step, record.goals, loss));
        }
        if state.last.elapsed() > BETWEEN_EVENTS {
            state.flush(self.events, self.steps);
        }
    }

    fn learning(&self, _seed: u64, progress: &LearnProgress) {
        let text = match progress {
            LearnProgress::Gathered(report) => format!(
                "{} problems walked through, {} states",
                report.walked, report.states
            ),
            LearnProgress::Fitted { name, fit } => {
                let right = fit.accuracy.iter().copied().fold(0.0, f64::max);
                format!(
                    "{name}: {} features, {:.1} % of pairs in order",
                    fit.features,
                    100.0 * right
                )
            }
            LearnProgress::Compared { record, of } => {
                format!(
                    "{}: {} solved; {of} candidates in all",
                    record.name, record.solved
                )
            }
        };
        self.events.tell(&Event::Progress {
            text,
            evaluations: 0,
            best: None,
        });
    }
}
