//! Messages about input, and how they look.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use crate::source::{Place, Source};
use crate::suggest::nearest;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input is usable; something in it is likely not what was meant.
    Warning,
    /// The input may be fine PDDL, but homing does not read this construct.
    Unsupported,
    /// The input is wrong.
    Error,
}

/// One message: what is wrong, where, why, and what else has a part in it.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// The place the marker stands under.
    pub place: Place,
    /// What the marker says; may be empty.
    pub label: String,
    /// Other places that matter, such as the conflicting declaration.
    pub notes: Vec<(Place, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn new(severity: Severity, place: Place, message: impl Into<String>) -> Self {
        Self {
            severity,
            message: message.into(),
            place,
            label: String::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    pub(crate) fn error(place: Place, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, place, message)
    }

    pub(crate) fn warning(place: Place, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, place, message)
    }

    /// `construct` completes the sentence "… is not supported".
    pub(crate) fn unsupported(place: Place, construct: impl fmt::Display) -> Self {
        Self::new(
            Severity::Unsupported,
            place,
            format!("{construct} is not supported"),
        )
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub(crate) fn note(mut self, place: Place, text: impl Into<String>) -> Self {
        self.notes.push((place, text.into()));
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }
}

/// Lines of source are shown up to this many characters; a longer one is cut around its marker.
const SHOWN_WIDTH: usize = 100;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = match self.severity {
            Severity::Warning => "warning",
            Severity::Unsupported => "not supported",
            Severity::Error => "error",
        };
        writeln!(f, "{title}: {}", self.message)?;
        write_excerpt(f, &self.place, '^', &self.label)?;
        for (place, text) in &self.notes {
            write_excerpt(f, place, '-', text)?;
        }
        if let Some(help) = &self.help {
            writeln!(f, "   = help: {help}")?;
        }
        Ok(())
    }
}

/// Writes `file:line:column`, the line, and a marker with its label.
fn write_excerpt(
    f: &mut fmt::Formatter<'_>,
    place: &Place,
    marker: char,
    label: &str,
) -> fmt::Result {
    let source = &place.source;
    let (line, column) = source.line_column(place.span.start);
    writeln!(f, "  --> {}:{line}:{column}", source.name())?;

    let text = source.line(line);
    let first = column - 1;
    let long = text.chars().nth(SHOWN_WIDTH).is_some();
    let from = if long {
        first.saturating_sub(SHOWN_WIDTH / 3)
    } else {
        0
    };
    let mut characters = text.chars().map(printable).skip(from);
    let mut shown = String::new();
    if from > 0 {
        shown.push('…');
    }
    shown.extend(characters.by_ref().take(SHOWN_WIDTH));
    if characters.next().is_some() {
        shown.push('…');
    }
    let indent = first - from + usize::from(from > 0);
    let marked = source.text()[place.span.range()]
        .chars()
        .take_while(|character| !matches!(character, '\n' | '\r'))
        .take((from + SHOWN_WIDTH).saturating_sub(first))
        .count();
    let length = marked.max(1);

    let number = line.to_string();
    let gutter = " ".repeat(number.len());
    writeln!(f, " {gutter} |")?;
    writeln!(f, " {number} | {}", shown.trim_end())?;
    let mut under = String::new();
    write!(
        under,
        "{}{}",
        " ".repeat(indent),
        marker.to_string().repeat(length)
    )?;
    if !label.is_empty() {
        write!(under, " {label}")?;
    }
    writeln!(f, " {gutter} | {under}")
}

/// At most the first twenty characters of a text, fit to be shown.
pub(crate) fn excerpt(text: &str) -> String {
    const SHOWN: usize = 20;
    let mut shown: String = text.chars().take(SHOWN).map(printable).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Keeps every character one column wide, so that markers stand where they should.
fn printable(character: char) -> char {
    match character {
        '\t' => ' ',
        c if c.is_control() => '�',
        c => c,
    }
}

/// Messages past this many per file are counted, not kept: a file with a hundred
/// thousand mistakes has one cause.
const KEPT: usize = 100;

/// Every message about one or more inputs: file by file, from top to bottom.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    messages: Vec<Diagnostic>,
    left_out: usize,
    worst: Option<Severity>,
}

impl Diagnostics {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.worst = self.worst.max(Some(diagnostic.severity));
        if self.messages.len() < KEPT {
            self.messages.push(diagnostic);
        } else {
            self.left_out += 1;
        }
    }

    /// Adds the messages of `other`, those about a new file behind all others.
    pub fn append(&mut self, other: Self) {
        self.worst = self.worst.max(other.worst);
        self.messages.extend(other.messages);
        self.left_out += other.left_out;
        self.sort();
    }

    /// The nearest of `known` to `wrong`, as a question; none where the message will not be kept,
    /// so that a file full of mistakes is still read in no time.
    pub(crate) fn did_you_mean<'a>(
        &self,
        wrong: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Option<String> {
        let name = self.nearest(wrong, known)?;
        Some(format!("did you mean `{name}`?"))
    }

    /// As [`Diagnostics::did_you_mean`], but only the name.
    pub(crate) fn nearest<'a>(
        &self,
        wrong: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        if self.messages.len() >= KEPT {
            return None;
        }
        nearest(wrong, known)
    }

    /// The messages kept.
    pub fn messages(&self) -> &[Diagnostic] {
        &self.messages
    }

    /// The worst severity met, `None` when there is nothing to say.
    pub fn worst(&self) -> Option<Severity> {
        self.worst
    }

    /// Whether the input can be used: nothing worse than a warning.
    pub fn usable(&self) -> bool {
        self.worst.is_none_or(|worst| worst == Severity::Warning)
    }

    /// How many messages of a severity there are among those kept.
    pub fn count(&self, severity: Severity) -> usize {
        self.messages
            .iter()
            .filter(|message| message.severity == severity)
            .count()
    }

    /// Sorts by place, keeping the order of files and of messages about the same place.
    pub(crate) fn sort(&mut self) {
        let mut files: Vec<Arc<Source>> = Vec::new();
        for message in &self.messages {
            if !files
                .iter()
                .any(|file| Arc::ptr_eq(file, &message.place.source))
            {
                files.push(Arc::clone(&message.place.source));
            }
        }
        self.messages.sort_by_key(|message| {
            let place = &message.place;
            let file = files
                .iter()
                .position(|file| Arc::ptr_eq(file, &place.source));
            (file, place.span.start, place.span.end)
        });
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, message) in self.messages.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{message}")?;
        }
        if self.left_out > 0 {
            writeln!(f, "\n... and {} more", self.left_out)?;
        }
        Ok(())
    }
}
