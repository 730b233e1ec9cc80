//! How a report shows heuristics: their order, names, colours and marks.
//!
//! All of it follows from the planner's list, so that a new heuristic has its place, a colour and a
//! mark without a word here. Records may also name heuristics that are not in the list: these come
//! last and share a colour.

use homing_learner::ValueKind;
use homing_planner::HeuristicKind;

use super::svg::place;
use super::text::html;

/// How records of a search without a heuristic are called.
pub(super) const NO_HEURISTIC: &str = "none";

/// A colour on light, on dark and on white paper.
struct Colour {
    light: &'static str,
    dark: &'static str,
    print: &'static str,
}

/// Told apart by most people who confuse colours. A list longer than this begins again, with marks
/// of another shape.
const COLOURS: [Colour; 7] = [
    Colour::new("#00805e", "#35c79b"),
    Colour::new("#9c4a86", "#e39ac9"),
    Colour::new("#0069ad", "#62b6f2"),
    Colour::new("#c54c00", "#ff9450"),
    Colour::new("#6b5b00", "#d6c24a"),
    Colour::new("#4a4fb0", "#a9adf7"),
    Colour::new("#8a3b3b", "#e59a9a"),
];

/// For everything that is not in the list.
const OTHER: Colour = Colour {
    light: "#5c6670",
    dark: "#a7b0b8",
    print: "#444",
};

impl Colour {
    const fn new(light: &'static str, dark: &'static str) -> Self {
        Self {
            light,
            dark,
            print: light,
        }
    }
}

/// The place of a heuristic in every table, its name last for those that are not in the list.
pub(super) fn heuristic_order(name: &str) -> (usize, &str) {
    let known = HeuristicKind::ALL.iter().position(|k| k.name() == name);
    let count = HeuristicKind::ALL.len();
    let place = known.unwrap_or(count + usize::from(name != NO_HEURISTIC));
    (place, name)
}

/// The name of a heuristic in tables, as it is.
pub(super) fn label(name: &str) -> &str {
    match HeuristicKind::from_name(name) {
        Some(kind) => kind.label(),
        None if name == ValueKind::Hgn.name() => "HGN",
        None => name,
    }
}

/// The name of a heuristic in tables of the page.
pub(super) fn shown(name: &str) -> String {
    html(label(name))
}

/// The class of a heuristic: only letters and digits may stand in one.
pub(super) fn class_of(name: &str) -> &str {
    match HeuristicKind::from_name(name) {
        Some(kind) => kind.name(),
        None if name == NO_HEURISTIC => NO_HEURISTIC,
        None => "other",
    }
}

/// What the style sheet says of heuristics: their colours, in place of `/* colours: WHERE */`, and
/// a class for each, in place of `/* classes */`.
pub(super) fn style(sheet: &str) -> String {
    let colours = |of: fn(&Colour) -> &'static str| {
        let mut text = String::new();
        for (index, kind) in HeuristicKind::ALL.into_iter().enumerate() {
            let colour = of(&COLOURS[index % COLOURS.len()]);
            text.push_str(&format!("--{kind}: {colour}; "));
        }
        text + &format!("--{NO_HEURISTIC}: {};", of(&OTHER))
    };
    let mut classes: Vec<String> = HeuristicKind::ALL
        .iter()
        .map(|kind| format!(".k-{kind} {{ --k: var(--{kind}); }}"))
        .collect();
    classes.push(format!(
        ".k-{NO_HEURISTIC}, .k-other {{ --k: var(--{NO_HEURISTIC}); }}"
    ));
    sheet
        .replace("/* colours: light */", &colours(|colour| colour.light))
        .replace("/* colours: dark */", &colours(|colour| colour.dark))
        .replace("/* colours: print */", &colours(|colour| colour.print))
        .replace("/* classes */", &classes.join(" "))
}

/// A mark in the shape of its heuristic, centred at a place of a figure.
pub(super) fn shape(heuristic: &str, x: f64, y: f64, size: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let corners: Vec<String> = corners
            .iter()
            .map(|(dx, dy)| format!("{} {}", place(x + dx), place(y + dy)))
            .collect();
        format!("<path d=\"M{}z\"/>", corners.join("L"))
    };
    let known = HeuristicKind::ALL
        .iter()
        .position(|k| k.name() == heuristic);
    match known.map(|index| index % 6) {
        Some(0) => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            place(x),
            place(y),
            place(2.4 * size)
        ),
        Some(2) => {
            let side = 2.1 * size;
            let long = place(2.0 * side);
            let (left, top) = (place(x - side), place(y - side));
            format!("<path d=\"M{left} {top}h{long}v{long}h-{long}z\"/>")
        }
        Some(3) => {
            let half = 2.7 * size;
            let low = half * 0.8;
            polygon(&[(0.0, -half), (half, low), (-half, low)])
        }
        Some(4) => {
            let half = 2.7 * size;
            let high = half * 0.8;
            polygon(&[(0.0, half), (half, -high), (-half, -high)])
        }
        Some(5) => {
            let (long, thin) = (2.8 * size, 0.9 * size);
            polygon(&[
                (-thin, -long),
                (thin, -long),
                (thin, -thin),
                (long, -thin),
                (long, thin),
                (thin, thin),
                (thin, long),
                (-thin, long),
                (-thin, thin),
                (-long, thin),
                (-long, -thin),
                (-thin, -thin),
            ])
        }
        // The second of the list, and what is not in it.
        _ => {
            let half = 2.9 * size;
            polygon(&[(0.0, -half), (half, 0.0), (0.0, half), (-half, 0.0)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heuristics_that_are_not_in_the_list_come_last() {
        let mut names = vec!["zeta", "none", "my own", "ff", "blind"];
        names.sort_by_key(|name| heuristic_order(name));
        assert_eq!(names, ["blind", "ff", "none", "my own", "zeta"]);
        assert_eq!(class_of("my own"), "other");
        assert_eq!((label("ff"), label("hgn")), ("FF", "HGN"));
        assert_eq!(shown("<own>"), "&lt;own&gt;");
    }

    #[test]
    fn every_heuristic_has_a_class_and_a_colour_in_every_light() {
        let sheet = style(include_str!("page.css"));
        assert!(!sheet.contains("/*"), "a place was not filled");
        for kind in HeuristicKind::ALL {
            assert_eq!(sheet.matches(&format!("--{kind}: #")).count(), 3);
            assert_eq!(sheet.matches(&format!(".k-{kind} {{")).count(), 1);
        }
    }
}
