//! The runs inside the page: compact, for the script that shows those behind a number.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::json;

use super::Content;
use super::csv::outcome_word;
use super::text::json_in_script;

/// Strings that many runs share, each written once.
#[derive(Default)]
struct Words<'a> {
    places: BTreeMap<&'a str, usize>,
    words: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn place(&mut self, word: &'a str) -> usize {
        *self.places.entry(word).or_insert_with(|| {
            self.words.push(word);
            self.words.len() - 1
        })
    }
}

fn or_minus(value: Option<u64>) -> String {
    value.map_or("-1".to_owned(), |value| value.to_string())
}

/// All runs as one JSON object; `report/page.js` reads it.
pub(super) fn embedded(content: &Content<'_>) -> String {
    let index = content.index;
    let configurations: Vec<String> = index
        .runs
        .iter()
        .map(|run| run.record.configuration())
        .collect();
    let (mut names, mut outcomes) = (Words::default(), Words::default());
    let (mut revisions, mut machines) = (Words::default(), Words::default());
    let mut runs = String::from("[");
    for (run, configuration) in index.runs.iter().zip(&configurations) {
        let record = run.record;
        if runs.len() > 1 {
            runs.push_str(",\n");
        }
        // Writing to a string does not fail.
        let _ = write!(
            runs,
            "[{},{},{},{},{},{},{},{},{},{},{},{:.3},{},{},{}]",
            run.domain,
            run.problem,
            names.place(configuration),
            or_minus(record.model.as_ref().map(|model| model.seed)),
            run.search,
            or_minus(run.variant.map(|variant| variant as u64)),
            outcomes.place(outcome_word(record.outcome)),
            record.evaluations,
            record.generated,
            record.expansions,
            or_minus(record.plan_length.map(|length| length as u64)),
            record.cpu_seconds,
            revisions.place(&record.revision),
            machines.place(&record.machine),
            u8::from(run.superseded),
        );
    }
    runs.push(']');
    let mut trainings = String::from("[");
    for run in &index.trainings {
        let record = run.record;
        if trainings.len() > 1 {
            trainings.push_str(",\n");
        }
        let _ = write!(
            trainings,
            "[{},{},{},{},{},{},{},{:.4},{:.1},{},{}]",
            run.domain,
            names.place(&record.heuristic),
            record.seed,
            run.variant,
            record.steps,
            record.goals,
            record.episodes,
            record.loss,
            record.cpu_seconds,
            revisions.place(&record.revision),
            machines.place(&record.machine),
        );
    }
    trainings.push(']');
    // A loss that is no number is not JSON either.
    let trainings = trainings
        .replace("NaN", "null")
        .replace("-inf", "null")
        .replace("inf", "null");
    let domains: Vec<_> = index
        .domains
        .iter()
        .map(|domain| {
            json!({
                "name": domain.label,
                "problems": domain.problems.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(),
                "objects": domain.problems.iter().map(|p| p.objects).collect::<Vec<_>>(),
            })
        })
        .collect();
    let groups: Vec<_> = index
        .groups
        .iter()
        .map(|group| json!([group.search, group.variant, group.label]))
        .collect();
    let head = json!({
        "domains": domains,
        "names": names.words,
        "outcomes": outcomes.words,
        "variants": index.variants,
        "groups": groups,
        "revisions": revisions.words,
        "machines": machines.words,
    });
    let head = head.to_string();
    let head = head.trim_end_matches('}');
    // `head` ends with the `]` of its last list: one brace was all that was trimmed.
    json_in_script(&format!(
        "{head},\n\"runs\":{runs},\n\"trainings\":{trainings}}}"
    ))
}
