//! Links lead somewhere, and the items of the code that documents name are where they say.

use std::fmt::Write as _;

use crate::markdown::{Document, documents};

fn all() -> Vec<Document> {
    documents(&[
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs",
        "dev",
        "examples",
    ])
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = String::new();
    for document in all() {
        let folder = document.path.parent().expect("a folder");
        for link in document.links() {
            if link.target.contains("://") || link.target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = match link.target.split_once('#') {
                Some((file, anchor)) => (file, Some(anchor)),
                None => (link.target.as_str(), None),
            };
            let place = format!("{}:{}", document.name, link.line);
            let path = match file {
                "" => document.path.clone(),
                file => folder.join(file),
            };
            if !path.exists() {
                let _ = writeln!(wrong, "{place}: there is no {file}");
                continue;
            }
            let Some(anchor) = anchor else { continue };
            let path = path.canonicalize().expect("a path");
            let target = all()
                .into_iter()
                .find(|other| other.path.canonicalize().ok().as_ref() == Some(&path));
            let found = target.is_some_and(|target| target.anchors().iter().any(|a| a == anchor));
            if !found {
                let _ = writeln!(wrong, "{place}: there is no #{anchor} in {file}");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Prose near 100 columns: differences then show what was changed. Tables, and lines with links,
/// which are not broken, may be longer.
#[test]
fn lines_of_prose_are_wrapped() {
    let mut wrong = String::new();
    for document in all() {
        for (line, text) in document.prose() {
            let code = text.starts_with("    ") && !text.trim_start().starts_with(['-', '*']);
            let free = text.starts_with(['|', '#', '<', '!']) || text.contains("](") || code;
            if !free && text.chars().count() > 110 {
                let _ = writeln!(wrong, "{}:{line}: {text}", document.name);
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether Rust text declares something of this name: an item, a field or a variant.
fn declares(text: &str, name: &str) -> bool {
    const KINDS: [&str; 9] = [
        "fn ",
        "struct ",
        "enum ",
        "trait ",
        "const ",
        "static ",
        "type ",
        "mod ",
        "macro_rules! ",
    ];
    text.lines().any(|line| {
        let mut line = line.trim_start();
        for visibility in ["pub(crate) ", "pub(super) ", "pub "] {
            line = line.strip_prefix(visibility).unwrap_or(line);
        }
        let behind = |rest: &str| {
            let rest = rest.strip_prefix(name);
            rest.is_some_and(|rest| !rest.starts_with(is_word))
        };
        KINDS
            .iter()
            .any(|kind| line.strip_prefix(kind).is_some_and(behind))
            || line.strip_prefix(name).is_some_and(|rest| {
                let variant = name.starts_with(char::is_uppercase);
                let field = rest.starts_with(':') && !rest.starts_with("::");
                field || variant && (rest.is_empty() || rest.starts_with([',', '(', ' ']))
            })
    })
}

/// A link to a Rust file names, as code, what is to be seen there: `Trainer::step` stands for an item
/// `Trainer` and an item `step` of that file.
#[test]
fn named_items_are_where_the_documents_say() {
    let mut wrong = String::new();
    let mut seen = 0;
    for document in all() {
        let folder = document.path.parent().expect("a folder");
        for link in document.links() {
            if !link.target.ends_with(".rs") {
                continue;
            }
            let place = format!("{}:{}", document.name, link.line);
            let Ok(text) = std::fs::read_to_string(folder.join(&link.target)) else {
                let _ = writeln!(wrong, "{place}: there is no {}", link.target);
                continue;
            };
            let name = link.text.trim_matches('`');
            if name.len() == link.text.len() {
                let _ = writeln!(wrong, "{place}: `{name}` is not written as code");
            } else if !name.contains(['.', '/']) {
                seen += 1;
                for part in name.split("::") {
                    if !declares(&text, part) {
                        let _ = writeln!(wrong, "{place}: no `{part}` in {}", link.target);
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(seen > 100, "{seen} items are named: the map is gone");
}

#[test]
fn what_counts_as_a_declaration() {
    let text = "pub(crate) fn one(x: u8) {}\n    pub two: u8,\n    Three,\nimpl Four {}\nfn fives() {}\n    six(7);\n    eight::nine();\n";
    for name in ["one", "two", "Three"] {
        assert!(declares(text, name), "{name}");
    }
    for name in ["Four", "five", "x", "six", "eight"] {
        assert!(!declares(text, name), "{name}");
    }
}
