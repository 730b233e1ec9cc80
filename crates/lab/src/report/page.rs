//! The page: summary, tables, figures, and the runs behind every number.

use std::collections::BTreeSet;

use super::coverage::Mark;
use super::figures::{cumulative_goals, scatter, solved_by_objects};
use super::heuristics::{class_of, heuristic_order, shape, shown, style};
use super::latex::{domains, heuristics};
use super::summary::{listed, summary};
use super::text::{counted, html, integer};
use super::wins::Wins;
use super::{Content, ReportOptions, Row, Section, runs, tables};
use crate::paper;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The heuristics that figures show.
fn legend(content: &Content<'_>) -> String {
    let mut names: Vec<&str> = content
        .sections
        .iter()
        .flat_map(|section| section.rows.iter().map(|row| row.pair.heuristic))
        .chain(content.training.iter().flat_map(|training| {
            training
                .rows
                .iter()
                .flat_map(|row| row.cells.iter().map(|cell| cell.heuristic))
        }))
        .collect();
    names.sort_by_key(|name| heuristic_order(name));
    names.dedup();
    let mut text = String::from("<ul class=\"legend\">");
    for name in names {
        text.push_str(&format!(
            "<li class=\"k-{}\"><svg viewBox=\"0 0 14 12\" aria-hidden=\"true\"><g class=\"best\">{}</g></svg>{}</li>",
            class_of(name),
            shape(name, 7.0, 6.0, 1.7),
            shown(name)
        ));
    }
    let learned = |section: &Section<'_>| section.rows.iter().any(|row| row.wins.is_some());
    if content.training.is_empty() && !content.sections.iter().any(learned) {
        return text + "</ul>";
    }
    text.push_str(
        "<li><svg viewBox=\"0 0 26 12\" aria-hidden=\"true\"><path class=\"learned\" d=\"M1 6H25\"/></svg><span><i>H</i>, mean; band: worst to best seed</span></li>\
         <li><svg viewBox=\"0 0 26 12\" aria-hidden=\"true\"><path class=\"base\" d=\"M1 6H25\"/></svg><i>h</i></li></ul>",
    );
    text
}

/// The figures of a group, domain by domain.
fn cards(content: &Content<'_>, section: &Section<'_>, with_goals: bool) -> String {
    let variant = content.index.groups[section.group].variant;
    let training = content
        .training
        .iter()
        .find(|training| Some(training.variant) == variant);
    let training = training.or(content.training.first()).filter(|_| with_goals);
    let mut places: BTreeSet<usize> = domains(section).into_iter().collect();
    if let Some(training) = training {
        places.extend(training.rows.iter().map(|row| row.domain));
    }
    // Domains with a single figure share lines.
    let (mut text, mut single) = (String::new(), String::new());
    for domain in places {
        let rows: Vec<&Row<'_>> = section
            .rows
            .iter()
            .filter(|row| row.pair.domain == domain)
            .collect();
        let mut figures = scatter(content, section, &rows);
        figures.push_str(&solved_by_objects(content.index, &rows));
        let goals =
            training.and_then(|training| training.rows.iter().find(|row| row.domain == domain));
        if let Some(row) = goals {
            figures.push_str(&cumulative_goals(content.index, row));
        }
        let card = card(&content.index.domains[domain].label, &figures);
        match figures.matches("<figure").count() {
            0 => {}
            1 => single.push_str(&card),
            _ => text.push_str(&card),
        }
    }
    if !single.is_empty() {
        text.push_str(&format!("<div class=\"narrow-cards\">{single}</div>"));
    }
    text
}

fn card(label: &str, figures: &str) -> String {
    format!(
        "<section class=\"card\"><h4>{}</h4><div class=\"plots\">{figures}</div></section>",
        html(label)
    )
}

const COVERAGE_NOTE: &str = " Of <i>H</i>: mean over the seeds ± standard error (sample standard deviation / √seeds), and the best seed. \
    <b>Bold</b>: the mean is above <i>h</i> by more than the standard error. <u>Underlined</u>: below it by more. \
    †: both solve at least 90 %, too easy for coverage to tell them apart; see the evaluations. \
    With one seed nothing is marked. Only problems that <i>h</i> and all seeds of <i>H</i> have run count. \
    Runs stopped short (by time, memory or a failure) count as unsolved, though they did not reach the limit on evaluations.";

const PAPER_NOTE: &str = " Beside ours, in smaller type, the paper's rates (20 seeds; its best seed in brackets): its problems are other draws from the same settings.";

const WINS_NOTE: &str = "On how many problems the search has fewer evaluations with <i>H</i> than with <i>h</i>, and the other way round. \
    Ties and problems that both fail are left out; a failure is more than any success. \
    The large number is of the best seed: the one with the least sum of evaluations, failures counted at the limit. Below it the mean over all seeds.";

