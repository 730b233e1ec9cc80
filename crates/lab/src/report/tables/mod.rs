//! The tables of the page. Every number links to its runs.

mod coverage;
mod time;

use super::figures::group_in_link;
use super::heuristics::{class_of, heuristic_order, shown};
use super::latex::{domains, heuristics, row_of};
use super::text::{counted, html, link, tenths};
use super::{Content, Section, TrainingSection};
use crate::paper::{self, PaperDomain};
use crate::statistics::Method;

pub(super) use self::coverage::{coverage, missing, prior};
pub(super) use self::time::time;

/// The first columns of tables by domain.
const BEFORE: &str = "<th rowspan=\"2\" scope=\"col\" class=\"left\">domain</th>\
                      <th rowspan=\"2\" scope=\"col\">problems</th>";

const NOTHING: &str = "<td class=\"none\">–</td>";

/// A number that leads to its runs.
fn to_runs(
    content: &Content<'_>,
    section: &Section<'_>,
    text: &str,
    wanted: &[(&str, &str)],
) -> String {
    let wanted: Vec<String> = wanted
        .iter()
        .map(|(name, value)| format!("{name}={}", link(value)))
        .collect();
    let target = format!(
        "#runs?{}{}",
        group_in_link(content, section),
        wanted.join("&")
    );
    format!("<a href=\"{}\">{text}</a>", html(&target))
}

fn paper_in<'c>(
    content: &Content<'c>,
    section: &Section<'_>,
    domain: usize,
) -> Option<&'c PaperDomain> {
    let search = content.index.groups[section.group].search;
    let known = content.index.domains[domain].paper;
    known.filter(|_| content.index.searches[search].as_in_paper())
}

/// The first two cells of a row: the domain, and its problems beside the paper's.
fn row_head(
    content: &Content<'_>,
    section: &Section<'_>,
    domain: usize,
    problems: usize,
) -> String {
    let label = &content.index.domains[domain].label;
    let beside = paper_in(content, section, domain).map_or(String::new(), |paper| {
        format!("<small class=\"paper\">paper {}</small>", paper.problems)
    });
    format!(
        "<tr><th scope=\"row\" class=\"left\">{}</th><td>{}{beside}</td>",
        html(label),
        to_runs(
            content,
            section,
            &problems.to_string(),
            &[("domain", label)]
        )
    )
}

/// A table that may scroll sideways on narrow screens. `groups` are the columns that belong
/// together: how many of them, and how many columns each has.
fn scrolling(caption: &str, groups: &[usize], head: &str, body: &str) -> String {
    let groups: String = groups
        .iter()
        .map(|columns| format!("<colgroup span=\"{columns}\"></colgroup>"))
        .collect();
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\
         <table>{groups}<thead>{head}</thead><tbody>{body}</tbody></table></div>",
        html(caption)
    )
}

/// Columns of a table: those before the heuristics, then as many for each.
fn columns(before: usize, names: &[&str], each: usize) -> Vec<usize> {
    let mut groups = vec![before];
    groups.extend(std::iter::repeat_n(each, names.len()));
    groups
}

fn heads(names: &[&str], columns: &[&str], before: &str) -> String {
    let groups: String = names
        .iter()
        .map(|name| {
            format!(
                "<th scope=\"colgroup\" colspan=\"{}\" class=\"k-{}\"><span class=\"key\">{}</span></th>",
                columns.len(),
                class_of(name),
                shown(name)
            )
        })
        .collect();
    let inner: String = columns
        .iter()
        .map(|name| format!("<th scope=\"col\">{name}</th>"))
        .collect();
    format!(
        "<tr>{before}{groups}</tr><tr>{}</tr>",
        inner.repeat(names.len())
    )
}

