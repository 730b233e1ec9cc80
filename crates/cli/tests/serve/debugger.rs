//! A search debugger, as an editor is one: it is posted the states of a search.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::Command;

use serde_json::{Value, json};

use super::client::{DOMAIN, Served, problem};

/// Takes posts until its port is closed to it, over one connection.
fn take_posts(listener: &TcpListener) -> Vec<(String, Value)> {
    let (stream, _) = listener.accept().expect("a connection");
    let mut reader = BufReader::new(stream);
    let mut posts = Vec::new();
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return posts;
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a header");
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        assert!(length < 100 << 10, "an editor takes no more");
        let path = first.split(' ').nth(1).expect("a path").to_owned();
        posts.push((path, serde_json::from_slice(&body).expect("JSON")));
        let reply =
            b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nOK";
        reader.get_mut().write_all(reply).expect("it reads");
    }
}

/// What the message parser of the editor asks of posts.
fn check(posts: &[(String, Value)]) {
    let mut known = std::collections::BTreeSet::new();
    let mut plans = 0;
    assert_eq!(posts[0].0, "/state/initial");
    for (path, body) in posts {
        let id = body["id"].as_str().expect("ids are texts").to_owned();
        match path.as_str() {
            "/state/initial" => assert_eq!(id, "0"),
            "/state" | "/plan" => {
                let parent = body["parentId"].as_str().expect("a parent").to_owned();
                assert!(known.contains(&parent), "{parent} before {id}");
                assert!(body["planHead"].is_array());
                let action = body["appliedAction"]["actionName"]
                    .as_str()
                    .expect("a name");
                assert!(!action.contains(['(', ')']), "{action}");
                plans += u32::from(path == "/plan");
            }
            "/state/heuristic" => {
                assert!(known.contains(&id), "{id} is known");
                assert!(body["helpfulActions"].is_array() && body["relaxedPlan"].is_array());
            }
            other => panic!("{other}"),
        }
        known.insert(id);
    }
    assert_eq!(plans, 1);
    assert_eq!(posts.last().expect("a post").0, "/plan");
}

#[test]
fn solve_posts_its_search() {
    for search in ["gbfs", "lazy", "astar"] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("domain.pddl"), DOMAIN).expect("written");
        let file = folder.path().join("p.pddl");
        std::fs::write(&file, problem(3)).expect("written");
        let taking = std::thread::spawn(move || take_posts(&listener));
        let output = Command::new(env!("CARGO_BIN_EXE_homing"))
            .args(["solve", "--search", search])
            .arg(format!("--search-tree-dump=http://localhost:{port}"))
            .arg(&file)
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{output:?}");
        check(&taking.join().expect("posts"));
    }
}

#[test]
fn a_debugger_that_is_not_there_does_not_matter() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("domain.pddl"), DOMAIN).expect("written");
    let file = folder.path().join("p.pddl");
    std::fs::write(&file, problem(3)).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_homing"));
    command
        .args(["solve", "--search-tree-dump=http://localhost:1"])
        .arg(&file);
    assert!(command.output().expect("it runs").status.success());
}

#[test]
fn requests_post_their_search() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let taking = std::thread::spawn(move || take_posts(&listener));
    let served = Served::new(&[]);
    let text = |content: &str| json!({"name": "x", "format": "PDDL", "content": content});
    let asked = json!({
        "domain": text(DOMAIN), "problem": text(&problem(2)),
        "configuration": {"planFormat": "JSON", "timeout": 60, "searchDebuggerEnabled": true, "searchDebuggerPort": port},
        "callbacks": [{"type": "STATES", "url": format!("http://localhost:{port}")}],
    });
    let (_, found) = served.post("/request?async=false", &asked);
    assert_eq!(found["status"]["status"], "STOPPED");
    check(&taking.join().expect("posts"));
}
