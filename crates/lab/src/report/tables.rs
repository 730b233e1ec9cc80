//! The tables of the page. Every number links to its runs.

use super::book::heuristic_order;
use super::coverage::{Learned, Mark};
use super::figures::{class_of, group_in_link};
use super::latex::{domains, heuristics, row_of};
use super::text::{counted, html, integer, link, percent, tenths, three_digits};
use super::{Content, Row, Section};
use crate::paper::{self, PaperDomain};
use crate::statistics::Method;

/// The first columns of tables by domain.
const BEFORE: &str = "<th rowspan=\"2\" scope=\"col\" class=\"left\">domain</th>\
                      <th rowspan=\"2\" scope=\"col\">problems</th>";

const NOTHING: &str = "<td class=\"none\">–</td>";

/// How tables call a heuristic.
pub(super) fn shown(heuristic: &str) -> String {
    match heuristic {
        "ff" => "FF".to_owned(),
        name => html(name),
    }
}

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
    let search = content.book.groups[section.group].search;
    let known = content.book.domains[domain].paper;
    known.filter(|_| content.book.searches[search].as_in_paper())
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

pub(super) fn coverage(content: &Content<'_>, section: &Section<'_>) -> String {
    let names = heuristics(section);
    let learned = section
        .rows
        .iter()
        .any(|row| row.coverage.learned.is_some());
    let columns: &[&str] = if learned {
        &["<i>h</i>", "<i>H</i> mean ± s.e. (best)"]
    } else {
        &["<i>h</i>"]
    };
    let before = BEFORE;
    let mut body = String::new();
    for domain in domains(section) {
        let label = &content.book.domains[domain].label;
        let of = |name: &str| row_of(section, domain, name);
        let problems = names
            .iter()
            .filter_map(|name| of(name))
            .map(|row| row.coverage.problems);
        let problems = problems.max().unwrap_or(0);
        let paper = paper_in(content, section, domain);
        let beside = paper.map_or(String::new(), |paper| {
            format!("<small class=\"paper\">paper {}</small>", paper.problems)
        });
        body.push_str(&format!(
            "<tr><th scope=\"row\" class=\"left\">{}</th><td>{problems}{beside}</td>",
            html(label)
        ));
        for name in &names {
            let Some(row) = of(name) else {
                body.push_str(&NOTHING.repeat(columns.len()));
                continue;
            };
            let paper = paper.zip(paper::column(name));
            body.push_str(&base_cell(content, section, row, problems, paper));
            if learned {
                body.push_str(&learned_cell(content, section, row, problems, paper));
            }
        }
        body.push_str("</tr>");
    }
    scrolling(
        "Coverage",
        &self::columns(2, &names, columns.len()),
        &heads(&names, columns, before),
        &body,
    )
}

/// The rate, and of how many problems if not of all in the row.
fn rate(solved: f64, own: usize, problems: usize) -> String {
    let out_of = match own == problems {
        true => String::new(),
        false => format!(" of {own}"),
    };
    format!(
        "<small>{}{out_of}</small>",
        percent(solved / own.max(1) as f64)
    )
}

fn base_cell(
    content: &Content<'_>,
    section: &Section<'_>,
    row: &Row<'_>,
    problems: usize,
    paper: Option<(&PaperDomain, usize)>,
) -> String {
    let Some(base) = row.coverage.base else {
        return NOTHING.to_owned();
    };
    let domain = &content.book.domains[row.pair.domain].label;
    let wanted = [
        ("domain", domain.as_str()),
        ("configuration", row.pair.heuristic),
    ];
    let number = to_runs(content, section, &base.to_string(), &wanted);
    let beside = paper.map_or(String::new(), |(paper, column)| {
        let share = f64::from(paper.base[column]) / f64::from(paper.problems);
        format!("<small class=\"paper\">paper {}</small>", percent(share))
    });
    format!(
        "<td>{number}{}{beside}{}</td>",
        rate(base as f64, row.coverage.problems, problems),
        short_of_limit(row.coverage.base_stopped_short),
    )
}

fn short_of_limit(count: usize) -> String {
    match count {
        0 => String::new(),
        count => format!("<small class=\"short\">{count} stopped short</small>"),
    }
}

