//! The figures of a domain: evaluations of h and H, the rate solved against size, goals in training.

use std::collections::BTreeMap;

use super::goals::{GoalsRow, curves};
use super::heuristics::{class_of, heuristic_order, shape};
use super::objects::{Sizes, Solved};
use super::pair::Pair;
use super::record_index::RecordIndex;
use super::svg::{Axis, Plot, short};
use super::text::{html, integer, link, percent, tenths};
use super::{Content, Row, Section};

/// A mark that stands for more problems than this links to all of its domain and heuristic.
const MOST_IN_A_LINK: usize = 40;

/// The part of a link that names the group, where there are several.
pub(super) fn group_in_link(content: &Content<'_>, section: &Section<'_>) -> String {
    match content.index.groups.len() {
        1 => String::new(),
        _ => format!("group={}&", section.group),
    }
}

/// One mark of a scatter plot: the heuristic and the pixel.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Spot<'r> {
    heuristic: (usize, &'r str),
    x: i64,
    y: i64,
}

/// Evaluations of GBFS(h) against those of GBFS(H), every seed a mark, failures on the border.
/// Runs at the same pixel are one mark.
pub(super) fn scatter(content: &Content<'_>, section: &Section<'_>, rows: &[&Row<'_>]) -> String {
    let compared: Vec<&&Row<'_>> = rows
        .iter()
        .filter(|row| row.pair.base.is_some() && !row.pair.series.is_empty())
        .collect();
    if compared.is_empty() {
        return String::new();
    }
    // A limit of none has its place on the axis too.
    let limit = compared.iter().map(|row| row.pair.limit).max();
    let limit = limit.unwrap_or(1).max(1);
    let least = compared
        .iter()
        .flat_map(|row| {
            let base = row.pair.base.iter().flatten();
            base.chain(row.pair.series.iter().flat_map(|series| &series.runs))
        })
        .filter_map(|run| Pair::solved_with(run))
        .min()
        .unwrap_or(1)
        .clamp(1, limit);
    let from = 10_f64.powf((least as f64).log10().floor());
    let border = (limit as f64).max(from * 10.0) * 3.0;
    let axis = Axis {
        from,
        to: border,
        log: true,
        last: limit as f64,
    };
    let mut plot = Plot::new(axis, axis);
    let (edge_x, edge_y) = (axis.x(limit as f64), axis.y(limit as f64));
    let (far_x, far_y, near_x, near_y) =
        (axis.x(border), axis.y(border), axis.x(from), axis.y(from));
    plot.push(&format!(
        "<path class=\"beyond\" d=\"M{edge_x:.1} {near_y:.1}V{edge_y:.1}H{near_x:.1}V{far_y:.1}H{far_x:.1}V{near_y:.1}z\"/>"
    ));
    plot.frame("evaluations with h", "evaluations with H", short, short);
    plot.push(&format!(
        "<path class=\"diagonal\" d=\"M{near_x:.1} {near_y:.1}L{far_x:.1} {far_y:.1}\"/>\
         <g class=\"ticks\"><text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">fail</text>\
         <text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">fail</text></g>",
        far_x + 4.0,
        near_y + 14.0,
        near_x - 6.0,
        far_y + 3.5,
    ));

    let mut words = Vec::new();
    let domain = compared[0].pair.domain;
    let label = &content.index.domains[domain].label;
    for best in [false, true] {
        let mut spots: BTreeMap<Spot<'_>, Vec<usize>> = BTreeMap::new();
        for row in &compared {
            let Some(base) = &row.pair.base else { continue };
            let chosen = row.pair.best_seed();
            for (place, series) in row.pair.series.iter().enumerate() {
                if (Some(place) == chosen) != best {
                    continue;
                }
                for (at, (h, ours)) in base.iter().zip(&series.runs).enumerate() {
                    let value = |run| Pair::solved_with(run).map_or(border, |count| count as f64);
                    let spot = Spot {
                        heuristic: heuristic_order(row.pair.heuristic),
                        x: axis.x(value(h)).round() as i64,
                        y: axis.y(value(ours)).round() as i64,
                    };
                    let problems = spots.entry(spot).or_default();
                    let problem = row.pair.problems[at];
                    if !problems.contains(&problem) && problems.len() <= MOST_IN_A_LINK {
                        problems.push(problem);
                    }
                }
            }
        }
        let group = group_in_link(content, section);
        let mut open = "";
        for (spot, mut problems) in spots {
            let (heuristic, x, y) = (spot.heuristic.1, spot.x, spot.y);
            if heuristic != open {
                let end = if open.is_empty() { "" } else { "</g>" };
                let class = if best { "best" } else { "seed" };
                plot.push(&format!(
                    "{end}<g class=\"k-{} {class}\">",
                    class_of(heuristic)
                ));
                open = heuristic;
            }
            problems.sort_unstable();
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            let which = if problems.len() > MOST_IN_A_LINK {
                String::new()
            } else {
                format!("&p={}", problems.join("."))
            };
            let target = format!(
                "#runs?{group}domain={}&heuristic={}{which}",
                link(label),
                link(heuristic)
            );
            plot.push(&format!(
                "<a href=\"{}\" tabindex=\"-1\">{}</a>",
                html(&target),
                shape(heuristic, x as f64, y as f64, if best { 1.15 } else { 1.0 })
            ));
        }
        if !open.is_empty() {
            plot.push("</g>");
        }
    }
    for row in &compared {
        if let Some(wins) = &row.wins {
            words.push(format!(
                "{}: H of the best seed has fewer evaluations on {} problems, h on {}",
                row.pair.heuristic, wins.best.learned, wins.best.base
            ));
        }
    }
    plot.figure(
        "Evaluations, h against H",
        &format!(
            "{label}: evaluations of h against H, both logarithmic. {}.",
            words.join("; ")
        ),
    )
}

/// The rate of problems solved against the number of objects.
pub(super) fn solved_by_objects(index: &RecordIndex<'_>, rows: &[&Row<'_>]) -> String {
    let sizes: Vec<f64> = rows
        .iter()
        .flat_map(|row| row.bins.iter().map(super::objects::Bin::middle))
        .collect();
    let Some(first) = rows.first().filter(|_| !sizes.is_empty()) else {
        return String::new();
    };
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = sizes.iter().copied().fold(0.0, f64::max);
    // A single size needs some width around it.
    let (from, to) = if most > least {
        (least, most)
    } else {
        (least - 1.0, least + 1.0)
    };
    let margin = (to - from) * 0.03;
    let mut plot = Plot::new(
        Axis::linear(from - margin, to + margin),
        Axis::linear(0.0, 1.0),
    );
    plot.frame("objects", "solved", tenths, |share| {
        format!("{:.0} %", share * 100.0)
    });
    let mut words = Vec::new();
    for row in rows {
        let heuristic = row.pair.heuristic;
        plot.push(&format!("<g class=\"k-{}\">", class_of(heuristic)));
        let share = |count: f64, problems: usize| count / problems as f64;
        let learned: Vec<_> = row
            .bins
            .iter()
            .filter_map(|bin| bin.learned.map(|learned| (bin, learned)))
            .collect();
        let band: Vec<(f64, f64, f64)> = learned
            .iter()
            .map(|(bin, solved)| {
                let [low, high] =
                    [solved.least, solved.most].map(|count| share(count as f64, bin.problems));
                (bin.middle(), low, high)
            })
            .collect();
        plot.band(&band);
        let base: Vec<(f64, f64)> = row
            .bins
            .iter()
            .filter_map(|bin| Some((bin.middle(), share(bin.base? as f64, bin.problems))))
            .collect();
        plot.line("base", &base);
        let means: Vec<(f64, f64)> = learned
            .iter()
            .map(|(bin, solved)| (bin.middle(), share(solved.mean, bin.problems)))
            .collect();
        plot.line("learned", &means);
        for bin in &row.bins {
            let Sizes { least, most } = bin.objects;
            let size = if least == most {
                format!("{least} objects")
            } else {
                format!("{least} to {most} objects")
            };
            if let Some(solved) = bin.base {
                let rate = share(solved as f64, bin.problems);
                let words = format!("{heuristic}, {size}: {solved} of {} solved", bin.problems);
                plot.push("<g class=\"hollow\">");
                plot.mark(heuristic, bin.middle(), rate, &words);
                plot.push("</g>");
            }
            if let Some(Solved { least, mean, most }) = bin.learned {
                let rate = share(mean, bin.problems);
                let words = format!(
                    "H-{heuristic}, {size}: {} of {} solved in the mean, {least} to {most} over seeds",
                    tenths(mean),
                    bin.problems
                );
                plot.mark(heuristic, bin.middle(), rate, &words);
            }
        }
        plot.push("</g>");
        let coverage = &row.coverage;
        let problems = coverage.problems.max(1) as f64;
        if let Some(base) = coverage.base {
            words.push(format!("{heuristic} {}", percent(base as f64 / problems)));
        }
        if let Some(learned) = &coverage.learned {
            words.push(format!(
                "H-{heuristic} {}",
                percent(learned.mean / problems)
            ));
        }
    }
    let label = &index.domains[first.pair.domain].label;
    let heading = match first.threshold {
        Some(most) => format!("Solved within {} evaluations, by size", integer(most)),
        None => "Solved, by size".to_owned(),
    };
    plot.figure(
        &heading,
        &format!(
            "{label}: rate of problems solved against the number of objects. Over all: {}.",
            words.join(", ")
        ),
    )
}

