//! The names that a file declares, with their places: what editors show, find and complete.
//!
//! They are read off the tree, which is there for broken text too: nothing is checked here.

use crate::source::Span;
use crate::tree::{Kind, NodeId, Tree};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// A type.
    Type,
    /// An object of the domain.
    Constant,
    /// An object of a problem.
    Object,
    /// A predicate.
    Predicate,
    /// A function.
    Function,
    /// An action.
    Action,
    /// A variable of an action, an axiom or a quantifier.
    Variable,
}

impl NameKind {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Constant => "constant",
            Self::Object => "object",
            Self::Predicate => "predicate",
            Self::Function => "function",
            Self::Action => "action",
            Self::Variable => "variable",
        }
    }
}

/// A name where it is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// What it stands for.
    pub kind: NameKind,
    /// The name in lower case, with the question mark of a variable.
    pub name: String,
    /// Where the name is.
    pub span: Span,
    /// How it is declared, in one line: `(at ?x - thing ?y - place)`, `truck - vehicle`.
    pub text: String,
    /// Where it is known; `None`: everywhere.
    pub scope: Option<Span>,
}

impl Tree {
    /// The name of the domain that the file defines, or that its problem is of.
    pub fn domain_name(&self) -> Option<String> {
        let root = self.root()?;
        let named = |list: NodeId| self.children(list).nth(1).map(|name| self.word(name));
        let lists = || {
            self.children(root)
                .filter(|&node| self.kind(node) == Kind::List)
        };
        match self.defines()?.as_str() {
            "domain" => named(lists().next()?),
            _ => named(lists().find(|&list| self.head(list) == ":domain")?),
        }
    }

    /// The word at an offset, or that ends there: its place and its text in lower case.
    pub fn word_at(&self, offset: u32) -> Option<(Span, String)> {
        let words = self.nodes().filter(|&node| self.kind(node) != Kind::List);
        let mut found = words.filter(|&node| {
            let span = self.place(node).span;
            span.start <= offset && offset <= span.end
        });
        let first = found.next()?;
        // Between two words without a space, as in `(a)`, the later one.
        let node = found.next().unwrap_or(first);
        Some((self.place(node).span, self.word(node)))
    }

    /// Everything that the file declares, in the order it stands there.
    pub fn declarations(&self) -> Vec<Declaration> {
        let mut all = Vec::new();
        let Some(root) = self.root() else {
            return all;
        };
        for list in self.children(root) {
            if self.kind(list) == Kind::List {
                self.declared_in(list, &mut all);
            }
        }
        all.sort_by_key(|one| one.span.start);
        all
    }

    fn declared_in(&self, list: NodeId, all: &mut Vec<Declaration>) {
        let typed = |kind, all: &mut Vec<Declaration>| {
            let parts: Vec<NodeId> = self.children(list).skip(1).collect();
            self.typed(kind, &parts, None, all);
        };
        match self.head(list).as_str() {
            ":types" => typed(NameKind::Type, all),
            ":constants" => typed(NameKind::Constant, all),
            ":objects" => typed(NameKind::Object, all),
            ":predicates" => self.shapes(NameKind::Predicate, list, all),
            ":functions" => self.shapes(NameKind::Function, list, all),
            ":action" => {
                let name = self.children(list).nth(1);
                if let Some(name) = name.filter(|&name| self.kind(name) == Kind::Name) {
                    let text = format!("(:action {} {})", self.text(name), self.parameters(list));
                    self.declare(NameKind::Action, name, text, None, all);
                }
                self.variables(list, all);
            }
            ":derived" => self.variables(list, all),
            // Large, and without quantifiers.
            ":init" => {}
            _ => self.quantified(list, all),
        }
    }

    /// The list behind `:parameters`, as written.
    fn parameters(&self, action: NodeId) -> String {
        let mut parts = self.children(action);
        let found = parts.find(|&part| self.is_word(part, ":parameters"));
        let list = found.and_then(|_| parts.next());
        list.map_or_else(|| "()".to_owned(), |list| self.in_one_line(list))
    }

    /// Predicates or functions: lists with a name before variables.
    fn shapes(&self, kind: NameKind, list: NodeId, all: &mut Vec<Declaration>) {
        for shape in self.children(list).skip(1) {
            let name = self.children(shape).next();
            if let Some(name) = name.filter(|&name| self.kind(name) == Kind::Name) {
                self.declare(kind, name, self.in_one_line(shape), None, all);
            }
        }
    }

    /// The variables of an action or an axiom, and those of quantifiers in it.
    fn variables(&self, list: NodeId, all: &mut Vec<Declaration>) {
        let scope = self.place(list).span;
        let mut after_parameters = false;
        for (index, part) in self.children(list).enumerate() {
            let head = self.kind(part) == Kind::List;
            let of_axiom = index == 1 && self.head(list) == ":derived";
            if head && (after_parameters || of_axiom) {
                let parts: Vec<NodeId> = self.children(part).collect();
                self.typed(NameKind::Variable, &parts, Some(scope), all);
            }
            after_parameters = self.is_word(part, ":parameters");
        }
        self.quantified(list, all);
    }

