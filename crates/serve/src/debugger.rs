//! Posts a search, state by state, to the search debugger of an editor.
//!
//! The editor is the server here: it draws each state that it is sent. Posts go out in order, one
//! after the other, on a thread of their own. A debugger that does not answer gets no more.

use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use homing_planner::{Met, StateId, Task, Verdict};
use serde_json::{Value, json};

/// A debugger draws every state: past this many it would only stall.
const MOST_STATES: usize = 3_000;

/// The actions up to a state are sent if there are at most so many: its bodies are limited.
const LONGEST_HEAD: usize = 200;

/// A debugger that takes longer to answer is not there.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why an address is not one to post to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadAddress;

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a search debugger is at http://localhost:PORT, on this machine"
        )
    }
}

/// The port of an address such as `http://localhost:8001`.
///
/// # Errors
///
/// If it is of another machine, or no such address.
pub fn port_of(address: &str) -> Result<u16, BadAddress> {
    let rest = address.strip_prefix("http://").ok_or(BadAddress)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (host, port) = rest.rsplit_once(':').ok_or(BadAddress)?;
    if !["localhost", "127.0.0.1"].contains(&host) {
        return Err(BadAddress);
    }
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    match port.parse::<u16>() {
        Ok(port) if port > 0 && digits => Ok(port),
        _ => Err(BadAddress),
    }
}

struct Post {
    path: &'static str,
    body: Value,
}

/// How a state was reached, as far as a debugger wants to know.
struct Told {
    parent: Option<StateId>,
    action: String,
    depth: u32,
}

/// Sends what it is shown to a debugger.
pub struct Debugger {
    posts: Option<SyncSender<Post>>,
    told: Mutex<HashMap<StateId, Told>>,
    thread: Option<JoinHandle<()>>,
}

impl Debugger {
    /// For the debugger that listens at a port of this machine.
    pub fn new(port: u16) -> Self {
        let (posts, queue) = sync_channel(1024);
        let thread = std::thread::Builder::new()
            .name("debugger".to_owned())
            .spawn(move || send_all(port, &queue));
        Self {
            posts: Some(posts),
            told: Mutex::default(),
            thread: thread.ok(),
        }
    }

    /// Tells of a state.
    pub fn met(&self, task: &Task, met: Met) {
        let mut told = self.told.lock().expect("no thread panics here");
        let is_new = !told.contains_key(&met.state);
        if is_new {
            if told.len() >= MOST_STATES && met.verdict != Verdict::Goal {
                return;
            }
            let Some(state) = describe(task, met, &told) else {
                return;
            };
            told.insert(met.state, state);
        }
        let state = state_body(met.state, &told);
        if is_new {
            let path = if met.reached.is_none() {
                "/state/initial"
            } else {
                "/state"
            };
            self.post(path, state.clone());
        }
        let id = met.state.index().to_string();
        match met.verdict {
            Verdict::Estimate(h) => self.post(
                "/state/heuristic",
                json!({"id": id, "h": h, "totalMakespan": h, "helpfulActions": [], "relaxedPlan": []}),
            ),
            Verdict::DeadEnd => self.post(
                "/state/heuristic",
                json!({"id": id, "totalMakespan": 0, "helpfulActions": [], "relaxedPlan": []}),
            ),
            // On a scale of its own: a debugger would take it for steps to the goal.
            Verdict::Score(_) => {}
            Verdict::Goal => self.post("/plan", state),
        }
    }

    fn post(&self, path: &'static str, body: Value) {
        if let Some(posts) = &self.posts {
            // The receiver is gone once the debugger has stopped answering.
            let _ = posts.send(Post { path, body });
        }
    }
}

impl Drop for Debugger {
    fn drop(&mut self) {
        self.posts = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// `None` if the parent was not told: then the state would hang in the air.
fn describe(task: &Task, met: Met, told: &HashMap<StateId, Told>) -> Option<Told> {
    let Some((parent, action)) = met.reached else {
        return Some(Told {
            parent: None,
            action: String::new(),
            depth: 0,
        });
    };
    let name = task.action_name(action).to_string();
    Some(Told {
        parent: Some(parent),
        action: name.trim_matches(['(', ')']).to_owned(),
        depth: told.get(&parent)?.depth + 1,
    })
}

fn state_body(id: StateId, told: &HashMap<StateId, Told>) -> Value {
    let state = &told[&id];
    let happening = |state: &Told| {
        json!({
            "earliestTime": state.depth, "actionName": state.action, "shotCounter": 0,
            "iterations": 1, "kind": "INSTANTANEOUS",
        })
    };
    let mut head = Vec::new();
    if state.depth as usize <= LONGEST_HEAD {
        let mut at = state;
        while let Some(parent) = at.parent {
            head.push(happening(at));
            at = &told[&parent];
        }
        head.reverse();
    }
    let mut body = json!({
        "id": id.index().to_string(), "g": state.depth, "earliestTime": state.depth,
    });
    if let Some(parent) = state.parent {
        body["parentId"] = json!(parent.index().to_string());
        body["appliedAction"] = happening(state);
        body["planHead"] = json!(head);
    }
    body
}

fn send_all(port: u16, queue: &Receiver<Post>) {
    let mut connection = None;
    for post in queue {
        if send(port, &post, &mut connection).is_err() {
            return;
        }
    }
}

fn send(
    port: u16,
    post: &Post,
    connection: &mut Option<BufReader<TcpStream>>,
) -> std::io::Result<()> {
    let reader = match connection {
        Some(reader) => reader,
        None => {
            // Not by the name `localhost`: editors listen on this address only.
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            stream.set_nodelay(true)?;
            connection.insert(BufReader::new(stream))
        }
    };
    let body = post.body.to_string();
    let request = format!(
        "POST {} HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        post.path,
        body.len()
    );
    reader.get_mut().write_all(request.as_bytes())?;
    if !skip_reply(reader)? {
        *connection = None;
    }
    Ok(())
}

/// Reads a reply to its end; whether the connection can be used again.
fn skip_reply(reader: &mut BufReader<TcpStream>) -> std::io::Result<bool> {
    let mut length = None;
    let mut close = false;
    loop {
        let mut line = String::new();
        if reader.take(8192).read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse::<u64>().ok();
        }
        close |= line == "connection: close";
    }
    let Some(length) = length.filter(|_| !close) else {
        return Ok(false);
    };
    std::io::copy(&mut reader.take(length), &mut std::io::sink())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_posted_to() {
        assert_eq!(port_of("http://localhost:8123"), Ok(8123));
        assert_eq!(port_of("http://127.0.0.1:8123/"), Ok(8123));
        for wrong in [
            "https://localhost:1",
            "http://localhost",
            "http://localhost:0",
            "http://localhost:99999",
            "http://localhost:+80",
            "http://localhost@example.com:80",
            "http://example.com:80",
            "http://localhost:80/x",
            "localhost:80",
        ] {
            assert_eq!(port_of(wrong), Err(BadAddress), "{wrong}");
        }
    }
}
