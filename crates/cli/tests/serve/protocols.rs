//! What editors speak, by requests as they send them.

use std::io::{Read, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{DOMAIN, Served, hard, parts, problem};

fn wait_for(served: &Served, begun: &Value) -> Value {
    let path = begun["result"]
        .as_str()
        .unwrap_or_else(|| panic!("{begun}"))
        .to_owned();
    loop {
        let (status, found) = served.get(&path);
        assert_eq!(status, 200);
        if found["status"] != "PENDING" {
            return found;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn planning_as_a_service() {
    let served = Served::new(&[]);
    let (_, packages) = served.get("/package");
    let services = &packages["homing"]["endpoint"]["services"];
    let arguments = services["solve"]["args"].as_array().expect("arguments");
    for argument in arguments.iter().filter(|one| one["type"] == "categorical") {
        assert_eq!(
            argument["choices"][0]["value"], argument["default"],
            "the default is the first of the choices"
        );
    }
    let names: Vec<&str> = services["solve"]["args"]
        .as_array()
        .expect("arguments")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert_eq!(names[..2], ["domain", "problem"]);
    assert_eq!(
        served.get("/package/homing/solve").1["package_name"],
        "homing"
    );

    // Defaults are not sent, numbers come as text, unknown fields and queries come along.
    let asked = json!({
        "domain": DOMAIN, "problem": problem(3), "time_limit": "20", "plan": "", "options": "-x",
    });
    let (status, begun) = served.post("/package/homing/solve?time=5", &asked);
    assert_eq!(status, 200);
    let result = wait_for(&served, &begun);
    assert_eq!(result["status"], "ok");
    assert_eq!(result["result"]["stderr"], "");
    let plan = result["result"]["output"]["plan"].as_str().expect("a plan");
    let lines: Vec<&str> = plan.lines().collect();
    assert!(lines[0].starts_with("; States evaluated: "), "{plan}");
    assert!(lines[1].starts_with("; cost = 9"), "{plan}");
    assert!(lines[2].starts_with('(') && lines.len() == 11, "{plan}");

    // The web editor asks by POST, planutils with two slashes.
    let check = begun["result"].as_str().expect("a path");
    let adaptor = json!({"adaptor": "planning_editor_adaptor"});
    let (_, found) = served.post(check, &adaptor);
    let plan = &found["plans"][0]["result"];
    assert_eq!(plan["parse_status"], "ok");
    assert_eq!(plan["length"], 9);
    assert!(
        plan["plan"][0]["action"]
            .as_str()
            .is_some_and(|text| text.starts_with("(:action "))
    );
    assert_eq!(served.get(&format!("/{check}")).1["status"], "ok");
    assert_eq!(served.post(check, &json!({"adaptor": "other"})).0, 400);
    assert_eq!(served.get("/check/0000").1["result"]["output"], json!({}));

    // Mistakes are shown to the user.
    let bad = json!({"domain": DOMAIN.replace("(free ?g)", "(fre ?g)"), "problem": problem(1)});
    let found = wait_for(&served, &served.post("/package/homing/solve", &bad).1);
    assert_eq!(found["result"]["output"], json!({}));
    let message = found["result"]["stderr"].as_str().expect("text");
    assert!(
        message.contains("domain, line ") && message.contains("fre"),
        "{message}"
    );
    let wrong = json!({"domain": DOMAIN, "problem": problem(1), "search": "best"});
    let (status, answer) = served.post("/package/homing/solve", &wrong);
    assert_eq!(status, 200);
    assert!(
        answer["Error"]
            .as_str()
            .is_some_and(|text| text.contains("best")),
        "{answer}"
    );
    // "Is the service up?" expects to be refused.
    let empty = json!({"domain": "", "problem": ""});
    for path in ["/package/homing/solve", "/solve"] {
        assert_eq!(served.post(path, &empty).0, 400, "{path}");
    }
    let valid = json!({"domain": DOMAIN, "problem": problem(1), "plan": "(move r s)"});
    let found = wait_for(&served, &served.post("/package/homing/validate", &valid).1);
    let text = found["result"]["stdout"].as_str().expect("text");
    assert!(text.starts_with("Plan invalid"), "{text}");
}

#[test]
fn services_that_answer_when_they_are_done() {
    let served = Served::new(&[]);
    let asked = json!({"domain": DOMAIN, "problem": problem(2)});
    let (_, found) = served.post("/solve?external=True", &asked);
    assert_eq!(found["status"], "ok");
    let steps = found["result"]["plan"].as_array().expect("a plan").clone();
    assert_eq!(found["result"]["length"], steps.len());
    let (_, found) = served.post("/solve", &json!({"domain": DOMAIN, "problem": "(define"}));
    assert_eq!(found["status"], "error");
    let message = found["result"]["error"].as_str().expect("text");
    assert!(message.contains("problem, line 1, column 1"), "{message}");

    let text = |content: &str| json!({"name": "x", "format": "PDDL", "content": content});
    let asked = json!({
        "domain": text(DOMAIN), "problem": text(&problem(2)), "callbacks": [],
        "configuration": {"planFormat": "JSON", "timeout": 60, "searchDebuggerEnabled": false},
    });
    let (_, found) = served.post("/request?async=false", &asked);
    assert_eq!(found["status"]["status"], "STOPPED");
    let plan = &found["plans"][0];
    assert_eq!(plan["metricValue"], steps.len());
    let content: Value =
        serde_json::from_str(plan["content"].as_str().expect("text")).expect("JSON");
    assert_eq!(content[0]["time"], 0);
    assert_eq!(content[0]["name"], steps[0]["name"]);
    let bad = json!({"domain": text("("), "problem": text(&problem(2))});
    let (_, found) = served.post("/request", &bad);
    assert_eq!(found["status"]["status"], "FAILED");
    assert!(
        found["status"]["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("line 1"))
    );
    let elsewhere = json!({
        "domain": text(DOMAIN), "problem": text(&problem(2)),
        "callbacks": [{"type": "STATES", "url": "http://example.com:80"}],
    });
    assert_eq!(
        served.post("/request", &elsewhere).1["status"]["status"],
        "FAILED"
    );
}

#[test]
fn checking_texts_and_plans() {
    let served = Served::new(&[]);
    let good = json!({"domain": DOMAIN, "problems": [problem(1), problem(2)]});
    assert_eq!(served.post("/parse", &good), (200, json!([])));
    assert_eq!(
        served
            .post("/parse", &json!({"domain": DOMAIN, "problems": []}))
            .1,
        json!([])
    );
    let bad =
        json!({"domain": DOMAIN, "problems": [problem(1), problem(2).replace("(:goal", "(:gaol")]});
    let (_, found) = served.post("/parse", &bad);
    assert_eq!(found[0]["location"], "PROBLEM:1");
    assert_eq!(found[0]["position"], json!({"line": 4, "character": 2}));
    assert_eq!(found[0]["severity"], "error");

    let plan = "; mine\n(grasp b0 r g)\n(move r s)\n(release b0 s g)\n";
    let asked = |plan: &str| json!({"domain": DOMAIN, "problem": problem(1), "plan": plan});
    let (_, found) = served.post("/validate", &asked(plan));
    assert_eq!(found["validation"], json!({"problems": []}), "{found}");
    assert_eq!(found["result"]["val_status"], "valid");
    let (_, found) = served.post(
        "/validate",
        &asked(&plan.replace("(move r s)", "(move s r)")),
    );
    let problem = &found["validation"]["problems"][0];
    assert_eq!(problem["position"]["line"], 3);
    assert!(
        problem["message"]
            .as_str()
            .is_some_and(|text| text.contains("(robot-in s)"))
    );
}

/// Some clients send a length in letters, where bytes are meant; others send chunks.
#[test]
fn bodies_of_wrong_length_and_in_chunks_are_read() {
    let served = Served::new(&[]);
    let body = json!({"domain": format!("; äöü\n{DOMAIN}"), "problems": [problem(1)]}).to_string();
    let host = format!("Host: localhost:{}", served.port);
    let letters = body.encode_utf16().count();
    assert!(letters < body.len());
    let text = format!("POST /parse HTTP/1.1\r\n{host}\r\nContent-Length: {letters}\r\n\r\n{body}");
    assert_eq!(parts(&served.raw(text.as_bytes())), (200, "[]".to_owned()));
    let cut = &body[..body.len() - 40];
    let text = format!(
        "POST /parse HTTP/1.1\r\n{host}\r\nContent-Length: {}\r\n\r\n{cut}",
        cut.len()
    );
    assert!(
        served.raw(text.as_bytes()).contains("non-ASCII"),
        "it says why"
    );

    let (first, second) = body.split_at(body.len() / 2);
    let text = format!(
        "POST /parse HTTP/1.1\r\n{host}\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{first}\r\n{:X};note\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len()
    );
    assert_eq!(parts(&served.raw(text.as_bytes())), (200, "[]".to_owned()));
}

#[test]
fn what_a_client_breaks_off_is_stopped() {
    let served = Served::new(&["--jobs", "1"]);
    for path in ["/solve", "/work"] {
        let mut job = hard();
        job["job"] = json!("solve");
        let body = job.to_string();
        let mut stream = served.connect();
        let text = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Length: {}\r\n\r\n{body}",
            served.port,
            body.len()
        );
        stream.write_all(text.as_bytes()).expect("it reads");
        assert!(
            served.until(20, |served| served.children() == 1),
            "{path}: it works"
        );
        drop(stream);
        assert!(
            served.until(10, |served| served.children() == 0),
            "{path}: it has stopped"
        );
    }
}

#[test]
fn limits_hold() {
    let served = Served::new(&["--time-limit", "1", "--memory-limit", "200M"]);
    let (_, found) = served.post("/solve", &hard());
    assert_eq!(found["status"], "error");
    let message = found["result"]["error"].as_str().expect("text").to_owned();
    assert!(message.contains("limit was reached"), "{message}");
    // A client may ask for less, not for more.
    let mut more = hard();
    more["time_limit"] = json!(1000);
    let start = std::time::Instant::now();
    served.post("/solve", &more);
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[test]
fn training_streams_its_steps_and_the_model_can_be_used() {
    let served = Served::new(&[]);
    let drawn =
        served.work(&json!({"job": "generate", "domain": "gripper", "sizes": "2", "count": 3}));
    let drawn = &drawn.last().expect("an event")["result"];
    let texts: Vec<&Value> = drawn["problems"]
        .as_array()
        .expect("problems")
        .iter()
        .map(|one| &one["text"])
        .collect();
    let job = json!({
        "job": "train", "learner": "nlm", "domain": drawn["domain"], "problems": texts, "steps": 60,
    });
    let events = served.work(&job);
    let name = events
        .iter()
        .find(|event| event["event"] == "model")
        .expect("a name");
    let name = name["name"].as_str().expect("text").to_owned();
    let last = events.last().expect("an event");
    assert_eq!(last["event"], "done", "{last}");
    assert_eq!(last["result"]["steps"], 60);
    let steps = events.iter().filter(|event| event["event"] == "steps");
    let steps: Vec<u64> = steps
        .flat_map(|event| event["steps"].as_array().into_iter().flatten())
        .map(|step| step[0].as_u64().expect("a number"))
        .collect();
    assert_eq!(steps, Vec::from_iter(1..=60_u64), "however fast it went");
    let solve = json!({
        "job": "solve", "domain": drawn["domain"], "problem": texts[0], "search": "gbfs",
        "model": name, "trace": true,
    });
    let events = served.work(&solve);
    let last = events.last().expect("an event");
    assert_eq!(last["result"]["outcome"], "solved", "{last}");
    let states = events.iter().filter(|event| event["event"] == "states");
    let states: Vec<&Value> = states
        .flat_map(|event| event["states"].as_array().into_iter().flatten())
        .collect();
    let evaluations = last["result"]["evaluations"].as_u64().expect("a number");
    assert_eq!(
        states.len() as u64,
        evaluations + 1,
        "every state, and the goal"
    );
    assert_eq!(states.last().expect("a state")[2], "goal");
    let mut stream = served.connect();
    let text = format!(
        "GET /model/{name} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n",
        served.port
    );
    stream.write_all(text.as_bytes()).expect("it reads");
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).expect("a reply");
    assert!(
        reply.windows(11).any(|part| part == b"__metadata_"),
        "a model file"
    );
}
