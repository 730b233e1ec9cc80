//! What is open in the editor, and what can be said about it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use homing::input::find_domain;
use homing_pddl::{
    Declaration, Diagnostics, NameKind, Severity, Source, Tree, check_domain, parse, read_problem,
};
use serde_json::{Value, json};

use super::text::{offset, range};

/// Words of the language, which are offered too.
const KEYWORDS: &[&str] = &[
    ":action",
    ":constants",
    ":derived",
    ":domain",
    ":effect",
    ":functions",
    ":goal",
    ":init",
    ":metric",
    ":objects",
    ":parameters",
    ":precondition",
    ":predicates",
    ":requirements",
    ":types",
];
const CONNECTIVES: &[&str] = &["and", "exists", "forall", "imply", "not", "or", "when"];

/// A text with its names.
struct Text {
    uri: String,
    source: Arc<Source>,
    tree: Tree,
    names: Vec<Declaration>,
}

impl Text {
    fn new(uri: &str, text: &str) -> Self {
        let source = Source::new(uri, text.as_bytes().to_vec());
        let tree = parse(&source).0;
        let names = tree.declarations();
        Self {
            uri: uri.to_owned(),
            source,
            tree,
            names,
        }
    }

    fn is(&self, what: &str) -> bool {
        self.tree.defines().as_deref() == Some(what)
    }
}

/// The documents that are open, by their addresses.
#[derive(Default)]
pub(super) struct Documents {
    open: BTreeMap<String, Text>,
}

/// Messages about each of some documents.
type Published = Vec<(String, Vec<Value>)>;

impl Documents {
    /// Something happened: the messages about what it touches.
    pub(super) fn notified(&mut self, method: &str, parameters: &Value) -> Published {
        let document = &parameters["textDocument"];
        let Some(uri) = document["uri"].as_str() else {
            return Vec::new();
        };
        match method {
            "textDocument/didOpen" => {
                let text = document["text"].as_str().unwrap_or_default();
                self.open.insert(uri.to_owned(), Text::new(uri, text));
                self.published(uri)
            }
            "textDocument/didChange" => {
                let changes = parameters["contentChanges"].as_array();
                let last = changes.and_then(|all| all.last());
                let Some(text) = last.and_then(|change| change["text"].as_str()) else {
                    return Vec::new();
                };
                self.open.insert(uri.to_owned(), Text::new(uri, text));
                self.published(uri)
            }
            "textDocument/didSave" => self.published(uri),
            "textDocument/didClose" => {
                self.open.remove(uri);
                vec![(uri.to_owned(), Vec::new())]
            }
            _ => Vec::new(),
        }
    }

    /// The answer to a question; `None` where the method is not known.
    pub(super) fn asked(&self, method: &str, parameters: &Value) -> Option<Value> {
        let uri = parameters["textDocument"]["uri"].as_str().unwrap_or("");
        let answer: fn(&Self, &Text, u32) -> Value = match method {
            "textDocument/hover" => Self::hover,
            "textDocument/definition" => Self::definition,
            "textDocument/completion" => Self::completion,
            _ => return None,
        };
        let Some(text) = self.open.get(uri) else {
            return Some(Value::Null);
        };
        let at = offset(text.source.text(), &parameters["position"]);
        Some(answer(self, text, at))
    }

    /// The messages about a document, and about problems that its change touches.
    fn published(&self, uri: &str) -> Published {
        let Some(text) = self.open.get(uri) else {
            return Vec::new();
        };
        let mut all = vec![(uri.to_owned(), self.messages(text))];
        if text.is("domain") {
            let problems = self.open.values().filter(|other| other.is("problem"));
            for problem in problems {
                if problem.tree.domain_name() == text.tree.domain_name() {
                    all.push((problem.uri.clone(), self.messages(problem)));
                }
            }
        }
        all
    }

