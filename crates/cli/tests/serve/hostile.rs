//! Requests that nobody should send: none of them crashes the server, or gets at a file.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{DOMAIN, Served, parts, problem};

/// Random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}

fn still_well(served: &Served) {
    let start = Instant::now();
    let (status, page) = served.request("GET /", "");
    assert_eq!(status, 200);
    assert!(page.contains("</html>"));
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn other_hosts_and_origins_are_refused() {
    let served = Served::new(&["--origin", "https://editor.planning.domains"]);
    let port = served.port;
    let with = |headers: &str| {
        parts(&served.raw(format!("GET /package HTTP/1.1\r\n{headers}\r\n\r\n").as_bytes())).0
    };
    assert_eq!(with(&format!("Host: localhost:{port}")), 200);
    assert_eq!(with(&format!("Host: 127.0.0.1:{port}")), 200);
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost:{port}.evil.example"),
        format!("localhost.evil.example:{port}"),
        "localhost".to_owned(),
        String::new(),
    ] {
        assert_eq!(with(&format!("Host: {host}")), 421, "{host}");
    }
    assert_eq!(with("X: y"), 421);
    let from = |origin: &str| with(&format!("Host: localhost:{port}\r\nOrigin: {origin}"));
    assert_eq!(from(&format!("http://localhost:{port}")), 200);
    assert_eq!(from("https://editor.planning.domains"), 200);
    for origin in [
        "null",
        "https://evil.example",
        "http://localhost:1",
        "https://editor.planning.domains.evil.example",
    ] {
        assert_eq!(from(origin), 403, "{origin}");
    }
    let text = format!(
        "OPTIONS /solve HTTP/1.1\r\nHost: localhost:{port}\r\n\
         Origin: https://editor.planning.domains\r\nAccess-Control-Request-Method: POST\r\n\r\n"
    );
    let reply = served.raw(text.as_bytes());
    assert!(reply.contains("Access-Control-Allow-Origin: https://editor.planning.domains\r\n"));
    assert!(reply.contains("Access-Control-Allow-Private-Network: true\r\n"));
}

#[test]
fn no_path_leads_to_a_file() {
    let served = Served::new(&[]);
    for path in [
        "/../../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/model/../../../etc/passwd",
        "/model/..%2f..%2f..%2fetc%2fpasswd",
        "/model//etc/passwd",
        "/model/trained-1",
        "/model/%00",
        "/docs/../etc/passwd",
        "/package/../../etc/passwd",
        "/check/../../etc/passwd",
        "/page.html",
        "//etc/passwd",
        "/C:\\windows\\win.ini",
    ] {
        let (status, body) = served.request(&format!("GET {path}"), "");
        assert!(!body.contains("root:"), "{path}");
        assert!(
            status == 404 || status == 200 && body.contains("no such result"),
            "{path}: {status}"
        );
    }
    // Models are named; a path is no name.
    for model in [
        "/etc/passwd",
        "../../etc/passwd",
        "file:///etc/passwd",
        "models/x.safetensors",
    ] {
        let job = json!({"job": "solve", "domain": DOMAIN, "problem": problem(1), "model": model});
        let (status, reply) = served.post("/work", &job);
        assert_eq!(status, 400, "{model}");
        assert!(
            reply["Error"]
                .as_str()
                .is_some_and(|text| text.contains("no model")),
            "{reply}"
        );
        assert_eq!(
            served
                .post("/work", &json!({"job": "model", "model": model}))
                .0,
            400
        );
    }
    // What the server asks of its processes cannot be asked of the server.
    for job in [
        json!({"job": "train", "domain": DOMAIN, "problems": [problem(1)], "out": "/tmp/x", "learner": {"kind": "counts"}}),
        json!({"job": "solve", "request": {"problem": {"files": {"domain": "/etc/passwd", "problem": "/etc/passwd"}}}}),
        json!({"job": "model", "model": {"file": "/etc/passwd"}}),
    ] {
        let (status, reply) = served.post("/work", &job);
        assert_eq!(status, 400, "{job}");
        assert!(!reply.to_string().contains("root:"));
    }
}

