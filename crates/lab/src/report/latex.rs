//! The tables as LaTeX, for `\input`: they need the package booktabs and nothing else.

use super::coverage::Mark;
use super::heuristics::{heuristic_order, label};
use super::text::{latex as escape, tenths};
use super::{Content, Row, Section};
use crate::paper;

/// The heuristics of rows, in their order.
pub(super) fn heuristics<'c>(section: &'c Section<'_>) -> Vec<&'c str> {
    let mut names: Vec<&str> = section.rows.iter().map(|row| row.pair.heuristic).collect();
    names.sort_by_key(|name| heuristic_order(name));
    names.dedup();
    names
}

/// The domains of rows, in their order.
pub(super) fn domains(section: &Section<'_>) -> Vec<usize> {
    let mut places: Vec<usize> = section.rows.iter().map(|row| row.pair.domain).collect();
    places.sort_unstable();
    places.dedup();
    places
}

pub(super) fn row_of<'c, 'a>(
    section: &'c Section<'a>,
    domain: usize,
    heuristic: &str,
) -> Option<&'c Row<'a>> {
    section
        .rows
        .iter()
        .find(|row| row.pair.domain == domain && row.pair.heuristic == heuristic)
}

/// h or H with its index, in mathematics.
fn symbol(letter: char, heuristic: &str) -> String {
    format!("${letter}^{{\\mathrm{{{}}}}}$", escape(label(heuristic)))
}

/// A table from its columns, header and rows.
fn tabular(title: &str, columns: &str, header: &str, rows: &[String]) -> String {
    let mut text = format!(
        "% {}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n",
        title.replace('\n', " ")
    );
    text.push_str(header);
    text.push_str(" \\\\\n\\midrule\n");
    for row in rows {
        text.push_str(row);
        text.push_str(" \\\\\n");
    }
    text.push_str("\\bottomrule\n\\end{tabular}\n");
    text
}

const NOTHING: &str = "--";

pub(super) fn coverage(content: &Content<'_>) -> String {
    let mut text = String::from(
        "% Coverage: h; H as mean, standard error over seeds and best seed.\n\
         % Bold: H better by more than the standard error; underlined: worse by more;\n\
         % dagger: both solve 90 % or more, too easy to tell. Needs booktabs.\n",
    );
    for section in &content.sections {
        let group = &content.index.groups[section.group];
        let beside = content.index.searches[group.search].as_in_paper();
        let names = heuristics(section);
        let mut header = String::from("domain (problems)");
        for letter in ['h', 'H'] {
            for name in &names {
                header.push_str(&format!(" & {}", symbol(letter, name)));
            }
        }
        let mut rows = Vec::new();
        for domain in domains(section) {
            let label = &content.index.domains[domain].label;
            let of = |name: &str| row_of(section, domain, name).map(|row| &row.coverage);
            let problems = names.iter().filter_map(|name| of(name)).map(|c| c.problems);
            let problems = problems.max().unwrap_or(0);
            // A cell over fewer problems than its row says so.
            let out_of = |own: usize| match own == problems {
                true => String::new(),
                false => format!(" of {own}"),
            };
            let mut row = format!("{} ({problems})", escape(label));
            for name in &names {
                let base = of(name).and_then(|cell| {
                    let base = cell.base?;
                    Some(format!("{base}{}", out_of(cell.problems)))
                });
                row.push_str(&format!(" & {}", base.as_deref().unwrap_or(NOTHING)));
            }
            for name in &names {
                let cell = of(name).and_then(|cell| {
                    let learned = cell.learned.as_ref()?;
                    let error = learned
                        .standard_error
                        .map_or(String::new(), |error| format!(" $\\pm$ {}", tenths(error)));
                    let number = format!(
                        "{}{error} ({}){}",
                        tenths(learned.mean),
                        learned.best,
                        out_of(cell.problems)
                    );
                    Some(match cell.mark {
                        Mark::Better => format!("\\textbf{{{number}}}"),
                        Mark::Worse => format!("\\underline{{{number}}}"),
                        Mark::Caution => format!("{number}$^\\dagger$"),
                        Mark::None => number,
                    })
                });
                row.push_str(&format!(" & {}", cell.as_deref().unwrap_or(NOTHING)));
            }
            rows.push(row);
            if let Some(paper) = content.index.domains[domain].paper.filter(|_| beside) {
                rows.push(paper_coverage(paper, &names));
            }
        }
        let columns = format!("l{}{}", "r".repeat(names.len()), "c".repeat(names.len()));
        text.push_str(&tabular(&group.label, &columns, &header, &rows));
    }
    text
}

