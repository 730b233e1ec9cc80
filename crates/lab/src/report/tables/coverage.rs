//! Coverage, what is missing of it, and coverage of others.

use super::{BEFORE, NOTHING, heads, paper_in, row_head, scrolling, to_runs};
use crate::paper::{self, PaperDomain};
use crate::report::coverage::{Learned, Mark};
use crate::report::heuristics::{class_of, shown};
use crate::report::latex::{domains, heuristics, row_of};
use crate::report::text::{counted, html, percent, tenths};
use crate::report::{Content, Row, Section};

pub(in crate::report) fn coverage(content: &Content<'_>, section: &Section<'_>) -> String {
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
        let of = |name: &str| row_of(section, domain, name);
        let problems = names
            .iter()
            .filter_map(|name| of(name))
            .map(|row| row.coverage.problems);
        let problems = problems.max().unwrap_or(0);
        let paper = paper_in(content, section, domain);
        body.push_str(&row_head(content, section, domain, problems));
        for name in &names {
            let Some(row) = of(name) else {
                body.push_str(&NOTHING.repeat(columns.len()));
                continue;
            };
            let prior = paper.and_then(|paper| Some((paper, paper.prior.of(name)?)));
            let paper = paper.zip(paper::column(name));
            body.push_str(&base_cell(content, section, row, problems, paper));
            if learned {
                let prior = prior.map(|(paper, solved)| prior_rate(paper, solved));
                let cell = learned_cell(content, section, row, problems, paper, prior);
                body.push_str(&cell);
            }
        }
        body.push_str("</tr>");
    }
    scrolling(
        "Coverage",
        &super::columns(2, &names, columns.len()),
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
    let domain = &content.index.domains[row.pair.domain].label;
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
    prior: Option<String>,
) -> String {
    let Some(learned) = &row.coverage.learned else {
        return NOTHING.to_owned();
    };
    let domain = &content.index.domains[row.pair.domain].label;
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
    let beside = paper.map_or(prior.unwrap_or_default(), |(paper, column)| {
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

/// The paper's rate of a learned heuristic of others.
fn prior_rate(paper: &PaperDomain, solved: u32) -> String {
    let share = f64::from(solved) / f64::from(paper.problems);
    format!("<small class=\"paper\">paper {}</small>", percent(share))
}

fn number(learned: &Learned) -> String {
    match learned.standard_error {
        Some(error) => format!("{} ± {}", tenths(learned.mean), tenths(error)),
        None => tenths(learned.mean),
    }
}

/// The learned heuristics that the paper compares with, beside our best heuristic.
pub(in crate::report) fn prior(content: &Content<'_>, section: &Section<'_>) -> String {
    let mut body = String::new();
    for domain in domains(section) {
        let Some(paper) = paper_in(content, section, domain) else {
            continue;
        };
        let ours = section
            .rows
            .iter()
            .filter(|row| row.pair.domain == domain)
            .filter(|row| !paper::is_prior(row.pair.heuristic))
            .filter_map(|row| {
                let learned = row.coverage.learned.as_ref()?;
                let share = learned.mean / row.coverage.problems.max(1) as f64;
                Some((share, row.pair.heuristic))
            })
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((share, heuristic)) = ours else {
            continue;
        };
        let label = content.index.domains[domain].label.as_str();
        let configuration = format!("H-{heuristic}");
        let wanted = [("domain", label), ("configuration", configuration.as_str())];
        let rate = |count: u32| percent(f64::from(count) / f64::from(paper.problems));
        body.push_str(&format!(
            "<tr><th scope=\"row\" class=\"left\">{}</th><td>{} <span class=\"k-{}\"><span class=\"key\">{}</span></span></td>",
            html(label),
            to_runs(content, section, &percent(share), &wanted),
            class_of(heuristic),
            shown(heuristic)
        ));
        let theirs = paper.prior;
        let hgn = theirs.gbfs_hgn.map_or("–".to_owned(), rate);
        let rest = [theirs.gbfs_h, theirs.gbfs_v, theirs.gbfls_h, theirs.gbfls_v].map(rate);
        for rate in std::iter::once(hgn).chain(rest) {
            body.push_str(&format!("<td>{rate}</td>"));
        }
        body.push_str("</tr>");
    }
    if body.is_empty() {
        return String::new();
    }
    let head = "<tr><th scope=\"col\" class=\"left\">domain</th><th scope=\"col\">ours, best <i>H</i> in the mean</th>\
                <th scope=\"col\">GBFS-HGN</th><th scope=\"col\">GBFS-H</th><th scope=\"col\">GBFS-V</th>\
                <th scope=\"col\">GBFLS-H</th><th scope=\"col\">GBFLS-V</th></tr>";
    format!(
        "<details><summary>Learned heuristics of others, as the paper reports them</summary>\
         <p class=\"note\">Rates of problems solved within 100,000 evaluations, the paper's on its own problems. \
         GBFLS is another search, with lookahead: its rates compare with nothing else here.</p>{}</details>",
        scrolling("Prior work", &[], head, &body)
    )
}

/// Which runs a finished experiment would have beside those that are there.
pub(in crate::report) fn missing(content: &Content<'_>, section: &Section<'_>) -> String {
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
        let label = content.index.domains[pair.domain].label.as_str();
        let configuration = format!("H-{}", pair.heuristic);
        let linked = |count: usize, configuration: &str| {
            let wanted = [("domain", label), ("configuration", configuration)];
            to_runs(content, section, &count.to_string(), &wanted)
        };
        body.push_str(&format!(
            "<tr><th scope=\"row\" class=\"left\">{}</th><td class=\"left\">{}</td><td>{} of {}</td><td>{} of {}</td><td>{}</td><td class=\"left\">{}</td></tr>",
            html(label),
            shown(pair.heuristic),
            linked(pair.base_there, pair.heuristic),
            pair.expected,
            linked(pair.learned_there, &configuration),
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
