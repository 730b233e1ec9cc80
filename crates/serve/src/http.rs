//! As much of HTTP as a server for one machine needs: one request a connection, bounded in size and
//! in time, and a look at whether the client is still there.
//!
//! Written here, and not taken from a crate, for two things that small crates do not offer. Editors
//! send a `Content-Length` that counts UTF-16 units, so that a body with an `ö` is longer than it
//! says: the rest has to be read on from the connection. And work is stopped when its client breaks
//! off, which only the one who holds the connection sees.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Bytes of a request line and headers, at the most.
const MOST_HEAD: usize = 32 << 10;

/// Bytes of a body, at the most.
pub(crate) const MOST_BODY: usize = 16 << 20;

/// A request has arrived by then, or is given up.
const HEAD_TIME: Duration = Duration::from_secs(10);
const BODY_TIME: Duration = Duration::from_secs(60);

/// A client takes its reply by then, or is given up.
const WRITE_TIME: Duration = Duration::from_secs(20);

/// So long the missing end of a body is waited for.
const TAIL_TIME: Duration = Duration::from_millis(500);

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path, without the query, with single slashes.
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The first header of a name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(at, _)| at == name)
            .map(|(_, value)| value.as_str())
    }
}

/// A request that is none.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) message: &'static str,
}

fn refuse(status: u16, message: &'static str) -> Refusal {
    Refusal { status, message }
}

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn new(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            kind,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    pub(crate) fn json(value: &Value) -> Self {
        Self::new(200, "application/json", value.to_string())
    }

    /// A refusal, as JSON like everything that programs read.
    pub(crate) fn error(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"Error": message, "error": message});
        Self::new(status, "application/json", body.to_string())
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        302 => "Found",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        _ => "Service Unavailable",
    }
}

