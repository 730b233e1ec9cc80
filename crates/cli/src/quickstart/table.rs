//! h_FF and what was learnt side by side, problem by problem.

use homing_lab::record::Evaluation;
use homing_lab::report::integer;

use super::Paint;
use crate::output::{print, say};

struct Row {
    blocks: usize,
    classical: Option<Evaluation>,
    learned: Option<Evaluation>,
}

/// Rows are shown in their order, each as soon as it and those before it are complete.
pub(super) struct Table {
    rows: Vec<Row>,
    shown: usize,
    limit: f64,
    paint: Paint,
}

impl Table {
    pub(super) fn new(sizes: &[usize], limit: f64, paint: Paint) -> Self {
        let rows = sizes.iter().map(|&blocks| Row {
            blocks,
            classical: None,
            learned: None,
        });
        Self {
            rows: rows.collect(),
            shown: 0,
            limit,
            paint,
        }
    }

    pub(super) fn add(&mut self, record: &Evaluation) {
        let place = self
            .rows
            .iter_mut()
            .find(|row| row.blocks == record.objects);
        if let Some(row) = place {
            let side = if record.model.is_some() {
                &mut row.learned
            } else {
                &mut row.classical
            };
            *side = Some(record.clone());
        }
        if let Err(error) = self.show() {
            // Nobody to give it to: this is called while searches run.
            say(&format!("homing: {error}\n"));
        }
    }

    fn show(&mut self) -> anyhow::Result<()> {
        while let Some(row) = self.rows.get(self.shown) {
            let (Some(classical), Some(learned)) = (&row.classical, &row.learned) else {
                break;
            };
            if self.shown == 0 {
                print(&line("", ["h_FF", ""], ["learnt", ""], ""))?;
                let head = ["seconds", "steps"];
                print(&line("blocks", head, head, ""))?;
            }
            let mut verdict = verdict(classical, learned);
            if sooner(learned, classical) {
                verdict = self.paint.green(&verdict);
            }
            let [one, other] = [classical, learned].map(|record| side(record, self.limit));
            let one = [one[0].as_str(), one[1].as_str()];
            let other = [other[0].as_str(), other[1].as_str()];
            print(&line(&row.blocks.to_string(), one, other, &verdict))?;
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
        print(&format!(
            "solved: {} of {n} with h_FF, {} of {n} with what was learnt\n\
             (CPU seconds from the files to the plan; `>`: no plan within {} s)\n",
            solved(&|row| row.classical.as_ref()),
            solved(&|row| row.learned.as_ref()),
            self.limit,
            n = self.rows.len(),
        ))
    }
}

fn line(blocks: &str, classical: [&str; 2], learned: [&str; 2], verdict: &str) -> String {
    let line = format!(
        "{blocks:>6}   {:>8} {:>7}   {:>8} {:>7}   {verdict}",
        classical[0], classical[1], learned[0], learned[1]
    );
    format!("{}\n", line.trim_end())
}

/// Seconds, and steps of the plan.
fn side(record: &Evaluation, limit: f64) -> [String; 2] {
    match record.plan_length {
        Some(steps) if record.solved() => {
            [format!("{:.2}", record.cpu_seconds), integer(steps as u64)]
        }
        _ => [format!("> {limit}"), "-".to_owned()],
    }
}

fn verdict(classical: &Evaluation, learned: &Evaluation) -> String {
    let times = |more: &Evaluation, less: &Evaluation| {
        let ratio = more.cpu_seconds / less.cpu_seconds.max(0.001);
        if ratio < 10.0 {
            format!("{ratio:.1}")
        } else {
            format!("{ratio:.0}")
        }
    };
    match (classical.solved(), learned.solved()) {
        (false, true) => "only what was learnt finds a plan".to_owned(),
        (true, false) => "only h_FF finds a plan".to_owned(),
        (false, false) => "neither".to_owned(),
        (true, true) if sooner(learned, classical) => {
            format!("{} times sooner", times(classical, learned))
        }
        (true, true) => format!("{} times later", times(learned, classical)),
    }
}

/// A failure is later than any success.
fn sooner(one: &Evaluation, other: &Evaluation) -> bool {
    match (one.solved(), other.solved()) {
        (true, true) => one.cpu_seconds < other.cpu_seconds,
        (one, _) => one,
    }
}
