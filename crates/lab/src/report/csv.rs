//! The tables as CSV, every number with as many digits as there are.

use super::text::csv as field;
use super::{Content, Row, Section, TrainingSection};
use crate::paper::{self, PaperDomain};
use crate::record::Outcome;
use crate::statistics::Method;

/// A table in the making.
struct Table {
    text: String,
}

impl Table {
    fn new(header: &[&str]) -> Self {
        Self {
            text: header.join(",") + "\n",
        }
    }

    fn row(&mut self, fields: &[String]) {
        let fields: Vec<String> = fields.iter().map(|text| field(text)).collect();
        self.text.push_str(&fields.join(","));
        self.text.push('\n');
    }
}

/// Six digits after the point, without zeros at the end.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn maybe<T>(value: Option<T>, write: impl Fn(T) -> String) -> String {
    value.map_or(String::new(), write)
}

fn shown<T: ToString>(value: Option<T>) -> String {
    maybe(value, |value| value.to_string())
}

/// The first fields of a row: group, domain, heuristic.
fn place(content: &Content<'_>, section: &Section<'_>, row: &Row<'_>) -> Vec<String> {
    vec![
        content.index.groups[section.group].label.clone(),
        content.index.domains[row.pair.domain].label.clone(),
        row.pair.heuristic.to_owned(),
    ]
}

/// The paper's domain and column, where the group is of the paper's search.
fn paper_of(
    content: &Content<'_>,
    section: &Section<'_>,
    row: &Row<'_>,
) -> Option<(&'static PaperDomain, usize)> {
    let search = content.index.groups[section.group].search;
    if !content.index.searches[search].as_in_paper() {
        return None;
    }
    let domain = content.index.domains[row.pair.domain].paper?;
    Some((domain, paper::column(row.pair.heuristic)?))
}

fn rows<'c>(
    content: &'c Content<'c>,
) -> impl Iterator<Item = (&'c Section<'c>, &'c Row<'c>)> + use<'c> {
    content
        .sections
        .iter()
        .flat_map(|section| section.rows.iter().map(move |row| (section, row)))
}

pub(super) fn coverage(content: &Content<'_>) -> String {
    let mut table = Table::new(&[
        "group",
        "domain",
        "heuristic",
        "problems",
        "base_solved",
        "base_stopped_short",
        "seeds",
        "mean_solved",
        "standard_error",
        "best_solved",
        "best_seed",
        "learned_stopped_short",
        "mark",
        "base_runs",
        "learned_runs",
        "missing_runs",
        "paper_problems",
        "paper_base",
        "paper_mean",
        "paper_standard_error",
        "paper_best",
    ]);
    for (section, row) in rows(content) {
        let coverage = &row.coverage;
        let learned = coverage.learned.as_ref();
        let paper = paper_of(content, section, row);
        let paper_learned = paper.map(|(domain, column)| domain.learned[column]);
        let mut fields = place(content, section, row);
        fields.extend([
            coverage.problems.to_string(),
            shown(coverage.base),
            coverage.base_stopped_short.to_string(),
            learned.map_or(0, |learned| learned.seeds.len()).to_string(),
            maybe(learned, |learned| number(learned.mean)),
            maybe(learned.and_then(|learned| learned.standard_error), number),
            shown(learned.map(|learned| learned.best)),
            shown(learned.map(|learned| learned.best_seed)),
            shown(learned.map(|learned| learned.stopped_short)),
            coverage.mark.word().to_owned(),
            row.pair.base_there.to_string(),
            row.pair.learned_there.to_string(),
            row.pair.missing().to_string(),
            shown(paper.map(|(domain, _)| domain.problems)),
            shown(paper.map(|(domain, column)| domain.base[column])),
            maybe(paper_learned, |paper| number(paper.mean)),
            maybe(paper_learned, |paper| number(paper.standard_error)),
            shown(paper_learned.map(|paper| paper.best)),
        ]);
        table.row(&fields);
    }
    table.text
}

pub(super) fn wins(content: &Content<'_>) -> String {
    let mut table = Table::new(&[
        "group",
        "domain",
        "heuristic",
        "problems",
        "seeds",
        "best_seed",
        "learned_wins",
        "base_wins",
        "mean_learned_wins",
        "mean_base_wins",
        "paper_learned_wins",
        "paper_base_wins",
    ]);
    for (section, row) in rows(content) {
        let Some(wins) = &row.wins else { continue };
        let paper = paper_of(content, section, row).map(|(domain, column)| domain.wins[column]);
        let mut fields = place(content, section, row);
        fields.extend([
            wins.problems.to_string(),
            wins.seeds.to_string(),
            wins.best_seed.to_string(),
            wins.best.learned.to_string(),
            wins.best.base.to_string(),
            number(wins.mean.learned),
            number(wins.mean.base),
            shown(paper.map(|wins| wins.0)),
            shown(paper.map(|wins| wins.1)),
        ]);
        table.row(&fields);
    }
    table.text
}

pub(super) fn goals(content: &Content<'_>) -> String {
    let mut table = Table::new(&[
        "training",
        "domain",
        "heuristic",
        "seeds",
        "steps",
        "mean_goals",
        "standard_deviation",
        "best",
        "p_against_best",
        "test",
        "paper_mean",
        "paper_standard_deviation",
    ]);
    for TrainingSection { variant, rows } in &content.training {
        for row in rows {
            let domain = &content.index.domains[row.domain];
            for cell in &row.cells {
                let paper = domain.paper.zip(paper::column(cell.heuristic));
                let paper = paper.map(|(paper, column)| paper.goals[column]);
                table.row(&[
                    content.index.variants[*variant].clone(),
                    domain.label.clone(),
                    cell.heuristic.to_owned(),
                    cell.runs.len().to_string(),
                    number(cell.steps),
                    number(cell.mean),
                    maybe(cell.deviation, number),
                    cell.best.to_string(),
                    maybe(cell.test, |test| format!("{:e}", test.p)),
                    maybe(cell.test, |test| method_word(test.method).to_owned()),
                    maybe(paper, |paper| number(paper.0)),
                    maybe(paper, |paper| number(paper.1)),
                ]);
            }
        }
    }
    table.text
}

