//! As much of Markdown as the documents use.

use std::path::{Path, PathBuf};

/// A document of the repository.
pub(crate) struct Document {
    /// From the root, with `/`.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    lines: Vec<String>,
}

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Block {
    /// The line of the opening fence, from 1.
    pub(crate) line: usize,
    /// The word behind the fence.
    pub(crate) tag: String,
    /// The comment directly above it, without its marks.
    pub(crate) mark: Option<String>,
    pub(crate) text: String,
}

/// A link: what is shown, and where it leads.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) target: String,
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("a root").to_owned()
}

/// All documents below a file or folder of the repository, sorted.
pub(crate) fn documents(places: &[&str]) -> Vec<Document> {
    fn collect(path: &Path, found: &mut Vec<PathBuf>) {
        if path.is_dir() {
            for entry in std::fs::read_dir(path).expect("a folder") {
                let path = entry.expect("an entry").path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if !name.starts_with('.') {
                    collect(&path, found);
                }
            }
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path.to_owned());
        }
    }
    let root = root();
    let mut found = Vec::new();
    for place in places {
        collect(&root.join(place), &mut found);
    }
    found.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a document");
        let name = path.strip_prefix(&root).expect("below the root");
        Document {
            name: name.to_string_lossy().into_owned(),
            lines: text.lines().map(str::to_owned).collect(),
            path,
        }
    };
    found.into_iter().map(read).collect()
}

impl Document {
    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Self {
        Self {
            name: "text".to_owned(),
            path: PathBuf::new(),
            lines: text.lines().map(str::to_owned).collect(),
        }
    }

    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut open: Option<Block> = None;
        for (index, line) in self.lines.iter().enumerate() {
            match (line.trim_start().strip_prefix("```"), &mut open) {
                (Some(tag), None) => {
                    let above = index.checked_sub(1).map(|above| self.lines[above].trim());
                    let mark = above
                        .and_then(|above| above.strip_prefix("<!--")?.strip_suffix("-->"))
                        .map(|mark| mark.trim().to_owned());
                    open = Some(Block {
                        line: index + 1,
                        tag: tag.trim().to_owned(),
                        mark,
                        text: String::new(),
                    });
                }
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (None, Some(block)) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{}: {open:?} does not end", self.name);
        blocks
    }

    /// The lines outside of fenced blocks, numbered from 1.
    pub(crate) fn prose(&self) -> Vec<(usize, &str)> {
        let mut inside = false;
        let mut prose = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            if line.trim_start().starts_with("```") {
                inside = !inside;
            } else if !inside {
                prose.push((index + 1, line.as_str()));
            }
        }
        prose
    }

    /// The names by which headings can be linked to, as GitHub makes them.
    pub(crate) fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        for (_, line) in self.prose() {
            let text = line.trim_start_matches('#');
            if text.len() == line.len() || !text.starts_with(' ') {
                continue;
            }
            let name: String = text
                .trim()
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect();
            let before = anchors.iter().filter(|anchor| **anchor == name).count();
            anchors.push(match before {
                0 => name,
                n => format!("{name}-{n}"),
            });
        }
        anchors
    }

    /// Links and pictures, those inside of code left out.
    pub(crate) fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for (line, text) in self.prose() {
            let mut rest = text;
            while let Some(middle) = rest.find("](") {
                let (before, after) = (&rest[..middle], &rest[middle + 2..]);
                let Some(end) = after.find(')') else { break };
                // A bracket inside of code is no link.
                let shown = opening(before).map(|start| &before[start..]);
                if let Some(shown) = shown.filter(|shown| shown.matches('`').count() % 2 == 0) {
                    links.push(Link {
                        line,
                        text: shown.to_owned(),
                        target: after[..end].to_owned(),
                    });
                }
                rest = &after[end..];
            }
        }
        links
    }
}

/// Where the text of a link begins that ends here: behind the bracket that is still open.
fn opening(before: &str) -> Option<usize> {
    let mut depth = 0;
    for (index, c) in before.char_indices().rev() {
        match c {
            ']' => depth += 1,
            '[' if depth == 0 => return Some(index + 1),
            '[' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[test]
fn what_is_read_of_markdown() {
    let document = Document::of(
        "# A *title*, `x --y`!\n\ntext [a](b.md#c) and ![d [e]](f.svg), `[g](h)`\n\n<!-- not run: why -->\n\
         ```console\nhoming man\n```\n\n## Twice\n## Twice\n",
    );
    assert_eq!(document.anchors(), ["a-title-x---y", "twice", "twice-1"]);
    let links = document.links();
    let targets: Vec<&str> = links.iter().map(|link| link.target.as_str()).collect();
    assert_eq!(targets[..2], ["b.md#c", "f.svg"]);
    let blocks = document.blocks();
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0].mark.as_deref(), Some("not run: why"));
    assert_eq!(blocks[0].text, "homing man\n");
}
