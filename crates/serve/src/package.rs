//! Planning as a service: packages with services, and results that are asked for later.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::choices::{manifest_arguments, solve_request, text};
use crate::http::{Connection, Reply, Request};
use crate::job::{Event, Job};
use crate::results::Found;
use crate::server::{Lane, Shared};

/// All packages, by name.
pub(crate) fn list(shared: &Shared) -> Value {
    json!({"homing": manifest(shared)})
}

/// What the package offers.
pub(crate) fn manifest(shared: &Shared) -> Value {
    let arguments = manifest_arguments(&shared.models);
    // planutils fills in the call, and sends what stands in it.
    let names = arguments.as_array().into_iter().flatten();
    let names = names.filter_map(|one| one["name"].as_str());
    let call: String = names.map(|name| format!(" {{{name}}}")).collect();
    json!({
        "name": "homing", "package_name": "homing", "runnable": true, "install-size": "0",
        "description": "A planner that learns: classical planning with PDDL", "dependencies": [],
        "endpoint": {"services": {
            "solve": {
                "args": arguments,
                "call": format!("homing solve{call}"),
                "return": {"type": "generic", "files": "plan"},
            },
            "validate": {
                "args": [
                    {"name": "domain", "type": "file", "description": "domain file"},
                    {"name": "problem", "type": "file", "description": "problem file"},
                    {"name": "plan", "type": "file", "description": "plan file"},
                ],
                "call": "homing validate {domain} {problem} {plan}",
                "return": {"type": "generic", "files": ""},
            },
        }},
    })
}

/// A page for people.
pub(crate) fn page(shared: &Shared) -> Reply {
    let text = serde_json::to_string_pretty(&manifest(shared)).unwrap_or_default();
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>homing</title>\
         <h1>homing</h1><p>A planner that learns. Its <a href=\"/\">page</a> is here.</p>\
         <pre>{text}</pre></html>"
    );
    Reply::new(200, "text/html; charset=utf-8", html)
}

fn error(message: &str) -> Reply {
    Reply::json(&json!({"Error": message}))
}

/// Begins the work of a service, and says where the result will be.
pub(crate) fn begin(
    shared: &Arc<Shared>,
    service: &str,
    connection: &mut Connection,
    request: &Request,
) -> Reply {
    if !["solve", "validate"].contains(&service) {
        return Reply::error(404, "this package has the services solve and validate");
    }
    let fields: Map<String, Value> = match connection.json(request) {
        Ok(fields) => fields,
        Err(message) => return error(&message),
    };
    // How clients find out whether the service is up: they expect to be refused.
    if text(&fields, "domain").is_none() && text(&fields, "problem").is_none() {
        return Reply::error(400, "domain and problem are missing");
    }
    let (job, lane) = match job(shared, service, &fields) {
        Ok(job) => job,
        Err(message) => return error(&message),
    };
    let Ok(turn) = shared.join(lane, request.body.len()) else {
        return Reply::error(429, "too many requests wait already; try again later");
    };
    let id = shared.results.promise();
    let theirs = (Arc::clone(shared), id.clone());
    let thread = std::thread::Builder::new()
        .name("job".to_owned())
        .stack_size(512 << 10)
        .spawn(move || {
            let (shared, id) = theirs;
            let event = shared.run(turn, &job, &mut || shared.results.wanted(&id));
            let stopped = || crate::child::failed("nobody asked for the result".to_owned());
            shared.results.keep(&id, event.unwrap_or_else(stopped));
        });
    match thread {
        Ok(_) => Reply::json(&json!({"result": format!("/check/{id}?external=True")})),
        Err(_) => Reply::error(429, "too many requests wait already; try again later"),
    }
}