    /// The variables of quantifiers anywhere in a list.
    fn quantified(&self, list: NodeId, all: &mut Vec<Declaration>) {
        let mut open = vec![list];
        while let Some(list) = open.pop() {
            if matches!(self.head(list).as_str(), "forall" | "exists")
                && let Some(bound) = self.children(list).nth(1)
            {
                let parts: Vec<NodeId> = self.children(bound).collect();
                let scope = Some(self.place(list).span);
                self.typed(NameKind::Variable, &parts, scope, all);
            }
            open.extend(
                self.children(list)
                    .filter(|&part| self.kind(part) == Kind::List),
            );
        }
    }

    /// Names with their types: `a b - t c`. Of variables, names are left out; of others, variables.
    fn typed(
        &self,
        kind: NameKind,
        parts: &[NodeId],
        scope: Option<Span>,
        all: &mut Vec<Declaration>,
    ) {
        let wanted = match kind {
            NameKind::Variable => Kind::Variable,
            _ => Kind::Name,
        };
        let mut from = 0;
        while from < parts.len() {
            let rest = &parts[from..];
            let dash = rest.iter().position(|&part| self.kind(part) == Kind::Dash);
            let end = dash.unwrap_or(rest.len());
            let of = dash
                .and_then(|dash| rest.get(dash + 1))
                .map(|&of| self.in_one_line(of));
            for &name in rest[..end]
                .iter()
                .filter(|&&name| self.kind(name) == wanted)
            {
                let text = match &of {
                    Some(of) => format!("{} - {of}", self.text(name)),
                    None => self.text(name).to_owned(),
                };
                self.declare(kind, name, text, scope, all);
            }
            from += end + 2;
        }
    }

    fn declare(
        &self,
        kind: NameKind,
        name: NodeId,
        text: String,
        scope: Option<Span>,
        all: &mut Vec<Declaration>,
    ) {
        all.push(Declaration {
            kind,
            name: self.word(name),
            span: self.place(name).span,
            text,
            scope,
        });
    }

    /// A list or a word with single spaces, without comments.
    fn in_one_line(&self, node: NodeId) -> String {
        if self.kind(node) != Kind::List {
            return self.text(node).to_owned();
        }
        let parts = self.children(node).map(|part| self.in_one_line(part));
        format!("({})", parts.collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, parse};

    fn tree(text: &str) -> Tree {
        parse(&Source::new("x", text.as_bytes().to_vec())).0
    }

    fn declared(text: &str) -> Vec<(NameKind, String, String)> {
        let all = tree(text).declarations().into_iter();
        all.map(|one| (one.kind, one.name, one.text)).collect()
    }

    const DOMAIN: &str = "(define (domain D)
  (:types truck car - vehicle vehicle)
  (:constants base - place)
  (:predicates (at ?x - (either truck car) ; a comment
                   ?p - place) (idle))
  (:functions (total-cost) - number)
  (:action Drive :parameters (?t - truck ?p) :precondition (forall (?q - place) (at ?t ?q))
    :effect (idle))
  (:derived (idle2 ?v) (at ?v base)))";

    #[test]
    fn every_kind_of_name_is_found_with_its_declaration() {
        use NameKind::*;
        let wanted = [
            (Type, "truck", "truck - vehicle"),
            (Type, "car", "car - vehicle"),
            (Type, "vehicle", "vehicle"),
            (Constant, "base", "base - place"),
            (Predicate, "at", "(at ?x - (either truck car) ?p - place)"),
            (Predicate, "idle", "(idle)"),
            (Function, "total-cost", "(total-cost)"),
            (Action, "drive", "(:action Drive (?t - truck ?p))"),
            (Variable, "?t", "?t - truck"),
            (Variable, "?p", "?p"),
            (Variable, "?q", "?q - place"),
            (Variable, "?v", "?v"),
        ];
        let found = declared(DOMAIN);
        let found: Vec<_> = found
            .iter()
            .map(|(kind, name, text)| (*kind, name.as_str(), text.as_str()))
            .collect();
        assert_eq!(found, wanted);
        assert_eq!(tree(DOMAIN).domain_name().as_deref(), Some("d"));
    }

    #[test]
    fn a_quantified_variable_is_known_in_its_quantifier_alone() {
        let tree = tree(DOMAIN);
        let all = tree.declarations();
        let scope = |name: &str| {
            let found = all.iter().find(|one| one.name == name);
            let span = found.and_then(|one| one.scope).expect("a scope");
            DOMAIN[span.start as usize..span.end as usize].to_owned()
        };
        assert_eq!(scope("?q"), "(forall (?q - place) (at ?t ?q))");
        assert!(scope("?t").starts_with("(:action Drive"));
    }

    #[test]
    fn words_are_found_by_offset_and_problems_know_their_domain() {
        let text = "(define (problem p) (:domain D) (:objects A b - t) (:init (q A)))";
        let tree = tree(text);
        assert_eq!(tree.domain_name().as_deref(), Some("d"));
        let at = |word: &str| text.find(word).expect("there") as u32;
        let (span, word) = tree.word_at(at("A))")).expect("a word");
        assert_eq!((span.start, word.as_str()), (at("A))"), "a"));
        assert_eq!(tree.word_at(at("(:init")), None);
        // Text that is cut off has its names, too.
        assert_eq!(declared(&text[..43]).len(), 1);
        assert_eq!(declared(""), []);
    }
}
