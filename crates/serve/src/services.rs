//! Services that answer when they are done. A client that breaks off ends the work.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::choices::{solve_request, text};
use crate::debugger::port_of;
use crate::http::{Connection, Reply, Request};
use crate::job::{Event, Job};
use crate::package::{refused, solved};
use crate::server::{Lane, Shared};

type Fields = Map<String, Value>;

const BUSY: &str = "too many requests wait already; try again later";

/// Runs a job while its client is there.
fn run(
    shared: &Shared,
    lane: Lane,
    job: &Job,
    bytes: usize,
    connection: &mut Connection,
) -> Result<Event, Reply> {
    let turn = shared
        .join(lane, bytes)
        .map_err(|_| Reply::error(429, BUSY))?;
    let event = shared.run(turn, job, &mut || !connection.gone());
    // Nobody reads this.
    event.ok_or_else(|| Reply::error(503, "broken off"))
}

fn solve_job(shared: &Shared, fields: &Fields, debugger: Option<u16>) -> Result<Job, String> {
    let options = &shared.options;
    let (longest, memory) = (options.time_limit, options.memory_limit);
    Ok(Job::Solve {
        request: Box::new(solve_request(fields, &shared.models, longest, memory)?),
        trace: false,
        debugger,
    })
}

/// `/solve`, as the old solver of planning.domains had it.
pub(crate) fn solve(shared: &Arc<Shared>, connection: &mut Connection, request: &Request) -> Reply {
    let fields: Fields = match connection.json(request) {
        Ok(fields) => fields,
        Err(message) => return Reply::json(&refused(&message)),
    };
    // How clients find out whether the service is up: they expect to be refused.
    if text(&fields, "domain").is_none() && text(&fields, "problem").is_none() {
        return Reply::error(400, "domain and problem are missing");
    }
    let job = match solve_job(shared, &fields, None) {
        Ok(job) => job,
        Err(message) => return Reply::json(&refused(&message)),
    };
    match run(shared, Lane::Long, &job, request.body.len(), connection) {
        Ok(Event::Done { result }) if result["plan"].is_array() => Reply::json(&solved(&result)),
        Ok(Event::Done { result }) => {
            Reply::json(&refused(result["summary"].as_str().unwrap_or("no plan")))
        }
        Ok(Event::Failed { message, .. }) => Reply::json(&refused(&message)),
        Ok(_) => Reply::json(&refused("no result")),
        Err(reply) => reply,
    }
}

/// `/request`, the one service with a search debugger.
pub(crate) fn request(
    shared: &Arc<Shared>,
    connection: &mut Connection,
    request: &Request,
) -> Reply {
    let body: Fields = match connection.json(request) {
        Ok(body) => body,
        Err(message) => return Reply::json(&failed(&message)),
    };
    let content = |name: &str| body.get(name).and_then(|part| part["content"].as_str());
    let (domain, problem) = (content("domain"), content("problem"));
    if domain.unwrap_or_default().is_empty() && problem.unwrap_or_default().is_empty() {
        return Reply::error(400, "domain and problem are missing");
    }
    let mut fields = Fields::new();
    fields.insert("domain".to_owned(), json!(domain.unwrap_or_default()));
    fields.insert("problem".to_owned(), json!(problem.unwrap_or_default()));
    if let Some(seconds) = body
        .get("configuration")
        .and_then(|set| set["timeout"].as_f64())
    {
        fields.insert("time_limit".to_owned(), json!(seconds.max(0.0)));
    }
    let job = debugger(&body).and_then(|port| solve_job(shared, &fields, port));
    let job = match job {
        Ok(job) => job,
        Err(message) => return Reply::json(&failed(&message)),
    };
    match run(shared, Lane::Long, &job, request.body.len(), connection) {
        Ok(Event::Done { result }) => Reply::json(&stopped(&result)),
        Ok(Event::Failed { message, .. }) => Reply::json(&failed(&message)),
        Ok(_) => Reply::json(&failed("no result")),
        Err(reply) => reply,
    }
}

/// Where the states of the search are to be posted.
fn debugger(body: &Fields) -> Result<Option<u16>, String> {
    let callbacks = body.get("callbacks").and_then(Value::as_array);
    let mut callbacks = callbacks.into_iter().flatten();
    let states = callbacks.find(|callback| callback["type"] == "STATES");
    let Some(address) = states.and_then(|callback| callback["url"].as_str()) else {
        return Ok(None);
    };
    port_of(address)
        .map(Some)
        .map_err(|error| error.to_string())
}

fn failed(message: &str) -> Value {
    json!({
        "status": {"status": "FAILED", "error": {"message": message}}, "plans": [], "output": "",
    })
}

