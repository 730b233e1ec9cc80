//! Ctrl-C, and looking on at what the library does.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use homing::{Notice, Observer, Outcome, PlanFound, PlanningProgress, SolveRecord, Underway};
use homing_planner::{Met, Progress, Task};
use homing_serve::Debugger;

use crate::exit::Exit;
use crate::guard::{Bounds, Guard};
use crate::input::{Warnings, show_warnings};
use crate::output::{clear_line, say, show_line};

/// When Ctrl-C was pressed.
static INTERRUPTED: OnceLock<Instant> = OnceLock::new();

/// The guard of a command that has nothing to print when it is ended.
static GUARD: OnceLock<Guard> = OnceLock::new();

/// Lets Ctrl-C end the work cleanly, and at once if the work does not see to it soon or it is
/// pressed again.
pub(crate) fn catch_interrupts() {
    catch_interrupts_within(None);
}

/// What is said where a limit on memory ends the work.
pub(crate) const MEMORY: &str = "the memory limit was reached";

/// The same, and ends the work if so many bytes are in use and it does not see to it soon.
pub(crate) fn catch_interrupts_within(memory: Option<u64>) {
    catch_signals();
    let end = |outcome| {
        let why = match outcome {
            Outcome::MemoryLimit => MEMORY,
            _ => "interrupted",
        };
        say(&format!("homing: {why}\n"));
        outcome.into()
    };
    let bounds = Bounds {
        memory,
        ..Bounds::none()
    };
    GUARD.get_or_init(|| Guard::set(bounds, Box::new(end)));
}

/// The work of a command that catches interrupts has seen that it is to end.
pub(crate) fn finishing() {
    if let Some(guard) = GUARD.get() {
        guard.finishing();
    }
}

/// Takes note of Ctrl-C and its like; a second one ends the process at once.
pub(crate) fn catch_signals() {
    let handler = || {
        if INTERRUPTED.set(Instant::now()).is_err() {
            std::process::exit(Exit::Interrupted as i32);
        }
    };
    // Without a handler Ctrl-C ends the program as ever: no reason to stop here.
    let _ = ctrlc::set_handler(handler);
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    interrupted_since().is_some()
}

/// When Ctrl-C was pressed.
pub(crate) fn interrupted_since() -> Option<Instant> {
    INTERRUPTED.get().copied()
}

/// To be called first thing: a run that works for another process ends with it, even if that is
/// killed without a chance to say so.
pub(crate) fn follow_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, getppid, set_parent_process_death_signal};
        let parent = std::env::var(homing::child::PARENT_VARIABLE)
            .ok()
            .and_then(|text| text.parse().ok());
        let Some(parent): Option<i32> = parent else {
            return;
        };
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        // It may have ended before the line above.
        if getppid().is_none_or(|now| now.as_raw_nonzero().get() != parent) {
            std::process::exit(Exit::Interrupted as i32);
        }
    }
}

/// Tells on standard error what the library wants to be known.
pub(crate) fn tell(notice: &Notice) {
    match notice {
        Notice::Warnings(diagnostics) => show_warnings(diagnostics, Warnings::Show),
        Notice::Grounded {
            size,
            reading,
            grounding,
        } => say(&format!(
            "read in {:.3} s, grounded in {:.3} s: {} actions, {} propositions in {} variables, {} bytes a state\n",
            reading.as_secs_f64(),
            grounding.as_secs_f64(),
            size.actions,
            size.propositions,
            size.variables,
            size.bytes_per_state,
        )),
        Notice::LearnedHere(learned) if learned.lessons > 1 => say(&format!(
            "homing: still no plan; learnt anew from {} other small problems, lesson {}\n",
            learned.cuts, learned.lessons
        )),
        Notice::LearnedHere(learned) => say(&format!(
            "homing: no plan yet; learnt from {} small problems cut out of this one in {:.1} s, and \
             searching on with that\n",
            learned.cuts,
            learned.cut_seconds + learned.fit_seconds
        )),
        Notice::Unsolvable(error) => say(&format!("{error}\n")),
        Notice::NotGrounded(error) => say(&format!("homing: {error}\n")),
        Notice::LeftOut { file, error } => say(&format!(
            "homing: {} is left out: {error}\n",
            file.display()
        )),
        Notice::Raised { field, value } => say(&format!(
            "homing: {field} is raised to {value}, the least with which a network can read this domain\n"
        )),
        Notice::ModelShips { name } => say(&format!(
            "homing has a model for this domain, {name}: --model auto takes it\n"
        )),
        Notice::LowTrust { share } => say(&format!(
            "homing: the model has seen {:.0} % of what is in this problem: what it says of the rest \
             counts for nothing\n",
            100.0 * share
        )),
        Notice::FewWalked(data) => say(&format!(
            "homing: only {} of the problems could be walked through, {} are too large: what was \
             learnt comes from them and from {} cut out of larger ones, and may say little; smaller \
             problems help, and so may a larger --budget\n",
            data.walked, data.too_large, data.cuts
        )),
        Notice::SelectsBySuite { taken, of, domain } => say(&format!(
            "homing: snapshots are tried on {taken} of the {of} problems of `homing generate --suite validation --domain {domain}`\n"
        )),
    }
}

