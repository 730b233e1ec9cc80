//! `homing solve --anytime`: each better plan is written and shown at once.

use std::sync::Mutex;
use std::time::Instant;

use homing::files::NumberedPlanFiles;
use homing::{Error, Notice, Observer, PlanFound, PlanningProgress, SolveRequest, Underway};

use crate::args::Solve;
use crate::exit::Exit;
use crate::output::{print, say};
use crate::solve::{guard, text};
use crate::watch::SearchObserver;

pub(crate) fn run(
    arguments: &Solve,
    request: &SolveRequest,
    start: Instant,
) -> anyhow::Result<Exit> {
    let files = arguments.plan_file.as_deref();
    let files = files.map(NumberedPlanFiles::prepare).transpose()?;
    let observer = Plans {
        inner: SearchObserver::new(arguments.json, arguments.verbose)
            .with_debugger(arguments.search_tree_dump),
        files,
        show: !arguments.json,
        failed: Mutex::new(None),
    };
    let guard = guard(&request.limits, start, &observer.inner, arguments.json);
    let record = homing::solve(request, &observer);
    guard.dismiss();
    observer.inner.finish();
    let record = record?;
    let failed = observer.failed.into_inner().expect("no thread panics here");
    // A plan that could not be written is shown instead: it may have taken hours.
    let show_plan = observer.files.is_none() || failed.is_some();
    if arguments.json {
        print(&(serde_json::to_string(&record)? + "\n"))?;
    } else {
        let plan = record.plan_text.as_deref().filter(|_| show_plan);
        print(&text(&record, plan))?;
    }
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(record.outcome.into()),
    }
}

/// Looks on, and takes the plans as they come.
struct Plans {
    inner: SearchObserver,
    files: Option<NumberedPlanFiles>,
    show: bool,
    /// Why a plan could not be written.
    failed: Mutex<Option<Error>>,
}

impl Observer for Plans {
    fn stopped(&self) -> bool {
        self.inner.stopped()
    }

    fn notice(&self, notice: &Notice) {
        self.inner.notice(notice);
    }

    fn met(&self, task: &homing_planner::Task, met: homing_planner::Met) {
        self.inner.met(task, met);
    }

    fn looks_at_states(&self) -> bool {
        self.inner.looks_at_states()
    }

    fn takes_hints(&self) -> bool {
        self.inner.takes_hints()
    }

    fn underway(&self, underway: &Underway) {
        self.inner.underway(underway);
    }

    fn planning(&self, progress: &PlanningProgress) {
        self.inner.planning(progress);
    }

    fn plan_found(&self, number: usize, plan: &PlanFound) {
        self.inner.finish();
        self.inner.plan_found(number, plan);
        if let Some(files) = &self.files
            && let Err(error) = files.write(number, &plan.text)
        {
            say(&format!("homing: {error}\n"));
            let mut failed = self.failed.lock().expect("no thread panics here");
            failed.get_or_insert(error);
        }
        if self.show {
            // If standard output takes no more, the summary at the end fails and says so.
            let _ = print(&format!(
                "Plan {number}: cost {}, {} step(s), {:.3} s\n",
                plan.cost, plan.length, plan.seconds
            ));
        }
    }
}