    /// The domain of a problem: one that is open and bears the name, in the same folder if there
    /// is one; else the file beside the problem.
    fn domain_of(&self, problem: &Text) -> Option<Arc<Source>> {
        let name = problem.tree.domain_name();
        let folder = |uri: &str| uri.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        let domains = self.open.values().filter(|text| text.is("domain"));
        let mut domains: Vec<&Text> = domains
            .filter(|text| text.tree.domain_name() == name)
            .collect();
        domains.sort_by_key(|text| folder(&text.uri) != folder(&problem.uri));
        if let Some(domain) = domains.first() {
            return Some(Arc::clone(&domain.source));
        }
        let path = find_domain(&path_of(&problem.uri)?)?;
        let bytes = homing::input::read_bytes(&path).ok()?;
        let uri = uri_of(&path);
        // What is open is what counts, not what is on the disk.
        match self.open.get(&uri) {
            Some(text) => Some(Arc::clone(&text.source)),
            None => Some(Source::new(uri, bytes)),
        }
    }

    fn messages(&self, text: &Text) -> Vec<Value> {
        let domain = if text.is("problem") {
            self.domain_of(text)
        } else {
            None
        };
        let diagnostics = match domain {
            Some(domain) => read_problem(&domain, &text.source).1,
            None => alone(text),
        };
        let own = diagnostics.messages().iter();
        let own = own.filter(|one| one.place.source.name() == text.uri);
        own.map(|one| {
            let mut message = one.message.clone();
            if !one.label.is_empty() {
                message.push_str(&format!(": {}", one.label));
            }
            if let Some(help) = &one.help {
                message.push_str(&format!("\n{help}"));
            }
            let notes = one.notes.iter().map(|(place, note)| {
                json!({
                    "location": location(place.source.name(), place.source.text(), place.span),
                    "message": note,
                })
            });
            json!({
                "range": range(text.source.text(), one.place.span), "source": "homing",
                "severity": if one.severity == Severity::Warning { 2 } else { 1 },
                "message": message, "relatedInformation": notes.collect::<Vec<_>>(),
            })
        })
        .collect()
    }

    /// The names that are known at an offset, the nearest declaration last; with their texts.
    fn known(&self, text: &Text, at: u32) -> Vec<(Declaration, Arc<Source>)> {
        let domain = if text.is("problem") {
            self.domain_of(text)
        } else {
            None
        };
        let mut all = Vec::new();
        if let Some(domain) = domain {
            let names = parse(&domain).0.declarations().into_iter();
            let names = names.filter(|one| one.scope.is_none());
            all.extend(names.map(|one| (one, Arc::clone(&domain))));
        }
        let own = text.names.iter().filter(|one| {
            let inside = |scope: homing_pddl::Span| scope.start <= at && at <= scope.end;
            one.scope.is_none_or(inside)
        });
        all.extend(own.map(|one| (one.clone(), Arc::clone(&text.source))));
        all
    }

    /// The declaration of the word at an offset.
    fn declaration(&self, text: &Text, at: u32) -> Option<(Declaration, Arc<Source>)> {
        let (span, word) = text.tree.word_at(at)?;
        let mut found = self.known(text, at);
        found.retain(|(one, _)| one.name == word);
        // A name may stand for several things: behind a dash it is a type, behind a parenthesis
        // what facts and actions are made of.
        let wanted = kinds_before(text.source.text(), span.start);
        let fits = |(one, _): &(Declaration, _)| wanted.contains(&one.kind);
        let best = found.iter().rposition(fits).or(found.len().checked_sub(1));
        best.map(|best| found.swap_remove(best))
    }

    fn hover(&self, text: &Text, at: u32) -> Value {
        let Some((one, _)) = self.declaration(text, at) else {
            return Value::Null;
        };
        let (span, _) = text.tree.word_at(at).expect("it was found before");
        let shown = format!("{}\n```pddl\n{}\n```", one.kind.word(), one.text);
        json!({
            "contents": {"kind": "markdown", "value": shown},
            "range": range(text.source.text(), span),
        })
    }