fn learned_cell(
    content: &Content<'_>,
    section: &Section<'_>,
    row: &Row<'_>,
    problems: usize,
    paper: Option<(&PaperDomain, usize)>,
) -> String {
    let Some(learned) = &row.coverage.learned else {
        return NOTHING.to_owned();
    };
    let domain = &content.book.domains[row.pair.domain].label;
    let configuration = format!("H-{}", row.pair.heuristic);
    let wanted = [
        ("domain", domain.as_str()),
        ("configuration", configuration.as_str()),
    ];
    let mean = to_runs(content, section, &number(learned), &wanted);
    let seed = learned.best_seed.to_string();
    let of_best = [wanted[0], wanted[1], ("seed", seed.as_str())];
    let best = to_runs(content, section, &format!("({})", learned.best), &of_best);
    let (class, sign) = match row.coverage.mark {
        Mark::None => ("", ""),
        Mark::Better => ("better", ""),
        Mark::Worse => ("worse", ""),
        Mark::Caution => (
            "caution",
            "<abbr title=\"both solve nearly all problems: too easy to tell them apart\">†</abbr>",
        ),
    };
    let beside = paper.map_or(String::new(), |(paper, column)| {
        let theirs = paper.learned[column];
        let total = f64::from(paper.problems);
        let title = format!(
            "paper: {} ± {} ({}) of {}",
            tenths(theirs.mean),
            tenths(theirs.standard_error),
            theirs.best,
            paper.problems
        );
        format!(
            "<small class=\"paper\" title=\"{title}\">paper {} ({})</small>",
            percent(theirs.mean / total),
            percent(f64::from(theirs.best) / total)
        )
    });
    format!(
        "<td class=\"{class}\"><span class=\"value\">{mean} {best}</span>{sign}{}{beside}{}{}</td>",
        rate(learned.mean, row.coverage.problems, problems),
        short_of_limit(learned.stopped_short),
        match learned.seeds.len() {
            1 => "<small class=\"short\">1 seed</small>",
            _ => "",
        }
    )
}

fn number(learned: &Learned) -> String {
    match learned.standard_error {
        Some(error) => format!("{} ± {}", tenths(learned.mean), tenths(error)),
        None => tenths(learned.mean),
    }
}

