//! A language server: the messages of `homing check`, and the names of a file, for any editor that
//! speaks the Language Server Protocol over standard input and output.
//!
//! [`wire`] reads and writes messages, [`text`] turns positions of editors into offsets,
//! [`Documents`] knows what is open and answers.

mod documents;
mod text;
mod wire;

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

use documents::Documents;

/// "There is no such method", in JSON-RPC.
const NO_METHOD: i64 = -32601;

/// "Not yet", in the protocol: nothing is answered before `initialize`.
const NOT_INITIALIZED: i64 = -32002;

/// "Not any more": nothing is answered after `shutdown`.
const INVALID_REQUEST: i64 = -32600;

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    New,
    Ready,
    Over,
}

/// Serves one editor until it says `exit` or ends its side. Whether it had said `shutdown` before,
/// as it should.
///
/// # Errors
///
/// If messages cannot be read or written, or what comes is none.
pub fn language_server(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<bool> {
    let mut stage = Stage::New;
    let mut documents = Documents::default();
    while let Some(message) = wire::read(input)? {
        let method = message["method"].as_str().unwrap_or_default();
        let parameters = &message["params"];
        if method == "exit" {
            break;
        }
        let Some(id) = message.get("id").filter(|id| !id.is_null()) else {
            if stage == Stage::Ready {
                for (uri, diagnostics) in documents.notified(method, parameters) {
                    let parameters = json!({"uri": uri, "diagnostics": diagnostics});
                    let method = "textDocument/publishDiagnostics";
                    wire::write(output, &json!({"method": method, "params": parameters}))?;
                }
            }
            continue;
        };
        // An answer to a question that was never asked.
        if method.is_empty() {
            continue;
        }
        let result = match (stage, method) {
            (Stage::New, "initialize") => {
                stage = Stage::Ready;
                Ok(capabilities())
            }
            (Stage::New, _) => Err((NOT_INITIALIZED, "`initialize` comes first")),
            (Stage::Over, _) => Err((INVALID_REQUEST, "this server was shut down")),
            (Stage::Ready, "shutdown") => {
                stage = Stage::Over;
                Ok(Value::Null)
            }
            (Stage::Ready, _) => documents
                .asked(method, parameters)
                .ok_or((NO_METHOD, "this server does not know the method")),
        };
        let mut reply = json!({"id": id});
        match result {
            Ok(result) => reply["result"] = result,
            Err((code, message)) => reply["error"] = json!({"code": code, "message": message}),
        }
        wire::write(output, &reply)?;
    }
    Ok(stage == Stage::Over)
}

fn capabilities() -> Value {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            // Opened and closed documents are told; a change is the whole text.
            "textDocumentSync": {"openClose": true, "change": 1},
            "hoverProvider": true,
            "definitionProvider": true,
            "completionProvider": {"triggerCharacters": ["(", ":", "?"]},
        },
        "serverInfo": {"name": "homing", "version": homing::resources::VERSION},
    })
}