fn job(shared: &Shared, service: &str, fields: &Map<String, Value>) -> Result<(Job, Lane), String> {
    if service == "validate" {
        let field = |name| text(fields, name).unwrap_or_default().to_owned();
        let job = Job::Replay {
            domain: field("domain"),
            problem: field("problem"),
            plan: field("plan"),
        };
        return Ok((job, Lane::Quick));
    }
    let options = &shared.options;
    let request = solve_request(
        fields,
        &shared.models,
        options.time_limit,
        options.memory_limit,
    )?;
    let job = Job::Solve {
        request: Box::new(request),
        trace: false,
        debugger: None,
    };
    Ok((job, Lane::Long))
}

/// What became of work that was begun.
pub(crate) fn check(
    shared: &Shared,
    id: &str,
    connection: &mut Connection,
    request: &Request,
) -> Reply {
    let adaptor = if request.body.is_empty() {
        None
    } else {
        let fields: Result<Map<String, Value>, String> = connection.json(request);
        match fields {
            Ok(fields) => text(&fields, "adaptor").map(str::to_owned),
            Err(message) => return Reply::error(400, &message),
        }
    };
    if !matches!(adaptor.as_deref(), None | Some("planning_editor_adaptor")) {
        return Reply::error(400, "there is no such adaptor");
    }
    match shared.results.ask(id) {
        Some(Found::Pending) => Reply::json(&json!({"status": "PENDING"})),
        Some(Found::Done(event)) if adaptor.is_some() => Reply::json(&for_editor(&event)),
        Some(Found::Done(event)) => Reply::json(&generic(&event)),
        None => Reply::json(&json!({
            "status": "error",
            "result": {"stdout": "", "stderr": "there is no such result: results are kept for ten minutes",
                       "call": "", "output": {}, "output_type": "generic"},
        })),
    }
}

fn generic(event: &Event) -> Value {
    let (stdout, stderr, output) = match event {
        Event::Done { result } => {
            let plan = result["plan_text"].as_str();
            let output = plan.map_or_else(|| json!({}), |plan| json!({"plan": plan}));
            (said(result), String::new(), output)
        }
        Event::Failed { message, .. } => (String::new(), message.clone(), json!({})),
        _ => (String::new(), String::new(), json!({})),
    };
    json!({
        "status": "ok",
        "result": {
            "stdout": stdout, "stderr": stderr, "call": "homing solve {domain} {problem}",
            "output": output, "output_type": "generic",
        },
    })
}

/// What the command would have printed.
fn said(result: &Value) -> String {
    match result["summary"].as_str() {
        Some(summary) => format!(
            "{}{summary}",
            result["plan_text"].as_str().unwrap_or_default()
        ),
        None if result["valid"] == true => format!("Plan valid\nCost: {}\n", result["cost"]),
        None => format!(
            "Plan invalid: {}\n",
            result["error"].as_str().unwrap_or_default()
        ),
    }
}

fn for_editor(event: &Event) -> Value {
    let plan = match event {
        Event::Done { result } if result["plan"].is_array() => solved(result),
        Event::Done { result } => refused(&said(result)),
        Event::Failed { message, .. } => refused(message),
        _ => refused("no result"),
    };
    json!({"status": "ok", "plans": [plan]})
}

/// A plan as the old solver gave it.
pub(crate) fn solved(result: &Value) -> Value {
    let names = result["plan"].as_array().into_iter().flatten();
    let texts = result["actions"].as_array().into_iter().flatten();
    let plan: Vec<Value> = names
        .zip(texts)
        .map(|(name, action)| json!({"name": name, "action": action}))
        .collect();
    json!({
        "status": "ok",
        "result": {
            "output": said(result), "parse_status": "ok", "type": "full", "length": plan.len(),
            "cost": result["plan_cost"], "plan": plan, "planPath": "", "logPath": "",
        },
    })
}

/// That there is none, as the old solver said it.
pub(crate) fn refused(message: &str) -> Value {
    json!({
        "status": "error",
        "result": {"output": message, "error": message, "parse_status": "err"},
    })
}