/// A client's connection.
pub(crate) struct Connection {
    stream: TcpStream,
    /// Read, but not yet taken.
    buffer: Vec<u8>,
    /// Bytes that came after the request, and went.
    ignored: usize,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> std::io::Result<Self> {
        stream.set_write_timeout(Some(WRITE_TIME))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::new(),
            ignored: 0,
        })
    }

    /// Reads what has come, waiting for it until a moment; 0 at the end of the connection.
    fn fill(&mut self, until: Instant) -> std::io::Result<usize> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut part = [0; 16 << 10];
        let count = self.stream.read(&mut part)?;
        self.buffer.extend_from_slice(&part[..count]);
        Ok(count)
    }

    fn fill_or_refuse(&mut self, until: Instant) -> Result<(), Refusal> {
        match self.fill(until) {
            Ok(0) => Err(refuse(400, "the request ended too early")),
            Ok(_) => Ok(()),
            Err(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => {
                Err(refuse(408, "the request took too long to arrive"))
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(_) => Err(refuse(400, "the connection broke")),
        }
    }

    /// Takes the bytes up to and with the next line end.
    fn line(&mut self, until: Instant, most: usize) -> Result<Vec<u8>, Refusal> {
        let mut looked_at = 0;
        loop {
            if let Some(end) = self.buffer[looked_at..]
                .iter()
                .position(|&byte| byte == b'\n')
            {
                let mut line: Vec<u8> = self.buffer.drain(..=looked_at + end).collect();
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(line);
            }
            looked_at = self.buffer.len();
            if looked_at > most {
                return Err(refuse(431, "the head of the request is too long"));
            }
            self.fill_or_refuse(until)?;
        }
    }

    /// Reads a request; `None` if the client said nothing at all.
    pub(crate) fn request(&mut self) -> Result<Option<Request>, Refusal> {
        let until = Instant::now() + HEAD_TIME;
        if matches!(self.fill(until), Ok(0) | Err(_)) {
            return Ok(None);
        }
        let first = self.line(until, MOST_HEAD)?;
        let first = String::from_utf8(first).map_err(|_| refuse(400, "this is no HTTP"))?;
        let mut words = first.split(' ');
        let (method, target, version) = (words.next(), words.next(), words.next());
        let (Some(method), Some(target), Some(version)) = (method, target, version) else {
            return Err(refuse(400, "this is no HTTP"));
        };
        if !version.starts_with("HTTP/1.") || !target.starts_with('/') || words.next().is_some() {
            return Err(refuse(400, "this is no HTTP/1.1"));
        }
        let headers = self.headers(until)?;
        let mut request = Request {
            method: method.to_owned(),
            path: plain_path(target),
            headers,
            body: Vec::new(),
        };
        if request.header("expect").is_some() {
            let _ = self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        request.body = self.body(&request)?;
        Ok(Some(request))
    }

    fn headers(&mut self, until: Instant) -> Result<Vec<(String, String)>, Refusal> {
        let mut headers = Vec::new();
        let mut size = 0;
        loop {
            let line = self.line(until, MOST_HEAD)?;
            if line.is_empty() {
                return Ok(headers);
            }
            size += line.len();
            if size > MOST_HEAD {
                return Err(refuse(431, "the head of the request is too long"));
            }
            let line = String::from_utf8_lossy(&line);
            let Some((name, value)) = line.split_once(':') else {
                return Err(refuse(400, "a header has no colon"));
            };
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    fn body(&mut self, request: &Request) -> Result<Vec<u8>, Refusal> {
        let until = Instant::now() + BODY_TIME;
        if let Some(coding) = request.header("transfer-encoding") {
            if !coding.eq_ignore_ascii_case("chunked") || request.header("content-length").is_some()
            {
                return Err(refuse(400, "such a transfer encoding is not understood"));
            }
            return self.chunks(until);
        }
        let length = match request.header("content-length") {
            Some(length) => length
                .parse::<usize>()
                .map_err(|_| refuse(400, "the content length is no number"))?,
            None => 0,
        };
        self.exactly(length, until)
    }

    fn exactly(&mut self, length: usize, until: Instant) -> Result<Vec<u8>, Refusal> {
        if length > MOST_BODY {
            return Err(refuse(413, "the body is larger than 16 MiB"));
        }
        while self.buffer.len() < length {
            self.fill_or_refuse(until)?;
        }
        Ok(self.buffer.drain(..length).collect())
    }

    fn chunks(&mut self, until: Instant) -> Result<Vec<u8>, Refusal> {
        let mut body = Vec::new();
        loop {
            let line = self.line(until, 1024)?;
            let text = String::from_utf8_lossy(&line);
            let digits = text.split(';').next().unwrap_or("").trim();
            let length = usize::from_str_radix(digits, 16)
                .map_err(|_| refuse(400, "a chunk has no length"))?;
            if length == 0 {
                // Trailers, and the empty line.
                while !self.line(until, MOST_HEAD)?.is_empty() {}
                return Ok(body);
            }
            if body.len().saturating_add(length) > MOST_BODY {
                return Err(refuse(413, "the body is larger than 16 MiB"));
            }
            body.extend(self.exactly(length, until)?);
            self.line(until, 1024)?;
        }
    }

    /// The body as JSON. One that ends too early is read on: some clients count letters where they
    /// should count bytes.
    pub(crate) fn json<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T, String> {
        let mut body = request.body.clone();
        let until = Instant::now() + TAIL_TIME;
        loop {
            match serde_json::from_slice::<Value>(&body) {
                Ok(value) => {
                    return serde_json::from_value(value)
                        .map_err(|error| format!("the request is not as it should be: {error}"));
                }
                Err(error) if may_be_cut(&error, &body) && body.len() < MOST_BODY => {
                    let more = !self.buffer.is_empty() || matches!(self.fill(until), Ok(1..));
                    if !more {
                        return Err(format!(
                            "the body of the request ends too early ({error}): non-ASCII \
                             characters in the PDDL make some editors send a wrong length"
                        ));
                    }
                    body.append(&mut self.buffer);
                }
                Err(error) => return Err(format!("the body of the request is no JSON: {error}")),
            }
        }
    }

    /// Whether the client has broken off.
    pub(crate) fn gone(&mut self) -> bool {
        if self
            .stream
            .set_read_timeout(Some(Duration::from_millis(1)))
            .is_err()
        {
            return true;
        }
        let mut rest = [0; 4096];
        match self.stream.read(&mut rest) {
            Ok(0) => true,
            Ok(count) => {
                self.ignored += count;
                self.ignored > MOST_BODY
            }
            Err(error) => !matches!(
                error.kind(),
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
            ),
        }
    }

    /// Sends a reply and ends the connection.
    pub(crate) fn reply(mut self, reply: &Reply) {
        let mut head = head(reply.status, reply.kind, &reply.headers);
        head.push_str(&format!("Content-Length: {}\r\n\r\n", reply.body.len()));
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&reply.body);
        if self.stream.write_all(&bytes).is_ok() {
            self.end();
        }
    }

    /// Begins a reply whose parts come one by one.
    pub(crate) fn begin_stream(&mut self, headers: &[(&'static str, String)]) -> bool {
        let head = head(200, "application/x-ndjson", headers) + "\r\n";
        self.stream.write_all(head.as_bytes()).is_ok()
    }

    /// Sends a part; `false` if the client has broken off.
    pub(crate) fn part(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Says that no more comes. What the client still sends is read for a moment: closing with
    /// unread bytes would take the reply away from it.
    pub(crate) fn end(mut self) {
        if self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let until = Instant::now() + Duration::from_millis(500);
        let mut read = 0;
        while read < 4 * MOST_BODY {
            self.buffer.clear();
            match self.fill(until) {
                Ok(count) if count > 0 => read += count,
                _ => break,
            }
        }
    }
}

/// Whether JSON that could not be read may lack its end: also in the middle of a letter.
fn may_be_cut(error: &serde_json::Error, body: &[u8]) -> bool {
    let in_letter = match std::str::from_utf8(body) {
        Ok(_) => false,
        Err(error) => error.error_len().is_none(),
    };
    error.is_eof() || in_letter
}

fn head(status: u16, kind: &str, headers: &[(&'static str, String)]) -> String {
    let mut head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {kind}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
        reason(status)
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head
}

/// The path of a target, without query and fragment, with single slashes.
fn plain_path(target: &str) -> String {
    let path = target.split(['?', '#']).next().unwrap_or("/");
    let mut plain = String::with_capacity(path.len());
    for letter in path.chars() {
        if letter != '/' || !plain.ends_with('/') {
            plain.push(letter);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_plain() {
        assert_eq!(plain_path("//check/7?external=True"), "/check/7");
        assert_eq!(plain_path("/"), "/");
        assert_eq!(plain_path("/../etc/passwd#x"), "/../etc/passwd");
    }

    #[test]
    fn a_body_cut_in_a_letter_is_seen_to_be_cut() {
        let whole = "{\"a\":\"ö\"}".as_bytes();
        for end in 1..whole.len() {
            let error = serde_json::from_slice::<Value>(&whole[..end]).expect_err("it is cut");
            assert!(may_be_cut(&error, &whole[..end]), "{end}");
        }
        let error = serde_json::from_slice::<Value>(b"{]").expect_err("it is wrong");
        assert!(!may_be_cut(&error, b"{]"));
    }
}