fn stopped(result: &Value) -> Value {
    let output = result["summary"].as_str().unwrap_or_default();
    let mut status = json!({"status": "STOPPED"});
    if result["outcome"] == "time-limit" {
        status["reason"] = json!("TIMEOUT");
    }
    let Some(steps) = result["plan"].as_array() else {
        return json!({"status": status, "output": output, "plans": []});
    };
    let content: Vec<Value> = steps
        .iter()
        .enumerate()
        .map(|(time, name)| json!({"name": name, "time": time}))
        .collect();
    let elapsed = (result["total_seconds"].as_f64().unwrap_or(0.0) * 1000.0).round() as u64;
    json!({
        "status": status, "output": output,
        "plans": [{
            "makespan": steps.len(), "metricValue": result["plan_cost"],
            "searchPerformanceInfo": {
                "statesEvaluated": result["evaluations"], "timeElapsed": elapsed.to_string(),
            },
            "timeUnit": "SECOND", "format": "JSON", "content": json!(content).to_string(),
        }],
    })
}

/// `/parse`: what is wrong with PDDL, as editors want it.
pub(crate) fn parse(shared: &Arc<Shared>, connection: &mut Connection, request: &Request) -> Reply {
    let complaint = |message: &str| {
        Reply::json(&json!([{
            "location": "DOMAIN", "message": message, "position": {"line": 1, "character": 1},
            "severity": "error",
        }]))
    };
    let fields: Fields = match connection.json(request) {
        Ok(fields) => fields,
        Err(message) => return complaint(&message),
    };
    let problems = fields.get("problems").and_then(Value::as_array);
    let problems = problems.into_iter().flatten();
    let job = Job::Check {
        domain: text(&fields, "domain").unwrap_or_default().to_owned(),
        problems: problems
            .map(|problem| problem.as_str().unwrap_or_default().to_owned())
            .collect(),
    };
    match run(shared, Lane::Quick, &job, request.body.len(), connection) {
        Ok(Event::Done { result }) => {
            let findings = result.as_array().into_iter().flatten();
            Reply::json(&json!(findings.map(point).collect::<Vec<_>>()))
        }
        Ok(Event::Failed { message, .. }) => complaint(&message),
        Ok(_) => complaint("no result"),
        Err(reply) => reply,
    }
}

/// A finding at a point.
fn point(finding: &Value) -> Value {
    let mut message = finding["message"].as_str().unwrap_or_default().to_owned();
    if let Some(help) = finding["help"].as_str() {
        message.push_str(&format!(" ({help})"));
    }
    json!({
        "location": finding["location"], "message": message, "severity": finding["severity"],
        "position": {"line": finding["from"][0], "character": finding["from"][1]},
    })
}

/// `/validate`: whether a plan holds; for editors, and as the old solver answered.
pub(crate) fn validate(
    shared: &Arc<Shared>,
    connection: &mut Connection,
    request: &Request,
) -> Reply {
    let broken = |message: &str| {
        Reply::json(&json!({
            "validation": {"problems": [], "error": message},
            "status": "error", "result": {"val_status": "err", "val_stdout": message},
        }))
    };
    let fields: Fields = match connection.json(request) {
        Ok(fields) => fields,
        Err(message) => return broken(&message),
    };
    let field = |name| text(&fields, name).unwrap_or_default().to_owned();
    let plan = field("plan");
    let job = Job::Replay {
        domain: field("domain"),
        problem: field("problem"),
        plan: plan.clone(),
    };
    let result = match run(shared, Lane::Quick, &job, request.body.len(), connection) {
        Ok(Event::Done { result }) => result,
        Ok(Event::Failed { message, .. }) => return broken(&message),
        Ok(_) => return broken("no result"),
        Err(reply) => return reply,
    };
    if result["valid"] == true {
        return Reply::json(&json!({
            "validation": {"problems": []}, "status": "ok",
            "result": {"val_status": "valid", "val_stdout": "Plan valid", "cost": result["cost"]},
        }));
    }
    let message = result["error"].as_str().unwrap_or("the plan is invalid");
    let line = match (result["at_line"].as_u64(), result["at_step"].as_u64()) {
        (Some(line), _) => line as usize,
        (None, step) => line_of_step(&plan, step.map(|step| step as usize)),
    };
    Reply::json(&json!({
        "validation": {"problems": [{
            "location": "PLAN", "message": message, "severity": "error",
            "position": {"line": line, "character": 1},
        }]},
        "status": "ok", "result": {"val_status": "err", "val_stdout": message},
    }))
}

/// The line of a step of a plan, all from 1; the last one for a goal that fails.
fn line_of_step(plan: &str, step: Option<usize>) -> usize {
    let steps = plan.lines().enumerate().filter(|(_, line)| {
        let content = line.split(';').next().unwrap_or_default();
        !content.trim().is_empty()
    });
    let mut lines = steps.map(|(index, _)| index + 1);
    match step {
        Some(step) => lines.nth(step.saturating_sub(1)),
        None => lines.last(),
    }
    .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_lines() {
        let plan = "; a comment\n(a)\n\n(b) ; another\n";
        assert_eq!(line_of_step(plan, Some(1)), 2);
        assert_eq!(line_of_step(plan, Some(2)), 4);
        assert_eq!(line_of_step(plan, None), 4);
        assert_eq!(line_of_step("", None), 1);
    }
}
