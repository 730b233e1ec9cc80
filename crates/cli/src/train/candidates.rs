//! What training by ranking came to, in words and as a table.

use homing_lab::report::integer;
use homing_learner::LearnReport;

/// What was walked through.
pub(crate) fn data(report: &LearnReport) -> String {
    let data = &report.data;
    let mut text = format!(
        "{} problems walked through: {} states, {} of them dead ends; {} sampled",
        data.walked,
        integer(data.states as u64),
        integer(data.dead_ends as u64),
        integer(data.samples as u64)
    );
    let others = [
        (data.too_large, "too large"),
        (data.unsolvable, "with nothing to learn"),
        (data.not_needed, "not needed"),
    ];
    for (count, what) in others {
        if count > 0 {
            text.push_str(&format!("; {count} {what}"));
        }
    }
    if data.cuts > 0 {
        text.push_str(&format!("; {} cut out of larger ones", data.cuts));
    }
    text
}

/// How the candidates did; a star is before the one that was kept.
pub(crate) fn table(report: &LearnReport) -> String {
    let names = report.candidates.iter().map(|record| record.name.len());
    let width = names.max().unwrap_or(0).max("candidate".len());
    let mut text = format!(
        "  {:<width$} {:>6} {:>5} {:>8} {:>7} {:>8} {:>8}\n",
        "candidate", "rounds", "heads", "features", "ordered", "solved", "work"
    );
    for (index, record) in report.candidates.iter().enumerate() {
        let mark = if index == report.chosen { '*' } else { ' ' };
        let best = record.fit.accuracy.iter().copied().fold(0.0, f64::max);
        let (solved, work) = if report.candidates.len() > 1 && report.held_out > 0 {
            (
                format!("{}/{}", record.solved, report.held_out),
                format!("{:.3} s", record.work as f64 / 1e9),
            )
        } else {
            ("-".to_owned(), "-".to_owned())
        };
        text.push_str(&format!(
            "{mark} {:<width$} {:>6} {:>5} {:>8} {:>5.1} % {:>8} {:>8}\n",
            record.name,
            record.rounds,
            record.heads,
            record.fit.features,
            100.0 * best,
            solved,
            work,
        ));
    }
    text
}
