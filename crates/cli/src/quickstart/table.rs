//! Base against learned, problem by problem.

use homing_lab::experiment::Plan;
use homing_lab::record::Evaluation;

use super::thousands;
use crate::output::print;

struct Row {
    problem: String,
    objects: usize,
    base: Option<Evaluation>,
    learned: Option<Evaluation>,
}

/// Rows are shown in their order, each as soon as it and those before it are complete.
pub(super) struct Table {
    rows: Vec<Row>,
    shown: usize,
    colour: bool,
    limit: u64,
}

impl Table {
    pub(super) fn new(plan: &Plan, live: bool) -> Self {
        let set = &plan.sets[1];
        let rows = set.problems.iter().map(|problem| Row {
            problem: problem.file.clone(),
            objects: problem.objects,
            base: None,
            learned: None,
        });
        Self {
            rows: rows.collect(),
            shown: 0,
            limit: plan.evaluations[0].planned.max_evaluations.unwrap_or(0),
            colour: live && std::env::var_os("NO_COLOR").is_none(),
        }
    }

    pub(super) fn add(&mut self, record: &Evaluation) -> anyhow::Result<()> {
        let place = self
            .rows
            .iter_mut()
            .find(|row| row.problem == record.problem);
        if let Some(row) = place {
            let side = if record.model.is_some() {
                &mut row.learned
            } else {
                &mut row.base
            };
            *side = Some(record.clone());
        }
        self.show()
    }

    fn show(&mut self) -> anyhow::Result<()> {
        while let Some(row) = self.rows.get(self.shown) {
            let (Some(base), Some(learned)) = (&row.base, &row.learned) else {
                break;
            };
            if self.shown == 0 {
                print(&format!(
                    "{:>6}   {:>11} {:>8}   {:>11} {:>8}\n{:>6}   {:>11} {:>8}   {:>11} {:>8}\n",
                    "",
                    "h_FF",
                    "",
                    "H",
                    "",
                    "blocks",
                    "evaluations",
                    "seconds",
                    "evaluations",
                    "seconds",
                ))?;
            }
            let verdict = verdict(base, learned);
            let (on, off) = match (self.colour, learned.solved() && fewer(learned, base)) {
                (true, true) => ("\x1b[32m", "\x1b[0m"),
                _ => ("", ""),
            };
            print(&format!(
                "{:>6}   {}   {}   {on}{verdict}{off}\n",
                row.objects,
                side(base),
                side(learned)
            ))?;
            self.shown += 1;
        }
        Ok(())
    }

    /// The sums.
    pub(super) fn conclude(&self) -> anyhow::Result<()> {
        let solved = |pick: &dyn Fn(&Row) -> Option<&Evaluation>| {
            let found = self.rows.iter().filter_map(pick);
            found.filter(|record| record.solved()).count()
        };
        let base = solved(&|row| row.base.as_ref());
        let learned = solved(&|row| row.learned.as_ref());
        let wins = self
            .rows
            .iter()
            .filter(|row| match (&row.base, &row.learned) {
                (Some(base), Some(learned)) => fewer(learned, base),
                _ => false,
            });
        print(&format!(
            "solved: {base} of {n} with h_FF, {learned} of {n} with H; fewer evaluations with H in {} of {n}\n\
             (trained on problems of at most 6 blocks; `>` is no plan within {} evaluations)\n",
            wins.count(),
            thousands(self.limit),
            n = self.rows.len(),
        ))
    }
}

fn side(record: &Evaluation) -> String {
    let evaluations = thousands(record.evaluations);
    let evaluations = if record.solved() {
        evaluations
    } else {
        format!("> {evaluations}")
    };
    format!("{evaluations:>11} {:>8.2}", record.search_cpu_seconds)
}

/// A failure needs more than any success.
fn fewer(one: &Evaluation, other: &Evaluation) -> bool {
    match (one.solved(), other.solved()) {
        (true, true) => one.evaluations < other.evaluations,
        (one, _) => one,
    }
}

fn verdict(base: &Evaluation, learned: &Evaluation) -> String {
    let times = |more: &Evaluation, less: &Evaluation| {
        let ratio = more.evaluations as f64 / less.evaluations.max(1) as f64;
        if ratio < 10.0 {
            format!("{ratio:.1}")
        } else {
            format!("{ratio:.0}")
        }
    };
    match (base.solved(), learned.solved()) {
        (false, true) => "only H finds a plan".to_owned(),
        (true, false) => "only h_FF finds a plan".to_owned(),
        (false, false) => "neither".to_owned(),
        (true, true) if fewer(learned, base) => {
            format!("{} times fewer", times(base, learned))
        }
        (true, true) if fewer(base, learned) => {
            format!("{} times more", times(learned, base))
        }
        (true, true) => "the same".to_owned(),
    }
}