#[test]
fn bodies_of_garbage_are_answered() {
    let served = Served::new(&[]);
    let deep = "[".repeat(100_000);
    for body in [
        "",
        "null",
        "[]",
        "{",
        "\u{0}",
        "{\"domain\":1,\"problem\":[]}",
        "{\"job\":\"check\"}",
        &deep,
    ] {
        for path in [
            "/solve",
            "/request",
            "/parse",
            "/validate",
            "/package/homing/solve",
            "/work",
            "/check/1",
        ] {
            let (status, _) = served.request(&format!("POST {path}"), body);
            assert!((200..500).contains(&status), "{path}: {status}");
        }
    }
    let host = format!("Host: localhost:{}", served.port);
    for (request, status) in [
        ("\r\n\r\n".to_owned(), 400),
        ("GET\r\n\r\n".to_owned(), 400),
        ("GET / SPDY/3\r\n\r\n".to_owned(), 400),
        (format!("BREW / HTTP/1.1\r\n{host}\r\n\r\n"), 405),
        (format!("GET / HTTP/1.1\r\n{host}\r\nnonsense\r\n\r\n"), 400),
        (
            format!("POST /solve HTTP/1.1\r\n{host}\r\nContent-Length: -1\r\n\r\n"),
            400,
        ),
        (
            format!("POST /solve HTTP/1.1\r\n{host}\r\nContent-Length: 99999999999\r\n\r\n"),
            413,
        ),
        (
            format!(
                "POST /solve HTTP/1.1\r\n{host}\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n"
            ),
            413,
        ),
        (
            format!("POST /solve HTTP/1.1\r\n{host}\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
            400,
        ),
        (
            format!(
                "POST /solve HTTP/1.1\r\n{host}\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"
            ),
            400,
        ),
        (
            format!(
                "GET / HTTP/1.1\r\n{host}\r\nX: {}\r\n\r\n",
                "y".repeat(100_000)
            ),
            431,
        ),
    ] {
        let shown: String = request.chars().take(80).collect();
        assert_eq!(parts(&served.raw(request.as_bytes())).0, status, "{shown}");
    }
    still_well(&served);
}

#[test]
fn slow_clients_hold_nobody_up() {
    let served = Served::new(&[]);
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut stream = served.connect();
        stream
            .write_all(b"POST /solve HTTP/1.1\r\nHost: ")
            .expect("it reads");
        slow.push(stream);
    }
    still_well(&served);
    let (_, found) = served.post("/parse", &json!({"domain": DOMAIN, "problems": []}));
    assert_eq!(found, json!([]));
    // They are told, in the end.
    let mut reply = String::new();
    slow[0].read_to_string(&mut reply).expect("a reply");
    assert_eq!(parts(&reply).0, 408);
}

/// Requests put together at random from parts of real ones, with bytes changed.
#[test]
fn thousands_of_random_requests_do_no_harm() {
    const REQUESTS: usize = 10_000;
    let served = Served::new(&["--jobs", "1", "--time-limit", "1"]);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let methods = ["GET", "POST", "OPTIONS", "HEAD", "PUT", "", "GET "];
    let paths = [
        "/",
        "/solve",
        "/parse",
        "/validate",
        "/request?async=false",
        "/package",
        "/work",
        "/check/7",
        "/package/homing/solve",
        "/model/trained-1",
        "/offer",
        "/../x",
        "//",
        "/%2e%2e/etc/passwd",
        "*",
    ];
    let headers = [
        format!("Host: localhost:{}", served.port),
        "Host: evil".to_owned(),
        "Origin: null".to_owned(),
        "Transfer-Encoding: chunked".to_owned(),
        "Content-Length: 20".to_owned(),
        "Expect: 100-continue".to_owned(),
        "Authorization: Bearer x".to_owned(),
        ": :".to_owned(),
    ];
    let bodies = [
        String::new(),
        "{\"domain\":\"(define\",\"problems\":[\"(\"]}".to_owned(),
        "{\"job\":\"check\",\"domain\":\"\",\"problems\":[]}".to_owned(),
        "5\r\nhello\r\n0\r\n\r\n".to_owned(),
        "{\"a\":".to_owned(),
        "\u{feff}\u{1F600}".to_owned(),
    ];
    for _ in 0..REQUESTS {
        let mut text = format!(
            "{} {} HTTP/1.1\r\n",
            methods[random.next(methods.len())],
            paths[random.next(paths.len())]
        );
        if random.next(4) > 0 {
            text.push_str(&headers[0]);
            text.push_str("\r\n");
        }
        for _ in 0..random.next(3) {
            text.push_str(&headers[random.next(headers.len())]);
            text.push_str("\r\n");
        }
        let body = &bodies[random.next(bodies.len())];
        if random.next(2) == 0 {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        text.push_str(body);
        let mut bytes = text.into_bytes();
        for _ in 0..random.next(3) {
            let at = random.next(bytes.len());
            bytes[at] = random.next(256) as u8;
        }
        bytes.truncate(random.next(4 * bytes.len()).max(1));
        let mut stream = served.connect();
        let _ = stream.write_all(&bytes);
        // Some wait for an answer, some leave, some say that they are done.
        match random.next(4) {
            0 => {}
            1 => {
                let _ = stream.set_read_timeout(Some(Duration::from_millis(5)));
                let _ = stream.read(&mut [0; 64]);
            }
            _ => {
                let _ = stream.shutdown(std::net::Shutdown::Write);
                let mut reply = Vec::new();
                let _ = stream.read_to_end(&mut reply);
                assert!(!reply.windows(5).any(|part| part == b"root:"));
            }
        }
    }
    still_well(&served);
    assert!(
        served.until(30, |served| served.children() == 0),
        "nothing is left behind"
    );
    assert!(
        served.resident_kib() < 300 << 10,
        "{} KiB",
        served.resident_kib()
    );
}