fn method_word(method: Method) -> &'static str {
    match method {
        Method::Exact => "exact",
        Method::Asymptotic => "asymptotic",
    }
}

pub(super) fn objects(content: &Content<'_>) -> String {
    let mut table = Table::new(&[
        "group",
        "domain",
        "heuristic",
        "threshold",
        "objects_from",
        "objects_to",
        "problems",
        "base_solved",
        "learned_least",
        "learned_mean",
        "learned_most",
    ]);
    for (section, row) in rows(content) {
        for bin in &row.bins {
            let mut fields = place(content, section, row);
            fields.extend([
                shown(row.threshold),
                bin.objects.least.to_string(),
                bin.objects.most.to_string(),
                bin.problems.to_string(),
                shown(bin.base),
                shown(bin.learned.map(|learned| learned.least)),
                maybe(bin.learned, |learned| number(learned.mean)),
                shown(bin.learned.map(|learned| learned.most)),
            ]);
            table.row(&fields);
        }
    }
    table.text
}

pub(super) fn time(content: &Content<'_>) -> String {
    let mut table = Table::new(&[
        "group",
        "domain",
        "heuristic",
        "pairs_both_solved",
        "base_median_cpu_seconds",
        "learned_median_cpu_seconds",
        "base_evaluations_per_second",
        "learned_evaluations_per_second",
        "training_runs",
        "training_mean_cpu_seconds",
    ]);
    for (section, row) in rows(content) {
        let time = &row.time;
        let training = content.training_of(section, row.pair.domain, row.pair.heuristic);
        let mut fields = place(content, section, row);
        fields.extend([
            time.both.to_string(),
            maybe(time.base_seconds, number),
            maybe(time.learned_seconds, number),
            maybe(time.base_rate, number),
            maybe(time.learned_rate, number),
            shown(training.map(|cell| cell.runs.len())),
            maybe(training, |cell| number(cell.cpu_seconds)),
        ]);
        table.row(&fields);
    }
    table.text
}

pub(super) fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Solved => "solved",
        Outcome::Unsolvable => "unsolvable",
        Outcome::Limit => "limit",
        Outcome::TimeLimit => "time-limit",
        Outcome::MemoryLimit => "memory-limit",
        Outcome::Failed => "failed",
    }
}

pub(super) fn runs(content: &Content<'_>) -> String {
    let mut table = Table::new(&[
        "domain",
        "problem",
        "objects",
        "configuration",
        "seed",
        "training",
        "search",
        "weight",
        "unit_cost",
        "max_evaluations",
        "outcome",
        "evaluations",
        "generated",
        "expansions",
        "plan_length",
        "plan_cost",
        "search_cpu_seconds",
        "cpu_seconds",
        "memory_bytes",
        "superseded",
        "model_sha256",
        "problem_sha256",
        "revision",
        "machine",
        "error",
        "key",
    ]);
    for run in &content.index.runs {
        let record = run.record;
        let model = record.model.as_ref();
        table.row(&[
            content.index.domains[run.domain].label.clone(),
            record.problem.clone(),
            record.objects.to_string(),
            record.configuration(),
            shown(model.map(|model| model.seed)),
            maybe(run.variant, |variant| {
                content.index.variants[variant].clone()
            }),
            record.search.clone(),
            shown(record.weight),
            record.unit_cost.to_string(),
            shown(record.max_evaluations),
            outcome_word(record.outcome).to_owned(),
            record.evaluations.to_string(),
            record.generated.to_string(),
            record.expansions.to_string(),
            shown(record.plan_length),
            shown(record.plan_cost),
            record.search_cpu_seconds.to_string(),
            record.cpu_seconds.to_string(),
            shown(record.memory_bytes),
            run.superseded.to_string(),
            maybe(model, |model| model.sha256.clone()),
            record.problem_sha256.clone(),
            record.revision.clone(),
            record.machine.clone(),
            record.error.clone().unwrap_or_default(),
            record.key.clone(),
        ]);
    }
    table.text
}

pub(super) fn trainings(content: &Content<'_>) -> String {
    let mut table = Table::new(&[
        "domain",
        "heuristic",
        "seed",
        "training",
        "problems",
        "steps",
        "goals",
        "episodes",
        "loss",
        "selected_step",
        "cpu_seconds",
        "network_seconds",
        "planning_seconds",
        "memory_bytes",
        "model",
        "model_sha256",
        "revision",
        "machine",
        "key",
    ]);
    for run in &content.index.trainings {
        let record = run.record;
        table.row(&[
            content.index.domains[run.domain].label.clone(),
            record.heuristic.clone(),
            record.seed.to_string(),
            content.index.variants[run.variant].clone(),
            record.problems.to_string(),
            record.steps.to_string(),
            record.goals.to_string(),
            record.episodes.to_string(),
            record.loss.to_string(),
            shown(record.selected_step),
            record.cpu_seconds.to_string(),
            record.network_seconds.to_string(),
            record.planning_seconds.to_string(),
            shown(record.memory_bytes),
            record.model.clone(),
            record.model_sha256.clone(),
            record.revision.clone(),
            record.machine.clone(),
            record.key.clone(),
        ]);
    }
    table.text
}
