//! Runs the commands of the documents.
//!
//! A block tagged `console` or `sh` is run by `bash`, in the order of the document, in a folder of
//! the document's own in which `fixtures`, `domains`, `examples` and `experiments` are those of the
//! repository; `homing` and `cargo run --release --` are the command under test. A block that is not
//! run says so in a comment directly above it: `<!-- not run: the reason -->`. A block tagged `text`
//! with `<!-- output -->` above it shows what the block before it prints: its lines must be there, in
//! this order; `...` stands for any other lines, or for anything in a line.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::markdown::{Block, Document, documents, root};

/// What a block may be tagged with besides: it is not taken for commands.
const NO_COMMANDS: [&str; 8] = [
    "text", "toml", "json", "lua", "bibtex", "rust", "pddl", "python",
];

/// Programs whose name at the start of a line gives a command away.
const PROGRAMS: [&str; 9] = [
    "homing ", "cargo ", "python3 ", "just ", "dev/", "target/", "$ ", ".ci/", "git ",
];

fn is_command(line: &str) -> bool {
    PROGRAMS.iter().any(|program| line.starts_with(program))
}

fn is_commands(block: &Block) -> bool {
    ["console", "sh"].contains(&block.tag.as_str())
}

fn not_run(block: &Block) -> bool {
    let mark = block.mark.as_deref().unwrap_or_default();
    mark.strip_prefix("not run:")
        .is_some_and(|why| !why.trim().is_empty())
}

fn all() -> Vec<Document> {
    documents(&["README.md", "CONTRIBUTING.md", "docs"])
}

#[test]
fn commands_are_in_blocks_that_say_so() {
    let mut wrong = String::new();
    for document in all() {
        let name = &document.name;
        for block in document.blocks() {
            let line = block.line;
            if is_commands(&block) {
                let known = block.mark.is_none() || not_run(&block);
                if !known {
                    let _ = writeln!(wrong, "{name}:{line}: the comment above is no mark");
                }
            } else if !NO_COMMANDS.contains(&block.tag.as_str()) {
                let _ = writeln!(wrong, "{name}:{line}: a block tagged `{}`", block.tag);
            } else if block.text.lines().any(is_command) {
                let _ = writeln!(wrong, "{name}:{line}: commands; tag the block `console`");
            }
        }
        for (line, text) in document.prose() {
            if text.strip_prefix("    ").is_some_and(is_command) {
                let _ = writeln!(wrong, "{name}:{line}: a command that is in no block");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Whether a line is as shown, where `...` stands for anything.
fn is_like(found: &str, shown: &str) -> bool {
    let mut rest = found.trim_end();
    for (index, part) in shown.trim_end().split("...").enumerate() {
        match rest.find(part) {
            Some(0) => rest = &rest[part.len()..],
            Some(at) if index > 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    rest.is_empty() || shown.trim_end().ends_with("...")
}

/// The first of the lines of `shown` that is not in `printed` behind those before it.
fn missing<'s>(shown: &'s str, printed: &str) -> Option<&'s str> {
    let mut printed = printed.lines();
    shown
        .lines()
        .filter(|line| line.trim() != "...")
        .find(|line| !printed.any(|found| is_like(found, line)))
}

/// Runs the blocks of a document; what went wrong, if anything did.
fn run(document: &Document) -> Result<(), String> {
    let blocks = document.blocks();
    if !blocks
        .iter()
        .any(|block| is_commands(block) && !not_run(block))
    {
        return Ok(());
    }
    let folder = tempfile::tempdir().expect("a folder");
    let bin = tempfile::tempdir().expect("a folder");
    let link = |from: &Path, to: &Path| {
        std::os::unix::fs::symlink(from, to).expect("a link");
    };
    link(
        Path::new(env!("CARGO_BIN_EXE_homing")),
        &bin.path().join("homing"),
    );
    for shared in ["fixtures", "domains", "examples", "experiments"] {
        let place = root().join(shared);
        if place.exists() {
            link(&place, &folder.path().join(shared));
        }
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let mut printed = String::new();
    for block in blocks {
        let place = format!("{}:{}", document.name, block.line);
        if block.mark.as_deref() == Some("output") {
            if let Some(line) = missing(&block.text, &printed) {
                return Err(format!("{place}: `{line}` is not in\n{printed}"));
            }
        } else if is_commands(&block) && !not_run(&block) {
            let start = Instant::now();
            let script = block.text.replace("cargo run --release -- ", "homing ");
            let output = Command::new("bash")
                .args(["-eu", "-o", "pipefail", "-c", &script])
                .current_dir(folder.path())
                .env("PATH", format!("{}:{path}", bin.path().display()))
                .stdin(Stdio::null())
                .output()
                .expect("bash");
            printed = String::from_utf8_lossy(&output.stdout).into_owned();
            printed.push_str(&String::from_utf8_lossy(&output.stderr));
            if !output.status.success() {
                return Err(format!("{place}: {}\n{script}\n{printed}", output.status));
            }
            eprintln!("{place}: {:.1} s", start.elapsed().as_secs_f64());
        }
    }
    Ok(())
}

#[test]
fn every_command_works() {
    let mut wrong = Vec::new();
    for document in all() {
        wrong.extend(run(&document).err());
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n\n"));
}

#[test]
fn a_command_that_fails_or_prints_something_else_is_noticed() {
    let fails = Document::of("```console\nhoming solve nope.pddl\n```\n");
    assert!(run(&fails).is_err_and(|why| why.contains("cannot read nope.pddl")));
    let differs = "```console\ncargo run --release -- --version\n```\n\n<!-- output -->\n```text\nhoming 0\n```\n";
    assert!(run(&Document::of(differs)).is_err_and(|why| why.contains("`homing 0` is not in")));
    assert_eq!(missing("a\n...\nc\n", "a\nb\nc\n"), None);
    assert_eq!(missing("c\na\n", "a\nb\nc\n"), Some("a"));
    assert!(is_like("in 0.2 s, done", "in ... s, done") && is_like("x 5", "x ..."));
    assert!(!is_like("in 0.2 s, lost", "in ... s, done") && !is_like("xy", "x"));
}
