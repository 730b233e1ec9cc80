//! Parentheses that are missing or in excess, found near their cause.
//!
//! Two facts about PDDL locate a wrong parenthesis instead of blaming the end of the file: a
//! section such as `(:action` only ever opens directly inside `(define`, and `:precondition` only
//! ever stands directly inside `(:action`. A third helps with long lists of facts: a fact or a
//! declaration holds no list of its own, but for a few heads.

use crate::diagnostic::{Diagnostic, excerpt};
use crate::source::Span;

use super::{Builder, Kind, OpenList, SECTIONS, is_one_of};

/// Sections that hold a long list of lists, each of them short.
const LISTS: [&str; 3] = [":init", ":predicates", ":functions"];

/// Words at the head of an entry of `:init` that may be followed by a list.
const NESTING: [&str; 8] = [
    "and", "or", "not", "oneof", "unknown", "forall", "when", "either",
];

impl Builder {
    /// A section is about to open: whatever is open beyond `(define` lacks its end.
    pub(super) fn before_section(&mut self, section: Span) {
        match self.open.len() {
            0 => {
                if let Some(root) = self.closed_root {
                    self.reopen(root, section, "so this section stands outside");
                }
            }
            1 => {}
            _ => self.close_unclosed(1, section, "before this section"),
        }
    }

    /// `:effect` and its kin are about to be read: whatever is open beyond the action lacks its
    /// end, and an action closed already was closed too early.
    pub(super) fn before_action_part(&mut self, part: Span) {
        const ACTIONS: [&str; 2] = [":action", ":durative-action"];
        if self.open.len() > 2 && self.tree.head_is(self.open[1].node, &ACTIONS) {
            self.close_unclosed(2, part, "before this");
        } else if let Some(section) = self.just_closed_section()
            && self.tree.head_is(section.node, &ACTIONS)
        {
            self.reopen(section, part, "so this stands outside");
        }
    }

    /// A list that begins with the name `word` is about to open. Directly inside `(define` it
    /// belongs to the section before; inside a fact or a declaration it stands beside it.
    pub(super) fn before_list(&mut self, list: Span, word: &str) {
        if let Some(section) = self.just_closed_section() {
            let forgot_colon = SECTIONS
                .iter()
                .any(|section| section[1..].eq_ignore_ascii_case(word));
            if forgot_colon || !self.tree.head_is(section.node, &LISTS) {
                return;
            }
            let ends_in_word = section
                .last_child
                .is_some_and(|last| self.tree.kind(last) != Kind::List);
            if ends_in_word && self.tree.head_is(section.node, &[":init", ":predicates"]) {
                // `at a b)`: the words will be complained about, and their `(` is what is missing.
                self.open.push(section);
            } else {
                self.reopen(section, list, "so this stands outside");
            }
        } else if self.open.len() == 3 && self.tree.head_is(self.open[1].node, &LISTS) {
            let entry = self.open[2];
            let complete = if self.tree.head_is(self.open[1].node, &[":init"]) {
                self.is_complete_fact(entry)
            } else {
                let after_dash = entry
                    .last_child
                    .is_some_and(|last| self.tree.kind(last) == Kind::Dash);
                !after_dash && !word.eq_ignore_ascii_case("either")
            };
            if complete {
                self.close_unclosed(2, list, "before this");
            }
        }
    }

    /// A keyword stands where no list was opened before it: a section's needs one.
    pub(super) fn before_bare_keyword(&mut self, keyword: Span, word: &str) {
        let Some(innermost) = self.open.last() else {
            return;
        };
        // `:constraints` is also a requirement.
        if is_one_of(word, &SECTIONS) && !self.tree.head_is(innermost.node, &[":requirements"]) {
            self.before_section(keyword);
            self.missing_opening(keyword, word);
        }
    }

