//! Tokens to a tree of lists, repaired where parentheses are missing or in excess.
//!
//! The tree is flat in memory and built with an explicit stack, so that no depth of nesting can
//! overflow the program's own.

mod repair;

use std::borrow::Cow;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics, excerpt};
use crate::lexer::{Lexer, Token};
use crate::source::{Place, Source, Span};
use crate::suggest::nearest;

/// Lists may be nested this deep; formulas written by people or generators stay far below.
const MAX_DEPTH: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    List,
    Name,
    Variable,
    Keyword,
    Dash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(u32);

#[derive(Debug)]
struct Node {
    kind: Kind,
    span: Span,
    first_child: Option<NodeId>,
    next: Option<NodeId>,
}

/// What [`parse`] makes of a file: nested lists of words with their places.
#[derive(Debug)]
pub struct Tree {
    source: Arc<Source>,
    nodes: Vec<Node>,
    root: Option<NodeId>,
}

impl Tree {
    /// The `(define ...)` list.
    pub(crate) fn root(&self) -> Option<NodeId> {
        self.root
    }

    /// What the file defines: `domain`, `problem`, or whatever word stands there.
    pub fn defines(&self) -> Option<String> {
        let header = self.children(self.root?).nth(1)?;
        (self.kind(header) == Kind::List).then(|| self.head(header))
    }

    /// All nodes, each list before what is in it.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    pub(crate) fn kind(&self, node: NodeId) -> Kind {
        self.nodes[node.0 as usize].kind
    }

    pub(crate) fn place(&self, node: NodeId) -> Place {
        self.place_of(self.nodes[node.0 as usize].span)
    }

    /// The place of a list's opening parenthesis and first word, or of a word: what a marker
    /// should stand under where the whole list would be too much.
    pub(crate) fn head_place(&self, node: NodeId) -> Place {
        let mut span = self.nodes[node.0 as usize].span;
        if self.kind(node) == Kind::List {
            span.end = span.start + 1;
            if let Some(first) = self.children(node).next()
                && self.kind(first) != Kind::List
            {
                span.end = self.nodes[first.0 as usize].span.end;
            }
        }
        self.place_of(span)
    }

    pub(crate) fn place_of(&self, span: Span) -> Place {
        Place {
            source: Arc::clone(&self.source),
            span,
        }
    }

    /// The text of a word as written.
    pub(crate) fn text(&self, node: NodeId) -> &str {
        &self.source.text()[self.nodes[node.0 as usize].span.range()]
    }

    /// The text of a word in lower case: PDDL does not tell case apart.
    pub(crate) fn word(&self, node: NodeId) -> String {
        self.text(node).to_ascii_lowercase()
    }

    /// As [`Tree::word`], without a copy where the text is in lower case already.
    pub(crate) fn lower(&self, node: NodeId) -> Cow<'_, str> {
        let text = self.text(node);
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        }
    }

    pub(crate) fn is_word(&self, node: NodeId, word: &str) -> bool {
        self.kind(node) != Kind::List && self.text(node).eq_ignore_ascii_case(word)
    }

    pub(crate) fn children(&self, node: NodeId) -> Children<'_> {
        Children {
            tree: self,
            next: self.nodes[node.0 as usize].first_child,
        }
    }

    /// The place from the first to the last of a run of siblings.
    pub(crate) fn run_place(&self, first: NodeId, last: NodeId) -> Place {
        self.place_of(Span {
            start: self.nodes[first.0 as usize].span.start,
            end: self.nodes[last.0 as usize].span.end,
        })
    }

    /// Whether the first word of a list is one of `words`.
    fn head_is(&self, node: NodeId, words: &[&str]) -> bool {
        self.children(node).next().is_some_and(|first| {
            self.kind(first) != Kind::List && is_one_of(self.text(first), words)
        })
    }

    /// The first word of a list, in lower case; empty where there is none.
    pub(crate) fn head(&self, node: NodeId) -> String {
        match self.children(node).next() {
            Some(first) if self.kind(first) != Kind::List => self.word(first),
            _ => String::new(),
        }
    }
}

pub(crate) struct Children<'a> {
    tree: &'a Tree,
    next: Option<NodeId>,
}

impl Iterator for Children<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        let node = self.next?;
        self.next = self.tree.nodes[node.0 as usize].next;
        Some(node)
    }
}

/// Keywords that open a section: `(:action` stands directly inside `(define`.
const SECTIONS: [&str; 14] = [
    ":requirements",
    ":types",
    ":constants",
    ":predicates",
    ":functions",
    ":action",
    ":durative-action",
    ":derived",
    ":domain",
    ":objects",
    ":init",
    ":goal",
    ":metric",
    ":constraints",
];