    fn definition(&self, text: &Text, at: u32) -> Value {
        match self.declaration(text, at) {
            Some((one, source)) => location(source.name(), source.text(), one.span),
            None => Value::Null,
        }
    }

    fn completion(&self, text: &Text, at: u32) -> Value {
        let before = &text.source.text()[..at as usize];
        let start = before.rfind([' ', '\t', '\n', '\r', '(', ')']);
        let start = start.map_or(0, |end| end + 1);
        let word = &before[start..];
        let kinds = kinds_before(text.source.text(), start as u32);
        let mut items = BTreeSet::new();
        for (one, _) in self.known(text, at) {
            if kinds.contains(&one.kind) {
                items.insert((one.name, completion_kind(one.kind), one.text));
            }
        }
        let opens = before[..start].ends_with('(');
        let words = [
            (opens, KEYWORDS),
            (opens, CONNECTIVES),
            (word.starts_with(':'), KEYWORDS),
        ];
        for (_, words) in words.iter().filter(|(fits, _)| *fits) {
            let keyword = words
                .iter()
                .map(|word| ((*word).to_owned(), 14, String::new()));
            items.extend(keyword);
        }
        let lower = word.to_ascii_lowercase();
        items.retain(|(name, _, _)| name.starts_with(&lower));
        let place = range(
            text.source.text(),
            homing_pddl::Span {
                start: start as u32,
                end: at,
            },
        );
        let items = items.into_iter().map(|(name, kind, detail)| {
            json!({
                "label": name, "kind": kind, "detail": detail,
                "textEdit": {"range": place, "newText": name},
            })
        });
        json!({"isIncomplete": false, "items": items.collect::<Vec<_>>()})
    }
}

/// What is wrong with a text by itself: all of a domain; of a problem without its domain, how it is
/// written.
fn alone(text: &Text) -> Diagnostics {
    let (tree, mut diagnostics) = parse(&text.source);
    if !text.is("problem") {
        diagnostics.append(check_domain(&tree).1);
    }
    diagnostics
}

/// What a word that begins at an offset may be, by what stands before it.
fn kinds_before(text: &str, start: u32) -> &'static [NameKind] {
    use NameKind::{Action, Constant, Function, Object, Predicate, Type, Variable};
    let before = text[..start as usize].trim_end_matches([' ', '\t', '\n', '\r']);
    let ends = |end: &str| before.ends_with(end);
    if text[..start as usize].ends_with('(') {
        &[Predicate, Function]
    } else if ends(":action") {
        &[Action]
    } else if ends(" -") || ends("\n-") || ends("\t-") || ends("(either") {
        &[Type]
    } else {
        &[Constant, Object, Variable]
    }
}

/// The protocol's number for a kind of name in a list of completions.
fn completion_kind(kind: NameKind) -> u64 {
    match kind {
        NameKind::Type => 7,
        NameKind::Constant | NameKind::Object => 21,
        NameKind::Predicate | NameKind::Function => 3,
        NameKind::Action => 2,
        NameKind::Variable => 6,
    }
}

fn location(uri: &str, text: &str, span: homing_pddl::Span) -> Value {
    json!({"uri": uri, "range": range(text, span)})
}

/// The path of a `file:` address of this machine.
fn path_of(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push((16 * high + low) as u8);
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// The `file:` address of a path.
fn uri_of(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(byte.into());
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths_lead_to_one_another() {
        let path = Path::new("/a b/ä.pddl");
        assert_eq!(uri_of(path), "file:///a%20b/%C3%A4.pddl");
        assert_eq!(path_of(&uri_of(path)).as_deref(), Some(path));
        assert_eq!(path_of("untitled:1"), None);
        assert_eq!(path_of("file:///a%2"), None);
    }
}
