//! The page, in one file, and what it can offer.

use homing::models::AUTO;
use homing_lab::{DomainName, Parameters};
use homing_planner::{HeuristicKind, SearchKind};
use serde_json::{Value, json};

use crate::http::Reply;
use crate::server::Shared;

/// Where the data of a page without a server stands.
const DATA: &str = "/*DATA*/null";

/// The page, made of its parts.
fn html() -> String {
    include_str!("page/page.html")
        .replace("/*STYLE*/", include_str!("page/style.css"))
        .replace(
            "/*SCRIPT*/",
            &[
                include_str!("page/base.js"),
                include_str!("page/editor.js"),
                include_str!("page/world.js"),
                include_str!("page/search.js"),
                include_str!("page/records.js"),
                include_str!("page/train.js"),
                include_str!("page/app.js"),
            ]
            .join("\n"),
        )
}

/// The page with data in it, which needs no server.
pub fn with_data(data: &Value) -> String {
    // A text in the data must not end the script that it stands in.
    let data = data.to_string().replace('<', "\\u003c");
    html().replacen(DATA, &data, 1)
}

pub(crate) fn reply() -> Reply {
    let mut reply = Reply::new(200, "text/html; charset=utf-8", html());
    // Nothing but itself and this server, and no frame of another page around it.
    let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                  img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                  frame-ancestors 'none'";
    reply
        .headers
        .push(("Content-Security-Policy", policy.to_owned()));
    reply
}

/// Sizes of the example and of training problems of each domain, as names of files carry them.
fn sizes(domain: DomainName) -> (&'static str, &'static str) {
    match domain {
        DomainName::Blocks => ("8", "5"),
        DomainName::Ferry => ("4-4", "3-3"),
        DomainName::Gripper => ("5", "3"),
        DomainName::Logistics => ("1-2-2-3", "1-2-2-2"),
        DomainName::Miconic => ("6-4", "4-3"),
        DomainName::Parking => ("5-8", "3-3"),
        DomainName::Satellite => ("1-2-2-4-3", "1-1-2-3-2"),
        DomainName::Visitall => ("6-10", "3-10"),
    }
}

fn examples() -> Vec<Value> {
    let of = |domain: DomainName| {
        let (example, training) = sizes(domain);
        let problem = Parameters::from_label(domain, example)?.generate(1).ok()?;
        Some(json!({
            "name": domain.as_str(), "domain": domain.text(), "problem": problem.to_string(),
            "sizes": example, "training": training,
        }))
    };
    DomainName::ALL.into_iter().filter_map(of).collect()
}

/// What there is to choose from.
pub(crate) fn offer(shared: &Shared) -> Value {
    // Those that a policy guides need a model of their own kind: they are for the command.
    let searches = SearchKind::without_policy()
        .map(|kind| json!({"name": kind.name(), "text": kind.description()}));
    let searches: Vec<Value> = searches.collect();
    let heuristics =
        HeuristicKind::ALL.map(|kind| json!({"name": kind.name(), "text": kind.description()}));
    let (working, waiting) = shared.load();
    json!({
        "version": homing::resources::VERSION, "examples": examples(), "searches": searches,
        "heuristics": heuristics, "models": shared.models.list(), "auto": AUTO,
        "time_limit": shared.options.time_limit, "working": working, "waiting": waiting,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_domain_has_an_example() {
        assert_eq!(examples().len(), DomainName::ALL.len());
    }

    #[test]
    fn the_page_is_one_file_that_asks_for_nothing() {
        let page = html();
        // The name of SVG is none to be fetched, nor is a mark of the page itself.
        let page = page
            .replace("http://www.w3.org/2000/svg", "")
            .replace("url(#", "");
        for trace in [
            "src=",
            "http://",
            "https://",
            "@import",
            "url(",
            "rel=\"stylesheet",
        ] {
            assert!(!page.contains(trace), "the page has `{trace}`");
        }
        assert_eq!(page.matches(DATA).count(), 1);
        assert!(!page.contains("/*SCRIPT*/") && !page.contains("/*STYLE*/"));
    }

    #[test]
    fn data_cannot_end_the_script() {
        let page = with_data(&json!({"x": "</script><b>"}));
        assert!(!page.contains("</script><b>"));
        assert!(!page.contains(DATA));
    }
}