/// Keywords that stand directly inside `(:action` or one of its kin.
const ACTION_PARTS: [&str; 6] = [
    ":parameters",
    ":precondition",
    ":effect",
    ":vars",
    ":duration",
    ":condition",
];

fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|entry| entry.eq_ignore_ascii_case(word))
}

/// Reads a file into nested lists. There is always a tree, whatever is wrong with the file; the
/// messages say what.
///
/// ```
/// let source = homing_pddl::Source::new("tiny.pddl", b"(define (domain tiny)".to_vec());
/// let (_tree, messages) = homing_pddl::parse(&source);
/// assert!(messages.to_string().contains("never closed"));
/// ```
pub fn parse(source: &Arc<Source>) -> (Tree, Diagnostics) {
    let mut builder = Builder {
        tree: Tree {
            source: Arc::clone(source),
            nodes: Vec::new(),
            root: None,
        },
        open: Vec::new(),
        closed_root: None,
        closed_section: None,
        diagnostics: Diagnostics::default(),
        reported_depth: false,
    };
    builder.run();
    builder.diagnostics.sort();
    (builder.tree, builder.diagnostics)
}

/// A list not yet closed, and the last child it has got.
#[derive(Clone, Copy)]
struct OpenList {
    node: NodeId,
    last_child: Option<NodeId>,
    /// Its `(` is missing: it ends where the next list begins, if not before.
    without_opening: bool,
}

/// Whether a list begins next, as in `(define (domain`: a predicate may be called `define`.
fn is_followed_by_list(text: &str, head: Span) -> bool {
    let mut rest = Lexer::new(text, head.range().end);
    rest.next().is_some_and(|(token, _)| token == Token::Open)
}

struct Builder {
    tree: Tree,
    open: Vec<OpenList>,
    /// `(define ...)` as it was when it was closed.
    closed_root: Option<OpenList>,
    /// The last section as it was when it was closed.
    closed_section: Option<OpenList>,
    diagnostics: Diagnostics,
    reported_depth: bool,
}

impl Builder {
    fn run(&mut self) {
        let source = Arc::clone(&self.tree.source);
        if let Some(start) = self.start(&source) {
            self.read(&source, start);
        }
    }

    /// Finds `(define`, past whatever stands before it.
    fn start(&mut self, source: &Arc<Source>) -> Option<usize> {
        let text = source.text();
        let first_letter = text.chars().next().map_or(0, char::len_utf8);
        let whole = self.tree.place_of(Span::new(0, first_letter));
        if text.contains('\0') {
            self.diagnostics.push(
                Diagnostic::error(whole, "this is not a text file")
                    .help("homing reads PDDL domains and problems; is this the right file?"),
            );
            return None;
        }
        if let Some(span) = source.invalid_utf8() {
            self.diagnostics.push(
                Diagnostic::error(self.tree.place_of(span), "the file is not valid UTF-8")
                    .label("this byte is not UTF-8")
                    .help("save the file as UTF-8, or remove the character"),
            );
        }
        let mut previous = None;
        let mut first = None;
        let mut misspelt = None;
        for (token, span) in Lexer::new(text, 0) {
            if token == Token::Name
                && text[span.range()].eq_ignore_ascii_case("define")
                && let Some((Token::Open, open)) = previous
            {
                if let Some((_, first)) = first
                    && first != open
                {
                    self.diagnostics.push(
                        Diagnostic::warning(
                            self.tree.place_of(first),
                            "the text before `(define` is ignored",
                        )
                        .label("ignored from here"),
                    );
                }
                return Some(open.range().start);
            }
            if first.is_some_and(|(token, first)| token == Token::Open && first.end == span.start)
                && token == Token::Name
                && nearest(&text[span.range()].to_ascii_lowercase(), ["define"]).is_some()
            {
                misspelt = misspelt.or(Some(span));
            }
            first = first.or(Some((token, span)));
            previous = Some((token, span));
        }
        let message = if text.trim().is_empty() {
            Diagnostic::error(whole, "the file is empty")
        } else if let Some((_, first)) = first {
            let (place, label) = match misspelt {
                Some(word) => (word, "did you mean `define`?"),
                None => (first, "the file begins here"),
            };
            Diagnostic::error(
                self.tree.place_of(place),
                "there is no `(define` in this file",
            )
            .label(label)
        } else {
            Diagnostic::error(whole, "there is nothing but comments in this file")
        };
        self.diagnostics.push(
            message.help("a PDDL file begins with `(define (domain ...` or `(define (problem ...`"),
        );
        None
    }

