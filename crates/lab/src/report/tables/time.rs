//! Time.

use super::{NOTHING, scrolling, to_runs};
use crate::report::heuristics::{class_of, shown};
use crate::report::latex::domains;
use crate::report::text::{html, integer, link, percent, three_digits};
use crate::report::{Content, Row, Section};

pub(in crate::report) fn time(content: &Content<'_>, section: &Section<'_>) -> String {
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
            let label = &content.index.domains[domain].label;
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
                let every = [("domain", label.as_str()), ("heuristic", name)];
                let both = to_runs(content, section, &integer(time.both as u64), &every);
                body.push_str(&format!("<td>{both}</td>"));
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
                body.push_str(&training.map_or(NOTHING.repeat(2), |cell| {
                    let target =
                        format!("#trainings?domain={}&heuristic={}", link(label), link(name));
                    format!(
                        "<td><a href=\"{}\">{}</a></td><td>{}</td>",
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
        "<th rowspan=\"2\" scope=\"col\">training,<br>CPU s a run</th><th rowspan=\"2\" scope=\"col\">of it<br>network</th>"
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
