//! Base against learned, problem by problem.

use homing_lab::experiment::Plan;
use homing_lab::record::Evaluation;
use homing_lab::report::integer;

use super::Paint;
use crate::output::{print, width};

/// The columns that the table in full takes.
const WIDE: usize = 76;

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
    paint: Paint,
    /// Less space and fewer words.
    narrow: bool,
    limit: u64,
}

impl Table {
    pub(super) fn new(plan: &Plan, paint: Paint) -> Self {
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
            paint,
            narrow: width().is_some_and(|columns| columns < WIDE),
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
                print(&self.line("", ("h_FF", ""), ("H", ""), ""))?;
                let head = if self.narrow {
                    ("evaluated", "seconds")
                } else {
                    ("evaluations", "seconds")
                };
                print(&self.line("blocks", head, head, ""))?;
            }
            let mut verdict = self.verdict(base, learned);
            if learned.solved() && fewer(learned, base) {
                verdict = self.paint.green(&verdict);
            }
            let [(states, seconds), (of_h, seconds_of_h)] = [base, learned].map(side);
            print(&self.line(
                &row.objects.to_string(),
                (&states, &seconds),
                (&of_h, &seconds_of_h),
                &verdict,
            ))?;
            self.shown += 1;
        }
        Ok(())
    }

    fn line(
        &self,
        blocks: &str,
        base: (&str, &str),
        learned: (&str, &str),
        verdict: &str,
    ) -> String {
        let (first, second, gap) = if self.narrow { (9, 7, 1) } else { (11, 8, 3) };
        let gap = " ".repeat(gap);
        let line = format!(
            "{blocks:>6}{gap}{:>first$} {:>second$}{gap}{:>first$} {:>second$}{gap}{verdict}",
            base.0, base.1, learned.0, learned.1
        );
        format!("{}\n", line.trim_end())
    }

    fn verdict(&self, base: &Evaluation, learned: &Evaluation) -> String {
        let times = |more: &Evaluation, less: &Evaluation| {
            let ratio = more.evaluations as f64 / less.evaluations.max(1) as f64;
            if ratio < 10.0 {
                format!("{ratio:.1}")
            } else {
                format!("{ratio:.0}")
            }
        };
        let finds = if self.narrow { "" } else { " finds a plan" };
        match (base.solved(), learned.solved()) {
            (false, true) => format!("only H{finds}"),
            (true, false) => format!("only h_FF{finds}"),
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
            "solved: {base} of {n} with h_FF, {learned} of {n} with H\n\
             fewer evaluations with H: {} of {n}\n\
             (trained on 2 to 6 blocks; `>`: no plan within {})\n",
            wins.count(),
            integer(self.limit),
            n = self.rows.len(),
        ))
    }
}

/// Evaluations and seconds.
fn side(record: &Evaluation) -> (String, String) {
    let mark = if record.solved() { "" } else { "> " };
    (
        format!("{mark}{}", integer(record.evaluations)),
        format!("{:.2}", record.search_cpu_seconds),
    )
}

/// A failure needs more than any success.
fn fewer(one: &Evaluation, other: &Evaluation) -> bool {
    match (one.solved(), other.solved()) {
        (true, true) => one.evaluations < other.evaluations,
        (one, _) => one,
    }
}