/// Goals reached up to each step of training.
pub(super) fn cumulative_goals(index: &RecordIndex<'_>, row: &GoalsRow<'_>) -> String {
    let curves = curves(row);
    let points = || curves.iter().flat_map(|curve| &curve.points);
    if curves.is_empty() {
        return String::new();
    }
    let steps = points().map(|point| point.step).fold(1.0, f64::max);
    let goals = points().map(|point| point.most).fold(1.0, f64::max);
    let mut plot = Plot::new(Axis::linear(0.0, steps), Axis::linear(0.0, goals * 1.04));
    plot.frame("training step", "goals", short, short);
    for curve in &curves {
        plot.push(&format!("<g class=\"k-{}\">", class_of(curve.heuristic)));
        let band: Vec<(f64, f64, f64)> = curve
            .points
            .iter()
            .map(|at| (at.step, at.least, at.most))
            .collect();
        plot.band(&band);
        let means: Vec<(f64, f64)> = curve.points.iter().map(|at| (at.step, at.mean)).collect();
        plot.line("learned", &means);
        for at in curve.points.iter().skip(10).step_by(10) {
            let words = format!(
                "{}, step {:.0}: {:.0} goals in the mean",
                curve.heuristic, at.step, at.mean
            );
            plot.mark(curve.heuristic, at.step, at.mean, &words);
        }
        plot.push("</g>");
    }
    let words: Vec<String> = row
        .cells
        .iter()
        .map(|cell| format!("{} {:.0}", cell.heuristic, cell.mean))
        .collect();
    plot.figure(
        "Goals in training",
        &format!(
            "{}: goals reached in training by step; at the end {}.",
            index.domains[row.domain].label,
            words.join(", ")
        ),
    )
}