/// Looks on at grounding and search: shows a line of progress, if standard error is a terminal.
pub(crate) struct SearchObserver {
    show: bool,
    verbose: bool,
    shown: Mutex<bool>,
    seen: Arc<Seen>,
    debugger: Option<Debugger>,
}

/// What was seen of a request last: enough for its record, if it is ended from outside.
#[derive(Default)]
pub(crate) struct Seen {
    underway: Mutex<Option<Underway>>,
    progress: Mutex<Option<Progress>>,
    plans: Mutex<Vec<PlanFound>>,
}

impl Seen {
    /// The record of the request if it ends now.
    pub(crate) fn ended(&self, outcome: Outcome) -> Option<SolveRecord> {
        let progress = *self.progress.lock().expect("no thread panics here");
        let underway = self.underway.lock().expect("no thread panics here");
        let underway = underway.as_ref()?;
        let record = underway.ended(outcome, progress.as_ref());
        let plans = self.plans.lock().expect("no thread panics here");
        Some(record.with_plans(&plans))
    }
}

impl SearchObserver {
    /// `quiet` shows no line of progress, `verbose` says more than usual.
    pub(crate) fn new(quiet: bool, verbose: bool) -> Self {
        Self {
            show: !quiet && std::io::stderr().is_terminal(),
            verbose,
            shown: Mutex::new(false),
            seen: Arc::default(),
            debugger: None,
        }
    }

    /// Posts the states of the search to a debugger at this port.
    pub(crate) fn with_debugger(mut self, port: Option<u16>) -> Self {
        self.debugger = port.map(Debugger::new);
        self
    }

    /// What it sees, for others.
    pub(crate) fn seen(&self) -> Arc<Seen> {
        Arc::clone(&self.seen)
    }

    /// Takes the line of progress away.
    pub(crate) fn finish(&self) {
        let mut shown = self.shown.lock().expect("no thread panics here");
        if std::mem::take(&mut *shown) {
            clear_line();
        }
    }
}

impl Observer for SearchObserver {
    fn stopped(&self) -> bool {
        interrupted()
    }

    fn notice(&self, notice: &Notice) {
        self.finish();
        match notice {
            Notice::Warnings(diagnostics) if !self.verbose => {
                show_warnings(diagnostics, Warnings::Count);
            }
            Notice::Grounded { .. } if !self.verbose => {}
            notice => tell(notice),
        }
    }

    fn underway(&self, underway: &Underway) {
        *self.seen.underway.lock().expect("no thread panics here") = Some(underway.clone());
    }

    fn met(&self, task: &Task, met: Met) {
        if let Some(debugger) = &self.debugger {
            debugger.met(task, met);
        }
    }

    fn looks_at_states(&self) -> bool {
        self.debugger.is_some()
    }

    /// For a person who looks on; a script has decided.
    fn takes_hints(&self) -> bool {
        self.verbose || self.show
    }

    fn plan_found(&self, _number: usize, plan: &PlanFound) {
        let mut plans = self.seen.plans.lock().expect("no thread panics here");
        plans.push(plan.clone());
    }

    fn planning(&self, planning: &PlanningProgress) {
        *self.seen.progress.lock().expect("no thread panics here") = Some(planning.progress);
        if self.show {
            show_line(&line(planning));
            *self.shown.lock().expect("no thread panics here") = true;
        }
    }
}

fn line(planning: &PlanningProgress) -> String {
    let elapsed = planning.elapsed.as_secs_f64();
    match planning.progress {
        Progress::Grounding { actions } => {
            format!("grounding: {actions} actions, {elapsed:.1} s")
        }
        Progress::Reading => format!("reading, {elapsed:.1} s"),
        Progress::Building { what } => format!("building {what}, {elapsed:.1} s"),
        Progress::Improving { cost } => format!("improving a plan of cost {cost}, {elapsed:.1} s"),
        Progress::Landmarks { found } => format!("landmarks: {found}, {elapsed:.1} s"),
        Progress::Cutting { cuts, states } => {
            format!("cutting: {cuts} small problems, {states} states, {elapsed:.1} s")
        }
        Progress::Search {
            evaluations,
            expansions,
            best,
        } => {
            let (work, unit) = if evaluations > 1 {
                (evaluations, "evaluations")
            } else {
                (expansions, "expansions")
            };
            let rate = work as f64 / planning.searching.as_secs_f64().max(0.01);
            let best = best.map_or_else(String::new, |best| format!(", best h {best}"));
            format!("search: {work} {unit}{best}, {rate:.0}/s, {elapsed:.1} s")
        }
    }
}