    /// A name with arguments stands directly inside `(and`: it needs a list of its own.
    pub(super) fn before_bare_name(&mut self, name: Span, word: &str) {
        let Some(innermost) = self.open.last() else {
            return;
        };
        if innermost.last_child.is_some() && self.tree.head_is(innermost.node, &["and", "or"]) {
            self.missing_opening(name, word);
            if let Some(list) = self.open.last_mut() {
                list.without_opening = true;
            }
        }
    }

    fn missing_opening(&mut self, next: Span, word: &str) {
        self.diagnostics.push(
            Diagnostic::error(
                self.tree.place_of(next),
                format!("a `(` is missing before `{}`", excerpt(word)),
            )
            .label("a list begins here"),
        );
        self.open_list(next);
    }

    pub(super) fn end_list_without_opening(&mut self) {
        if let Some(list) = self.open.pop_if(|list| list.without_opening)
            && let Some(last) = list.last_child
        {
            let end = self.tree.nodes[last.0 as usize].span.end;
            self.tree.nodes[list.node.0 as usize].span.end = end;
        }
    }

    /// Whether no list can follow in this entry of `:init`.
    fn is_complete_fact(&self, entry: OpenList) -> bool {
        let node = entry.node;
        let mut children = self.tree.children(node);
        if self.tree.head_is(node, &["="]) {
            // `(= (f a) 3`
            children.nth(2).is_some()
        } else if self.tree.head_is(node, &["at"]) {
            // `(at 5 (open))` is a timed literal.
            let time = children.nth(1);
            children.next().is_some()
                || time.is_some_and(|time| self.tree.text(time).parse::<f64>().is_err())
        } else {
            children.next().is_some() && !self.tree.head_is(node, &NESTING)
        }
    }

    /// The section closed last, if nothing but `(define` is open and nothing came between.
    fn just_closed_section(&self) -> Option<OpenList> {
        let section = self.closed_section?;
        match self.open.as_slice() {
            [root] if root.last_child == Some(section.node) => Some(section),
            _ => None,
        }
    }

    fn reopen(&mut self, list: OpenList, next: Span, consequence: &str) {
        let end = self.tree.nodes[list.node.0 as usize].span.end;
        let head = self.tree.head(list.node);
        self.diagnostics.push(
            Diagnostic::error(
                self.tree.place_of(Span {
                    start: end - 1,
                    end,
                }),
                format!("this parenthesis closes `({head}` too early"),
            )
            .label("one parenthesis too many at or before here")
            .note(self.tree.place_of(next), consequence),
        );
        self.open.push(list);
    }

    /// A second `(define` begins: nothing from here on is read.
    pub(super) fn second_definition(&mut self, define: Span) {
        if !self.open.is_empty() {
            self.close_unclosed(0, define, "before this definition");
        }
        self.diagnostics.push(
            Diagnostic::error(
                self.tree.place_of(define),
                "a second definition begins here",
            )
            .help("a domain and each of its problems stand in a file of their own"),
        );
    }

    fn close_unclosed(&mut self, depth: usize, next: Span, before: &str) {
        let innermost = self.open[self.open.len() - 1].node;
        let message = Diagnostic::error(
            self.tree.head_place(innermost),
            "this parenthesis is never closed",
        )
        .label("opened here")
        .note(
            self.tree.place_of(next),
            format!("a `)` is missing {before}"),
        );
        self.diagnostics.push(message);
        self.close_down_to(depth, next.start);
    }

    fn close_down_to(&mut self, depth: usize, end: u32) {
        for open in self.open.drain(depth..) {
            self.tree.nodes[open.node.0 as usize].span.end = end;
        }
    }

    pub(super) fn at_end(&mut self, text: &str) {
        let Some(innermost) = self.open.last() else {
            return;
        };
        let missing = self.open.len();
        let message = Diagnostic::error(
            self.tree.head_place(innermost.node),
            if missing == 1 {
                "this parenthesis is never closed".to_owned()
            } else {
                format!("this parenthesis is never closed; {missing} `)` are missing")
            },
        )
        .label("still open at the end of the file");
        self.diagnostics.push(message);
        self.close_down_to(0, Span::new(0, text.len()).end);
    }
}
