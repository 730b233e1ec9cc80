//! `homing lsp` as an editor meets it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::client::{DOMAIN, problem};

struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl Editor {
    fn new() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_homing"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("it was asked for"));
        Self {
            child,
            stdin,
            stdout,
            asked: 0,
        }
    }

    /// One that has said hello.
    fn ready() -> Self {
        let mut editor = Self::new();
        let hello = json!({"processId": null, "rootUri": null, "capabilities": {}});
        let able = editor.ask("initialize", &hello);
        let able = &able["result"]["capabilities"];
        assert_eq!(able["hoverProvider"], true, "{able}");
        editor.tell("initialized", &json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let stdin = self.stdin.as_mut().expect("it is open");
        write!(stdin, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it reads");
        stdin.flush().expect("it reads");
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.stdout.read_line(&mut line).expect("a header");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().expect("a number"),
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.stdout.read_exact(&mut bytes).expect("a message");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn tell(&mut self, method: &str, parameters: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": parameters}));
    }

    /// Opens or changes a document; the messages about it.
    fn edit(&mut self, uri: &str, text: &str, version: u64) -> Vec<Value> {
        if version == 1 {
            let document = json!({"uri": uri, "languageId": "pddl", "version": 1, "text": text});
            self.tell("textDocument/didOpen", &json!({"textDocument": document}));
        } else {
            let document = json!({"uri": uri, "version": version});
            let changes = json!([{"text": text}]);
            self.tell(
                "textDocument/didChange",
                &json!({"textDocument": document, "contentChanges": changes}),
            );
        }
        self.published(uri)
    }

    /// The messages that come next, about this document.
    fn published(&mut self, uri: &str) -> Vec<Value> {
        let message = self.read();
        assert_eq!(message["method"], "textDocument/publishDiagnostics");
        assert_eq!(message["params"]["uri"], uri, "{message}");
        let list = message["params"]["diagnostics"].as_array();
        list.expect("a list").clone()
    }

    /// Asks about the place of `word` in `text`, `into` letters behind its beginning.
    fn ask_at(&mut self, what: &str, uri: &str, text: &str, word: &str, into: usize) -> Value {
        let at = text.find(word).unwrap_or_else(|| panic!("no {word}")) + into;
        let before = &text[..at];
        let line = before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let character = before[start..].encode_utf16().count();
        let parameters = json!({
            "textDocument": {"uri": uri}, "position": {"line": line, "character": character},
        });
        self.ask(&format!("textDocument/{what}"), &parameters)["result"].take()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const DOMAIN_URI: &str = "file:///nowhere/domain.pddl";
const PROBLEM_URI: &str = "file:///nowhere/p.pddl";

#[test]
fn mistakes_are_told_as_they_are_typed_and_taken_back() {
    let mut editor = Editor::ready();
    let bad = format!("; 😀\n{}", DOMAIN.replace("(free ?g)", "(fre ?g)"));
    let found = editor.edit(DOMAIN_URI, &bad, 1);
    assert!(!found.is_empty());
    let first = &found[0];
    assert_eq!(first["severity"], 1);
    let message = first["message"].as_str().expect("text");
    assert!(message.contains("fre"), "{message}");
    // Its place, in the units of editors.
    let line = first["range"]["start"]["line"].as_u64().expect("a line") as usize;
    let start = first["range"]["start"]["character"].as_u64().expect("one") as usize;
    let end = first["range"]["end"]["character"].as_u64().expect("one") as usize;
    let row = bad.lines().nth(line).expect("the line is there");
    assert!(row[start..end].contains("fre"), "{row}: {start} {end}");
    assert_eq!(editor.edit(DOMAIN_URI, DOMAIN, 2), [] as [Value; 0]);

    // A problem is checked with the domain that is open, and anew when that changes.
    let good = problem(2);
    assert_eq!(editor.edit(PROBLEM_URI, &good, 1), [] as [Value; 0]);
    editor.tell(
        "textDocument/didChange",
        &json!({
            "textDocument": {"uri": DOMAIN_URI, "version": 3},
            "contentChanges": [{"text": DOMAIN.replace("robot-in", "robot-at")}],
        }),
    );
    assert_eq!(editor.published(DOMAIN_URI), [] as [Value; 0]);
    let found = editor.published(PROBLEM_URI);
    assert!(
        found.iter().any(|one| one["message"]
            .as_str()
            .is_some_and(|text| text.contains("robot-in"))),
        "{found:?}"
    );
    let closed = json!({"textDocument": {"uri": PROBLEM_URI}});
    editor.tell("textDocument/didClose", &closed);
    assert_eq!(editor.published(PROBLEM_URI), [] as [Value; 0]);
}

#[test]
fn names_are_shown_found_and_completed() {
    let mut editor = Editor::ready();
    let text = problem(2);
    editor.edit(DOMAIN_URI, DOMAIN, 1);
    editor.edit(PROBLEM_URI, &text, 1);
    let shown = editor.ask_at("hover", PROBLEM_URI, &text, "robot-in", 3);
    let value = shown["contents"]["value"].as_str().expect("text");
    assert!(value.starts_with("predicate\n"), "{value}");
    assert!(value.contains("(robot-in ?"), "{value}");
    let place = editor.ask_at("definition", PROBLEM_URI, &text, "robot-in", 3);
    assert_eq!(place["uri"], DOMAIN_URI);
    let line = place["range"]["start"]["line"].as_u64().expect("a line");
    let row = DOMAIN.lines().nth(line as usize).expect("there");
    assert!(row.contains("robot-in"), "{row}");
    // An object leads to where it is declared, in the problem itself.
    let place = editor.ask_at("definition", PROBLEM_URI, &text, "(ball-in b1", 9);
    assert_eq!(place["uri"], PROBLEM_URI);
    assert_eq!(place["range"]["start"]["line"], 1, "{place}");
    assert_eq!(
        editor.ask_at("hover", PROBLEM_URI, &text, "define", 0),
        Value::Null
    );

    let labels = |list: &Value| -> Vec<String> {
        let items = list["items"].as_array().expect("a list").iter();
        items
            .map(|one| one["label"].as_str().expect("text").to_owned())
            .collect()
    };
    let offered = editor.ask_at("completion", PROBLEM_URI, &text, "(robot-in", 4);
    assert_eq!(labels(&offered), ["robot-in"]);
    let edit = &offered["items"][0]["textEdit"];
    assert_eq!(edit["newText"], "robot-in");
    let width = |end: &str| edit["range"][end]["character"].as_u64().expect("one");
    assert_eq!(width("end") - width("start"), 3, "what was typed goes");
    let offered = editor.ask_at("completion", PROBLEM_URI, &text, "(ball-in b1", 9);
    assert_eq!(labels(&offered).len(), 6, "all objects: {offered}");
    let offered = editor.ask_at("completion", PROBLEM_URI, &text, "- ball", 2);
    assert!(labels(&offered).contains(&"gripper".to_owned()), "types");
    let offered = editor.ask_at("completion", DOMAIN_URI, DOMAIN, "(free ?g)", 7);
    assert!(
        labels(&offered).iter().all(|name| name.starts_with('?')),
        "variables: {offered}"
    );
}

#[test]
fn a_domain_on_the_disk_is_found_beside_the_problem() {
    let folder = tempfile::Builder::new()
        .prefix("a folder")
        .tempdir()
        .expect("a folder");
    std::fs::write(folder.path().join("domain.pddl"), DOMAIN).expect("written");
    let uri = |name: &str| {
        let path = folder.path().join(name).display().to_string();
        format!("file://{}", path.replace(' ', "%20"))
    };
    let mut editor = Editor::ready();
    let text = problem(1).replace("(free g)", "(freee g)");
    let found = editor.edit(&uri("p.pddl"), &text, 1);
    assert_eq!(found.len(), 1, "{found:?}");
    let place = editor.ask_at("definition", &uri("p.pddl"), &text, "robot-in", 0);
    assert_eq!(place["uri"], uri("domain.pddl"));
}

#[test]
fn the_protocol_is_kept() {
    let mut editor = Editor::new();
    let early = editor.ask("textDocument/hover", &json!({}));
    assert_eq!(early["error"]["code"], -32002);
    let mut editor = Editor::ready();
    let unknown = editor.ask("textDocument/rename", &json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    let nowhere = json!({
        "textDocument": {"uri": "file:///other.pddl"}, "position": {"line": 0, "character": 0},
    });
    assert_eq!(
        editor.ask("textDocument/hover", &nowhere)["result"],
        Value::Null
    );
    editor.tell("$/setTrace", &json!({"value": "off"}));
    assert_eq!(editor.ask("shutdown", &Value::Null)["result"], Value::Null);
    editor.tell("exit", &Value::Null);
    assert!(editor.child.wait().expect("it ends").success());

    // What is no message ends it with a sentence, and an editor that is gone ends it too.
    let mut editor = Editor::new();
    let mut stdin = editor.stdin.take().expect("it is open");
    stdin.write_all(b"(define (domain d))\n").expect("it reads");
    assert_eq!(editor.child.wait().expect("it ends").code(), Some(33));
    let mut said = String::new();
    let mut stderr = editor.child.stderr.take().expect("it was asked for");
    stderr.read_to_string(&mut said).expect("text");
    assert!(said.contains("for editors"), "{said}");
    let mut editor = Editor::ready();
    drop(editor.stdin.take());
    assert_eq!(editor.child.wait().expect("it ends").code(), Some(130));
}