const GOALS_NOTE: &str = "Goal states reached in training: mean ± sample standard deviation over the seeds. \
    <b>Bold</b>: the best mean of the row, and those that do not differ from it significantly: two-sided Wilcoxon rank-sum test, p ≥ 0.05. \
    The test is exact for up to 30 seeds without ties, else the normal approximation with corrections for ties and continuity (point at a p to see which). \
    With three seeds or fewer on each side no difference can be significant.";

const TIME_NOTE: &str = "CPU seconds are those of the whole process, reading and grounding included: medians over pairs of runs (one of <i>h</i>, one of <i>H</i> with some seed) \
    that both find a plan. Evaluations a second: all evaluations of the compared runs over all CPU seconds of their searches. \
    The network's share is of the wall-clock time that training spends in it and in planning.";

/// What the tables of a group come to, heuristic by heuristic.
fn findings(content: &Content<'_>, section: &Section<'_>) -> String {
    let mut items = String::new();
    for name in heuristics(section) {
        let rows: Vec<&Row<'_>> = section
            .rows
            .iter()
            .filter(|row| row.pair.heuristic == name && row.wins.is_some())
            .collect();
        if rows.is_empty() {
            continue;
        }
        let marked = |mark: Mark| -> Vec<String> {
            let of = rows.iter().filter(|row| row.coverage.mark == mark);
            of.map(|row| html(&content.index.domains[row.pair.domain].label))
                .collect()
        };
        let mut parts = Vec::new();
        for (mark, words) in [
            (Mark::Better, "solves more in"),
            (Mark::Worse, "solves fewer in"),
            (
                Mark::None,
                "cannot be told apart from <i>h</i> by coverage in",
            ),
            (Mark::Caution, "solves nearly all, as <i>h</i> does, in"),
        ] {
            let domains = marked(mark);
            if !domains.is_empty() {
                parts.push(format!("{words} {}", listed(&domains)));
            }
        }
        let count = |of: fn(&Wins) -> usize| -> u64 {
            rows.iter()
                .filter_map(|row| row.wins.as_ref())
                .map(|wins| of(wins) as u64)
                .sum()
        };
        let (fewer, more) = (
            count(|wins| wins.best.learned),
            count(|wins| wins.best.base),
        );
        items.push_str(&format!(
            "<li class=\"k-{}\"><span class=\"key\">{}</span>: <i>H</i> {}. Its best seeds need fewer evaluations on {}, more on {}.</li>",
            class_of(name),
            shown(name),
            parts.join("; "),
            counted(fewer as usize, "problem", "problems"),
            integer(more)
        ));
    }
    match items.as_str() {
        "" => String::new(),
        items => format!("<ul class=\"findings\">{items}</ul>"),
    }
}

fn group_tables(content: &Content<'_>, section: &Section<'_>) -> String {
    let search = content.index.groups[section.group].search;
    let beside = content.index.searches[search].as_in_paper()
        && section
            .rows
            .iter()
            .any(|row| content.index.domains[row.pair.domain].paper.is_some());
    let learned = section
        .rows
        .iter()
        .any(|row| row.coverage.learned.is_some());
    let learned_note = if learned { COVERAGE_NOTE } else { "" };
    let paper_note = if beside { PAPER_NOTE } else { "" };
    let mut text = format!(
        "{}<h3>Coverage</h3>{}<p class=\"note\">Problems solved.{learned_note}{paper_note}</p>{}",
        findings(content, section),
        tables::coverage(content, section),
        tables::missing(content, section)
    );
    if beside && learned {
        text.push_str(&tables::prior(content, section));
    }
    if let Some(table) = tables::wins(content, section) {
        text.push_str(&format!(
            "<h3>Wins by evaluations</h3>{table}<p class=\"note\">{WINS_NOTE}</p>"
        ));
    }
    text
}

fn goals_table(content: &Content<'_>, place: usize) -> String {
    let steps: BTreeSet<u64> = content.training[place]
        .rows
        .iter()
        .flat_map(|row| {
            row.cells
                .iter()
                .flat_map(|cell| cell.runs.iter().map(|run| run.steps))
        })
        .collect();
    let steps: Vec<String> = steps.into_iter().map(integer).collect();
    let cells = content.training[place]
        .rows
        .iter()
        .flat_map(|row| &row.cells);
    let seeds = cells.map(|cell| cell.runs.len()).max().unwrap_or(0);
    format!(
        "<h3>Goals reached in training</h3>{}<p class=\"note\">{GOALS_NOTE} Ours: {} steps, {}; the paper: 20 seeds (50,000 steps in its text, 10,000 in the program that gives its numbers).</p>",
        tables::goals(content, place),
        listed(&steps),
        counted(seeds, "seed", "seeds")
    )
}

fn time_table(content: &Content<'_>, section: &Section<'_>) -> String {
    let machines: BTreeSet<&str> = content
        .index
        .runs
        .iter()
        .map(|run| run.record.machine.as_str())
        .collect();
    let warning = if machines.len() > 1 {
        " <strong>The runs come from several machines: compare times with care.</strong>"
    } else {
        ""
    };
    format!(
        "<h3>Time</h3>{}<p class=\"note\">{TIME_NOTE}{warning}</p>",
        tables::time(content, section)
    )
}