pub(super) fn wins(content: &Content<'_>, section: &Section<'_>) -> Option<String> {
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
        let label = &content.book.domains[domain].label;
        let problems = names
            .iter()
            .filter_map(|name| Some(row_of(section, domain, name)?.wins.as_ref()?.problems));
        let problems = problems.max().unwrap_or(0);
        let beside = paper_in(content, section, domain).map_or(String::new(), |paper| {
            format!("<small class=\"paper\">paper {}</small>", paper.problems)
        });
        body.push_str(&format!(
            "<tr><th scope=\"row\" class=\"left\">{}</th><td>{problems}{beside}</td>",
            html(label)
        ));
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
                    _ => format!("<small>mean {}</small>", tenths(mean)),
                };
                if wins.problems != problems {
                    mean.push_str(&format!("<small>of {}</small>", wins.problems));
                }
                let class = if ahead { " class=\"ahead\"" } else { "" };
                format!("<td{class}>{number}{mean}{beside}</td>")
            };
            body.push_str(&cell(
                to_runs(content, section, &wins.best.0.to_string(), &of_learned),
                wins.mean.0,
                paper.map(|paper| paper.0),
                wins.best.0 > wins.best.1,
            ));
            body.push_str(&cell(
                to_runs(content, section, &wins.best.1.to_string(), &of_base),
                wins.mean.1,
                paper.map(|paper| paper.1),
                wins.best.1 > wins.best.0,
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

pub(super) fn goals(content: &Content<'_>, place: usize) -> String {
    let (variant, rows) = &content.training[place];
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
        let domain = &content.book.domains[row.domain];
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
            let one_of_several = match content.book.variants.len() {
                1 => String::new(),
                _ => format!("training={variant}&"),
            };
            let target = format!(
                "#trainings?{one_of_several}domain={}&heuristic={}",
                link(&domain.label),
                link(name)
            );
            let test = cell.test.map_or(String::new(), |(p, method)| {
                let method = match method {
                    Method::Exact => "exact",
                    Method::Asymptotic => "asymptotic",
                };
                format!("<small title=\"rank-sum test against the best of the row, {method}\">p {}</small>", probability(p))
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
                    "<small class=\"short\">{}</small>",
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

pub(super) fn time(content: &Content<'_>, section: &Section<'_>) -> String {
    let learned = section
        .rows
        .iter()
        .any(|row| row.coverage.learned.is_some());
    let trained = section.rows.iter().any(|row| {
        content
            .training_of(section, row.pair.domain, row.pair.heuristic)
            .is_some()
    });
    let mut body = String::new();
    for domain in domains(section) {
        let rows: Vec<&Row<'_>> = section
            .rows
            .iter()
            .filter(|row| row.pair.domain == domain)
            .collect();
        for (place, row) in rows.iter().enumerate() {
            let label = &content.book.domains[domain].label;
            let name = row.pair.heuristic;
            let head = match place {
                0 => format!(
                    "<th scope=\"rowgroup\" class=\"left\" rowspan=\"{}\">{}</th>",
                    rows.len(),
                    html(label)
                ),
                _ => String::new(),
            };
            let configuration = format!("H-{name}");
            let cell = |value: Option<f64>, configuration: &str| {
                value.map_or(NOTHING.to_owned(), |value| {
                    let wanted = [("domain", label.as_str()), ("configuration", configuration)];
                    format!(
                        "<td>{}</td>",
                        to_runs(content, section, &three_digits(value), &wanted)
                    )
                })
            };
            let time = &row.time;
            let first = if place == 0 { " class=\"first\"" } else { "" };
            body.push_str(&format!(
                "<tr{first}>{head}<th scope=\"row\" class=\"left k-{}\"><span class=\"key\">{}</span></th>",
                class_of(name),
                shown(name)
            ));
            if learned {
                body.push_str(&format!("<td>{}</td>", integer(time.both as u64)));
            }
            body.push_str(&cell(time.base_seconds, name));
            if learned {
                body.push_str(&cell(time.learned_seconds, &configuration));
            }
            body.push_str(&cell(time.base_rate, name));
            if learned {
                body.push_str(&cell(time.learned_rate, &configuration));
            }
            if trained {
                let training = content.training_of(section, domain, name);
                body.push_str(&training.map_or(NOTHING.to_owned(), |cell| {
                    let target =
                        format!("#trainings?domain={}&heuristic={}", link(label), link(name));
                    format!(
                        "<td><a href=\"{}\">{}</a><small>network {}</small></td>",
                        html(&target),
                        three_digits(cell.cpu_seconds),
                        percent(cell.network_share)
                    )
                }));
            }
            body.push_str("</tr>");
        }
    }
    let span = if learned { 2 } else { 1 };
    let both = if learned {
        "<th rowspan=\"2\" scope=\"col\">pairs that<br>both solve</th>"
    } else {
        ""
    };
    let training = if trained {
        "<th rowspan=\"2\" scope=\"col\">training,<br>CPU s a run</th>"
    } else {
        ""
    };
    let sides = if learned {
        "<th scope=\"col\"><i>h</i></th><th scope=\"col\"><i>H</i></th>"
    } else {
        "<th scope=\"col\"><i>h</i></th>"
    };
    let head = format!(
        "<tr><th rowspan=\"2\" scope=\"col\" class=\"left\">domain</th><th rowspan=\"2\" scope=\"col\" class=\"left\">heuristic</th>{both}\
         <th scope=\"colgroup\" colspan=\"{span}\">CPU seconds, median</th><th scope=\"colgroup\" colspan=\"{span}\">evaluations a CPU second</th>{training}</tr>\
         <tr>{}</tr>",
        sides.repeat(2)
    );
    scrolling("Time", &[], &head, &body)
}

/// Which runs a finished experiment would have beside those that are there.
pub(super) fn missing(content: &Content<'_>, section: &Section<'_>) -> String {
    let mut body = String::new();
    let mut missing = 0;
    for row in section.rows.iter().filter(|row| row.pair.missing() > 0) {
        let pair = &row.pair;
        missing += pair.missing();
        let left_out: Vec<String> = pair
            .left_out
            .iter()
            .map(|(seed, there)| format!("{seed} ({})", counted(*there, "run", "runs")))
            .collect();
        body.push_str(&format!(
            "<tr><th scope=\"row\" class=\"left\">{}</th><td class=\"left\">{}</td><td>{} of {}</td><td>{} of {}</td><td>{}</td><td class=\"left\">{}</td></tr>",
            html(&content.book.domains[pair.domain].label),
            shown(pair.heuristic),
            pair.base_there,
            pair.expected,
            pair.learned_there,
            pair.seeds * pair.expected,
            pair.problems.len(),
            if left_out.is_empty() { "–".to_owned() } else { left_out.join(", ") },
        ));
    }
    if missing == 0 {
        return String::new();
    }
    let head = "<tr><th scope=\"col\" class=\"left\">domain</th><th scope=\"col\" class=\"left\">heuristic</th>\
                <th scope=\"col\">runs of <i>h</i></th><th scope=\"col\">runs of <i>H</i></th>\
                <th scope=\"col\">problems compared</th><th scope=\"col\" class=\"left\">seeds left out</th></tr>";
    format!(
        "<details><summary>{} missing</summary>\
         <p>Compared are problems that <i>h</i> and every seed of <i>H</i> have run. A seed that has run too few is left out: \
         as many seeds are kept as leave the most runs to compare.</p>{}</details>",
        counted(missing, "run is", "runs are"),
        scrolling("Missing runs", &[], head, &body)
    )
}