pub(in crate::report) fn wins(content: &Content<'_>, section: &Section<'_>) -> Option<String> {
    let names: Vec<&str> = heuristics(section)
        .into_iter()
        .filter(|name| {
            let mut own = section
                .rows
                .iter()
                .filter(|row| row.pair.heuristic == *name);
            own.any(|row| row.wins.is_some())
        })
        .collect();
    if names.is_empty() {
        return None;
    }
    let mut body = String::new();
    for domain in domains(section) {
        let label = &content.index.domains[domain].label;
        let problems = names
            .iter()
            .filter_map(|name| Some(row_of(section, domain, name)?.wins.as_ref()?.problems));
        let problems = problems.max().unwrap_or(0);
        body.push_str(&row_head(content, section, domain, problems));
        for name in &names {
            let Some(wins) = row_of(section, domain, name).and_then(|row| row.wins.as_ref()) else {
                body.push_str(&NOTHING.repeat(2));
                continue;
            };
            let paper = paper_in(content, section, domain).zip(paper::column(name));
            let paper = paper.map(|(paper, column)| paper.wins[column]);
            let seed = wins.best_seed.to_string();
            let configuration = format!("H-{name}");
            let of_learned = [
                ("domain", label.as_str()),
                ("configuration", configuration.as_str()),
                ("seed", seed.as_str()),
            ];
            let of_base = [("domain", label.as_str()), ("configuration", *name)];
            let cell = |number: String, mean: f64, paper: Option<u32>, ahead: bool| {
                let beside = paper.map_or(String::new(), |paper| {
                    format!("<small class=\"paper\">paper {paper}</small>")
                });
                let mut mean = match wins.seeds {
                    1 => String::new(),
                    _ => {
                        let every = [("domain", label.as_str()), ("heuristic", *name)];
                        let mean = to_runs(content, section, &tenths(mean), &every);
                        format!("<small>mean {mean}</small>")
                    }
                };
                if wins.problems != problems {
                    mean.push_str(&format!("<small>of {}</small>", wins.problems));
                }
                let class = if ahead { " class=\"ahead\"" } else { "" };
                format!("<td{class}>{number}{mean}{beside}</td>")
            };
            body.push_str(&cell(
                to_runs(
                    content,
                    section,
                    &wins.best.learned.to_string(),
                    &of_learned,
                ),
                wins.mean.learned,
                paper.map(|paper| paper.0),
                wins.best.learned > wins.best.base,
            ));
            body.push_str(&cell(
                to_runs(content, section, &wins.best.base.to_string(), &of_base),
                wins.mean.base,
                paper.map(|paper| paper.1),
                wins.best.base > wins.best.learned,
            ));
        }
        body.push_str("</tr>");
    }
    let before = BEFORE;
    let head = heads(&names, &["<i>H</i> fewer", "<i>h</i> fewer"], before);
    Some(scrolling(
        "Wins by evaluations",
        &columns(2, &names, 2),
        &head,
        &body,
    ))
}

pub(in crate::report) fn goals(content: &Content<'_>, place: usize) -> String {
    let TrainingSection { variant, rows } = &content.training[place];
    let mut names: Vec<&str> = rows
        .iter()
        .flat_map(|row| row.cells.iter().map(|cell| cell.heuristic))
        .collect();
    names.sort_by_key(|name| heuristic_order(name));
    names.dedup();
    let most = rows
        .iter()
        .flat_map(|row| &row.cells)
        .map(|cell| cell.runs.len())
        .max()
        .unwrap_or(0);
    let mut body = String::new();
    for row in rows {
        let domain = &content.index.domains[row.domain];
        body.push_str(&format!(
            "<tr><th scope=\"row\" class=\"left\">{}</th>",
            html(&domain.label)
        ));
        for name in &names {
            let Some(cell) = row.cells.iter().find(|cell| cell.heuristic == *name) else {
                body.push_str(NOTHING);
                continue;
            };
            let deviation = cell
                .deviation
                .map_or(String::new(), |deviation| format!(" ± {deviation:.0}"));
            let one_of_several = match content.index.variants.len() {
                1 => String::new(),
                _ => format!("training={variant}&"),
            };
            let target = format!(
                "#trainings?{one_of_several}domain={}&heuristic={}",
                link(&domain.label),
                link(name)
            );
            let test = cell.test.map_or(String::new(), |test| {
                let method = match test.method {
                    Method::Exact => "exact",
                    Method::Asymptotic => "asymptotic",
                };
                format!("<small title=\"rank-sum test against the best of the row, {method}\">p {}</small>", probability(test.p))
            });
            let paper = domain.paper.zip(paper::column(name));
            let beside = paper.map_or(String::new(), |(paper, column)| {
                let (mean, deviation) = paper.goals[column];
                format!("<small class=\"paper\">paper {mean:.0} ± {deviation:.0}</small>")
            });
            // Seeds are told once below the table, unless they differ.
            let few = match cell.runs.len() == most {
                true => String::new(),
                false => format!(
                    "<small>{}</small>",
                    counted(cell.runs.len(), "seed", "seeds")
                ),
            };
            let class = if cell.best { "better" } else { "" };
            body.push_str(&format!(
                "<td class=\"{class}\"><span class=\"value\"><a href=\"{}\">{:.0}{deviation}</a></span>{few}{test}{beside}</td>",
                html(&target),
                cell.mean,
            ));
        }
        body.push_str("</tr>");
    }
    let before = "<th rowspan=\"2\" scope=\"col\" class=\"left\">domain</th>";
    let head = heads(&names, &["goals, mean ± s.d."], before);
    scrolling(
        "Goals reached in training",
        &columns(1, &names, 1),
        &head,
        &body,
    )
}

fn probability(p: f64) -> String {
    match p {
        p if p < 0.001 => "< 0.001".to_owned(),
        p => format!("{p:.3}"),
    }
}