    fn read(&mut self, source: &Arc<Source>, start: usize) {
        let text = source.text();
        let mut lexer = Lexer::new(text, start).peekable();
        let mut after_end = None;
        let mut token_before = Token::Close;
        while let Some((token, span)) = lexer.next() {
            let before = std::mem::replace(&mut token_before, token);
            match token {
                Token::Open => {
                    self.end_list_without_opening();
                    if let Some(&(next, word)) = lexer.peek() {
                        let shown = Span {
                            start: span.start,
                            end: word.end,
                        };
                        let word = &text[word.range()];
                        if next == Token::Keyword && is_one_of(word, &SECTIONS) {
                            self.before_section(shown);
                        } else if next == Token::Name
                            && word.eq_ignore_ascii_case("define")
                            && (self.open.is_empty() || is_followed_by_list(text, shown))
                        {
                            if self.tree.root.is_some() {
                                self.second_definition(shown);
                                return;
                            }
                        } else if next == Token::Name {
                            self.before_list(shown, word);
                        }
                    }
                    if self.open.is_empty() && self.tree.root.is_some() {
                        after_end = after_end.or(Some(span));
                        continue;
                    }
                    self.open_list(span);
                }
                Token::Close => {
                    if let Some(closed) = self.open.pop() {
                        self.tree.nodes[closed.node.0 as usize].span.end = span.end;
                        match self.open.len() {
                            0 => self.closed_root = Some(closed),
                            1 => self.closed_section = Some(closed),
                            _ => {}
                        }
                    } else if after_end.is_none() {
                        self.diagnostics.push(
                            Diagnostic::error(
                                self.tree.place_of(span),
                                "this closing parenthesis closes nothing",
                            )
                            .label("remove it"),
                        );
                    }
                }
                Token::Strange => self.diagnostics.push(
                    Diagnostic::error(
                        self.tree.place_of(span),
                        format!("unexpected characters `{}`", excerpt(&text[span.range()])),
                    )
                    .label("these mean nothing in PDDL"),
                ),
                Token::Name | Token::Variable | Token::Keyword | Token::Dash => {
                    if self.open.is_empty() {
                        after_end = after_end.or(Some(span));
                        continue;
                    }
                    let word = &text[span.range()];
                    if token == Token::Keyword && is_one_of(word, &ACTION_PARTS) {
                        self.before_action_part(span);
                    } else if token == Token::Keyword && before != Token::Open {
                        self.before_bare_keyword(span, word);
                    } else if token == Token::Name
                        && matches!(lexer.peek(), Some((Token::Name | Token::Variable, _)))
                    {
                        self.before_bare_name(span, word);
                    }
                    let kind = match token {
                        Token::Variable => Kind::Variable,
                        Token::Keyword => Kind::Keyword,
                        Token::Dash => Kind::Dash,
                        _ => Kind::Name,
                    };
                    self.add(kind, span);
                }
            }
        }
        if let Some(span) = after_end {
            self.diagnostics.push(
                Diagnostic::error(
                    self.tree.place_of(span),
                    "there is text after the end of `(define ...)`",
                )
                .label("outside the definition"),
            );
        }
        self.at_end(text);
    }

    fn open_list(&mut self, span: Span) {
        if self.open.len() >= MAX_DEPTH {
            if !self.reported_depth {
                self.reported_depth = true;
                self.diagnostics.push(
                    Diagnostic::error(
                        self.tree.place_of(span),
                        format!("parentheses are nested more than {MAX_DEPTH} deep"),
                    )
                    .label("deeper from here"),
                );
            }
            // Deeper lists stay on the stack, so that their ends are matched, but become
            // siblings at this depth: nothing that walks the tree can go too deep.
            let parent = self.open[MAX_DEPTH - 1].node;
            self.open.push(OpenList {
                node: parent,
                last_child: None,
                without_opening: false,
            });
            return;
        }
        let node = self.add(Kind::List, span);
        self.open.push(OpenList {
            node,
            last_child: None,
            without_opening: false,
        });
    }

    fn add(&mut self, kind: Kind, span: Span) -> NodeId {
        let id = NodeId(u32::try_from(self.tree.nodes.len()).expect("a token takes a byte"));
        self.tree.nodes.push(Node {
            kind,
            span,
            first_child: None,
            next: None,
        });
        let depth = self.open.len().min(MAX_DEPTH);
        match depth.checked_sub(1).map(|index| &mut self.open[index]) {
            Some(parent) => match parent.last_child.replace(id) {
                Some(last) => self.tree.nodes[last.0 as usize].next = Some(id),
                None => self.tree.nodes[parent.node.0 as usize].first_child = Some(id),
            },
            None => self.tree.root = Some(id),
        }
        id
    }
}
