//! A server to ask, and as much of a client as the tests need.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A server of the command, ended when dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) port: u16,
    /// For its temporary files: it is killed, and cannot remove them itself.
    _folder: tempfile::TempDir,
}

impl Served {
    pub(crate) fn new(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = Command::new(env!("CARGO_BIN_EXE_homing"))
            .args(["serve", "--port", "0"])
            .args(arguments)
            .env("TMPDIR", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it was asked for");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let port = line
            .split("localhost:")
            .nth(1)
            .and_then(|rest| rest.split('/').next());
        let port = port
            .and_then(|port| port.parse().ok())
            .unwrap_or_else(|| panic!("{line}"));
        Self {
            child,
            port,
            _folder: folder,
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let patience = Some(Duration::from_secs(120));
        stream.set_read_timeout(patience).expect("a limit");
        stream.set_write_timeout(patience).expect("a limit");
        stream
    }

    /// Sends bytes as they are; the reply as it comes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // One that refuses early may not read it all.
        let _ = stream.write_all(bytes);
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        String::from_utf8_lossy(&reply).into_owned()
    }

    pub(crate) fn request(&self, head: &str, body: &str) -> (u16, String) {
        let text = format!(
            "{head} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        );
        parts(&self.raw(text.as_bytes()))
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        let (status, body) = self.request(&format!("GET {path}"), "");
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let (status, body) = self.request(&format!("POST {path}"), &body.to_string());
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    /// Events of a job of the page.
    pub(crate) fn work(&self, job: &Value) -> Vec<Value> {
        let (status, body) = self.request("POST /work", &job.to_string());
        assert_eq!(status, 200, "{body}");
        let lines = body.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    /// Bytes of memory of the server itself.
    pub(crate) fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.unwrap_or(0)
    }

    /// Processes that work for it.
    pub(crate) fn children(&self) -> usize {
        let parent = format!("PPid:\t{}\n", self.child.id());
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let statuses =
            entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("status")).ok());
        statuses
            .filter(|status| status.contains(&parent) && !status.contains("State:\tZ"))
            .count()
    }

    /// Waits until something holds.
    pub(crate) fn until(&self, seconds: u64, holds: impl Fn(&Self) -> bool) -> bool {
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            if holds(self) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        holds(self)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Status and body of a reply.
pub(crate) fn parts(reply: &str) -> (u16, String) {
    let (head, body) = reply.split_once("\r\n\r\n").unwrap_or((reply, ""));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
    (status.unwrap_or(0), body.to_owned())
}

pub(crate) const DOMAIN: &str = include_str!("../../../../fixtures/valid/gripper/domain.pddl");

/// A problem of gripper with so many balls.
pub(crate) fn problem(balls: usize) -> String {
    let names: Vec<String> = (0..balls).map(|n| format!("b{n}")).collect();
    let at = |room: &str| -> String {
        let facts = names.iter().map(|name| format!("(ball-in {name} {room})"));
        facts.collect::<Vec<_>>().join(" ")
    };
    format!(
        "(define (problem p) (:domain gripper)\n (:objects {} - ball r s - room g h - gripper)\n \
         (:init (robot-in r) (free g) (free h) {})\n (:goal (and {})))",
        names.join(" "),
        at("r"),
        at("s")
    )
}

/// What no blind search comes to the end of.
pub(crate) fn hard() -> Value {
    json!({
        "domain": DOMAIN, "problem": problem(40), "search": "astar", "heuristic": "blind",
    })
}