fn paper_coverage(paper: &paper::PaperDomain, names: &[&str]) -> String {
    let mut row = format!("\\quad\\footnotesize paper ({})", paper.problems);
    for name in names {
        let base = paper::column(name).map(|column| paper.base[column].to_string());
        let base = base.as_deref().unwrap_or(NOTHING);
        row.push_str(&format!(" & \\footnotesize {base}"));
    }
    for name in names {
        let learned = paper::column(name).map(|column| {
            let learned = paper.learned[column];
            format!(
                "{} $\\pm$ {} ({})",
                tenths(learned.mean),
                tenths(learned.standard_error),
                learned.best
            )
        });
        let learned = learned.as_deref().unwrap_or(NOTHING);
        row.push_str(&format!(" & \\footnotesize {learned}"));
    }
    row
}

pub(super) fn wins(content: &Content<'_>) -> String {
    let mut text = String::from(
        "% Problems on which H (best seed) has fewer evaluations than h, and the other way round.\n\
         % Ties and problems failed by both are left out. Needs booktabs.\n",
    );
    for section in &content.sections {
        let group = &content.index.groups[section.group];
        let beside = content.index.searches[group.search].as_in_paper();
        let names: Vec<&str> = heuristics(section)
            .into_iter()
            .filter(|name| {
                let own = |row: &&Row<'_>| row.pair.heuristic == *name && row.wins.is_some();
                section.rows.iter().any(|row| own(&row))
            })
            .collect();
        if names.is_empty() {
            continue;
        }
        let mut header = String::from("domain");
        for name in &names {
            header.push_str(&format!(" & {} & {}", symbol('H', name), symbol('h', name)));
        }
        let mut rows = Vec::new();
        for domain in domains(section) {
            let mut row = escape(&content.index.domains[domain].label);
            for name in &names {
                let wins = row_of(section, domain, name).and_then(|row| row.wins.as_ref());
                row.push_str(&wins.map_or(format!(" & {NOTHING} & {NOTHING}"), |wins| {
                    format!(" & {} & {}", wins.best.learned, wins.best.base)
                }));
            }
            rows.push(row);
            if let Some(paper) = content.index.domains[domain].paper.filter(|_| beside) {
                let mut row = String::from("\\quad\\footnotesize paper");
                for name in &names {
                    let wins = paper::column(name).map(|column| paper.wins[column]);
                    let small = |text: String| format!(" & \\footnotesize {text}");
                    let (ours, base) = wins.map_or((NOTHING.to_owned(), NOTHING.to_owned()), |w| {
                        (w.0.to_string(), w.1.to_string())
                    });
                    row.push_str(&(small(ours) + &small(base)));
                }
                rows.push(row);
            }
        }
        let columns = format!("l{}", "rr".repeat(names.len()));
        text.push_str(&tabular(&group.label, &columns, &header, &rows));
    }
    text
}

pub(super) fn goals(content: &Content<'_>) -> String {
    let mut text = String::from(
        "% Goals reached in training: mean and standard deviation over seeds.\n\
         % Bold: the best of a row, and what does not differ from it significantly\n\
         % (two-sided Wilcoxon rank-sum test, p >= 0.05). Needs booktabs.\n",
    );
    for training in &content.training {
        let mut names: Vec<&str> = training
            .rows
            .iter()
            .flat_map(|row| row.cells.iter().map(|cell| cell.heuristic))
            .collect();
        names.sort_by_key(|name| heuristic_order(name));
        names.dedup();
        let mut header = String::from("domain");
        for name in &names {
            header.push_str(&format!(" & {}", symbol('h', name)));
        }
        let mut rows = Vec::new();
        for row in &training.rows {
            let domain = &content.index.domains[row.domain];
            let mut line = escape(&domain.label);
            for name in &names {
                let cell = row.cells.iter().find(|cell| cell.heuristic == *name);
                let cell = cell.map_or(NOTHING.to_owned(), |cell| {
                    let deviation = cell
                        .deviation
                        .map_or(String::new(), |deviation| format!(" $\\pm$ {deviation:.0}"));
                    let number = format!("{:.0}{deviation}", cell.mean);
                    match cell.best {
                        true => format!("\\textbf{{{number}}}"),
                        false => number,
                    }
                });
                line.push_str(&format!(" & {cell}"));
            }
            rows.push(line);
            if let Some(paper) = domain.paper {
                let mut line = String::from("\\quad\\footnotesize paper");
                for name in &names {
                    let goals = paper::column(name).map(|column| paper.goals[column]);
                    let goals = goals.map_or(NOTHING.to_owned(), |(mean, deviation)| {
                        format!("{mean:.0} $\\pm$ {deviation:.0}")
                    });
                    line.push_str(&format!(" & \\footnotesize {goals}"));
                }
                rows.push(line);
            }
        }
        let columns = format!("l{}", "r".repeat(names.len()));
        let title = match content.index.variants[training.variant].as_str() {
            "" => "all training",
            label => label,
        };
        text.push_str(&tabular(title, &columns, &header, &rows));
    }
    text
}