const FIGURES_NOTE: &str = "Evaluations: each mark is a problem and a seed, filled for the best seed; below the diagonal <i>H</i> needs fewer; \
    what fails is on the border. Marks lead to their runs.";

fn figures_note(section: &Section<'_>) -> String {
    match section.rows.iter().any(|row| row.wins.is_some()) {
        true => format!("<p class=\"note\">{FIGURES_NOTE}</p>"),
        false => String::new(),
    }
}

/// One group and at most one way of training: everything in one line of sections.
fn simple(content: &Content<'_>, section: &Section<'_>) -> String {
    let mut text = group_tables(content, section);
    if !content.training.is_empty() {
        text.push_str(&goals_table(content, 0));
    }
    text.push_str(&format!(
        "<h3>Figures</h3>{}{}{}{}",
        legend(content),
        figures_note(section),
        cards(content, section, true),
        time_table(content, section)
    ));
    text
}

/// Goals of one way of training: the table and a figure for each domain.
fn training_part(content: &Content<'_>, place: usize) -> String {
    let figures: String = content.training[place]
        .rows
        .iter()
        .map(|row| (row, cumulative_goals(content.index, row)))
        .filter(|(_, figure)| !figure.is_empty())
        .map(|(row, figure)| card(&content.index.domains[row.domain].label, &figure))
        .collect();
    format!(
        "{}<div class=\"narrow-cards\">{figures}</div>",
        goals_table(content, place)
    )
}

/// Several groups or ways of training: a part for each.
fn several(content: &Content<'_>) -> String {
    let mut text = String::new();
    if content.sections.len() > 1 {
        text.push_str("<nav aria-label=\"Groups\"><ol>");
        for section in &content.sections {
            text.push_str(&format!(
                "<li><a href=\"#group-{}\">{}</a></li>",
                section.group,
                html(&content.index.groups[section.group].label)
            ));
        }
        text.push_str("</ol></nav>");
    }
    text.push_str(&legend(content));
    for section in &content.sections {
        text.push_str(&format!(
            "<h2 class=\"part\" id=\"group-{}\">{}</h2>{}<h3>Figures</h3>{}{}{}",
            section.group,
            html(&content.index.groups[section.group].label),
            group_tables(content, section),
            figures_note(section),
            cards(content, section, false),
            time_table(content, section)
        ));
    }
    for (place, training) in content.training.iter().enumerate() {
        let label = match content.index.variants[training.variant].as_str() {
            "" => "Training".to_owned(),
            label => format!("Training with {label}"),
        };
        text.push_str(&format!("<h2 class=\"part\">{}</h2>", html(&label)));
        text.push_str(&training_part(content, place));
    }
    text
}

fn one_level_up(text: &str) -> String {
    text.replace("<h3>", "<h2>")
        .replace("</h3>", "</h2>")
        .replace("<h4>", "<h3>")
        .replace("</h4>", "</h3>")
}

pub(super) fn page(content: &Content<'_>, options: &ReportOptions) -> String {
    let title = match options.title.as_str() {
        "" => "Report",
        title => title,
    };
    let body = match (content.sections.as_slice(), content.training.len()) {
        // Without parts, sections are one level up.
        ([section], 0 | 1) => one_level_up(&simple(content, section)),
        ([], 1) => one_level_up(&(legend(content) + &training_part(content, 0))),
        _ => several(content),
    };
    let figures = body.matches("<figure class=\"plot\">").count();
    let prior = content.sections.iter().any(|section| {
        let group = &content.index.groups[section.group];
        content.index.searches[group.search].as_in_paper()
    });
    let about = if prior {
        format!(
            " The paper: “Viewing Heuristics as Dense Reward Generators”, GBFS with {} evaluations and {} seeds.",
            integer(paper::MAX_EVALUATIONS),
            paper::SEEDS
        )
    } else {
        String::new()
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{style}</style>\n\
         <script>document.documentElement.dataset.errors = 0; addEventListener(\"error\", () => document.documentElement.dataset.errors++);</script>\n\
         </head>\n<body>\n<main data-figures=\"{figures}\">\n<header><h1>{title}</h1><p class=\"summary\">{}</p>\
         <p class=\"note\"><i>h</i> is a classical heuristic, <i>H</i> the same with what was learnt on top.{about} \
         Every number leads to its runs. The tables are beside this page as CSV and LaTeX.</p></header>\n{body}\n\
         <section class=\"runs\"><h2 id=\"runs\">Runs</h2>\
         <noscript><p>With scripts on, the runs behind a number are listed here. All of them stand in \
         <a href=\"runs.csv\">runs.csv</a> and <a href=\"trainings.csv\">trainings.csv</a>.</p></noscript>\
         <div id=\"chosen\"></div></section>\n</main>\n\
         <script type=\"application/json\" id=\"records\">{}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        html(&summary(content)),
        runs::embedded(content),
        title = html(title),
        style = style(STYLE),
    )
}
