//! Requests as real clients sent them, byte by byte: `dev/serve/README.md` says which, and how they
//! were recorded.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Served, parts};

/// Where the port of the server stands in a recording.
const PORT: &str = "localhost:PORT";

/// Where the address of a result does.
const CHECK: &str = "/check/ID?external=True";

/// The page that the web editor's requests came from.
const EDITOR: &str = "http://editor.planning.domains:8000";

macro_rules! recording {
    ($name:literal) => {
        include_str!(concat!("recorded/", $name, ".http"))
    };
}

/// Sends a recording; the status and the whole reply.
fn replay(served: &Served, recording: &str, check: &str) -> (u16, String) {
    let text = recording
        .replace(PORT, &format!("localhost:{}", served.port))
        .replace(CHECK, check);
    let reply = served.raw(text.as_bytes());
    let (status, _) = parts(&reply);
    (status, reply)
}

/// Sends a recording; the JSON that comes back, as clients insist on it.
fn json_of(served: &Served, recording: &str, check: &str) -> Value {
    let (status, reply) = replay(served, recording, check);
    assert_eq!(status, 200, "{reply}");
    let head = reply.to_ascii_lowercase();
    assert!(head.contains("content-type: application/json"), "{reply}");
    serde_json::from_str(&parts(&reply).1).unwrap_or_else(|error| panic!("{error}: {reply}"))
}

/// Begins by one recording and asks by another until there is a result.
fn result_of(served: &Served, begin: &str, ask: &str) -> Value {
    let begun = json_of(served, begin, "");
    let check = begun["result"].as_str().expect("an address").to_owned();
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let found = json_of(served, ask, &check);
        if found["status"] != "PENDING" {
            return found;
        }
        assert!(Instant::now() < end, "{found}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn vs_code_asks_for_plans() {
    let served = Served::new(&[]);
    let packages = json_of(&served, recording!("vscode-packages"), "");
    assert_eq!(packages["homing"]["runnable"], true);
    // The length is that of letters, and there are two with dots: the body is longer.
    let begin = recording!("vscode-package");
    let (head, body) = begin.split_once("\r\n\r\n").expect("a head");
    assert!(head.contains(&format!("Content-Length: {}", body.encode_utf16().count())));
    assert!(body.encode_utf16().count() < body.len());
    let found = result_of(&served, begin, recording!("vscode-check"));
    let plan = found["result"]["output"]["plan"].as_str().expect("a plan");
    assert_eq!(plan.lines().filter(|line| line.starts_with('(')).count(), 5);

    let found = json_of(&served, recording!("vscode-solve"), "");
    assert_eq!(found["result"]["plan"].as_array().map(Vec::len), Some(5));
    let found = json_of(&served, recording!("vscode-request"), "");
    assert_eq!(found["status"]["status"], "STOPPED", "{found}");
    assert_eq!(found["plans"][0]["metricValue"], 5);
    // The question whether the service is up expects to be refused.
    let (status, reply) = replay(&served, recording!("vscode-probe"), "");
    assert!(status >= 400, "{reply}");
}

#[test]
fn vs_code_checks_texts_and_plans() {
    let served = Served::new(&[]);
    let found = json_of(&served, recording!("vscode-parse"), "");
    let found = found.as_array().expect("messages");
    assert!(!found.is_empty());
    for message in found {
        assert_eq!(message["location"], "PROBLEM:1", "{message}");
        assert_eq!(message["severity"], "error");
    }
    let found = json_of(&served, recording!("vscode-validate"), "");
    assert_eq!(found["validation"], json!({"problems": []}));
}

#[test]
fn planutils_asks_for_plans() {
    let served = Served::new(&[]);
    let packages = json_of(&served, recording!("planutils-packages"), "");
    let solve = &packages["homing"]["endpoint"]["services"]["solve"];
    // It wants a word for every argument, and fills them into the call.
    let arguments = solve["args"].as_array().expect("arguments");
    let call = solve["call"].as_str().expect("a call");
    assert_eq!(call.matches('{').count(), arguments.len(), "{call}");
    let ask = recording!("planutils-check");
    assert!(ask.starts_with("GET //check/"), "two slashes");
    let found = result_of(&served, recording!("planutils-solve"), ask);
    let plan = found["result"]["output"]["plan"].as_str().expect("a plan");
    assert_eq!(plan.lines().filter(|line| line.starts_with('(')).count(), 5);
}

#[test]
fn the_web_editor_asks_for_plans_if_it_is_let_in() {
    let requests = [
        recording!("editor-packages"),
        recording!("editor-preflight"),
        recording!("editor-solve"),
    ];
    let closed = Served::new(&[]);
    for request in requests {
        assert_eq!(replay(&closed, request, "").0, 403);
    }
    let served = Served::new(&["--origin", EDITOR]);
    for request in requests {
        let (status, reply) = replay(&served, request, "");
        assert!(status == 200 || status == 204, "{reply}");
        let allowed = format!("Access-Control-Allow-Origin: {EDITOR}");
        assert!(reply.contains(&allowed), "{reply}");
    }
    let found = result_of(
        &served,
        recording!("editor-solve"),
        recording!("editor-check"),
    );
    let plan = &found["plans"][0]["result"];
    assert_eq!(plan["parse_status"], "ok", "{found}");
    assert_eq!(plan["length"], 5);
}
