//! `/api/gateway/settings/binary-paths`: configured paths of the external programs that are not looked up on
//! `PATH`.

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_home::{Program, ProgramPath};
use loopgate_tools::programs::is_executable;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::route::Endpoint;

/// Configured program paths by `assistant`, `codeHost`, `reviewer`, `python3` and `git`. Symbolic links are
/// resolved.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"binaryPaths": {"git": "/usr/bin/git"}}))]
pub(crate) struct BinaryPaths {
    binary_paths: BTreeMap<String, String>,
}

/// Program paths to set. `null` clears a path; an absent member is unchanged.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; it is read member by member")]
#[schema(example = json!({"git": "/usr/bin/git", "reviewer": null}))]
struct SetBinaryPaths {
    assistant: Option<String>,
    code_host: Option<String>,
    reviewer: Option<String>,
    python3: Option<String>,
    git: Option<String>,
}

/// List the configured program paths
#[utoipa::path(get, path = "/api/gateway/settings/binary-paths", operation_id = "binary_paths", tag = "gateway",
    responses((status = 200, body = BinaryPaths, description = "The configured paths")))]
async fn list(State(app): State<App>) -> Json<BinaryPaths> {
    Json(present(&app))
}

/// Set or clear program paths
///
/// The first invalid member is reported and nothing is stored. A path inside the sandbox, or a path that passes
/// through a symbolic link inside it, is rejected. Callers without the gateway token of this machine need the
/// owner's approval for every request; an earlier approval is not reused.
#[utoipa::path(patch, path = "/api/gateway/settings/binary-paths", operation_id = "set_binary_paths", tag = "gateway",
    request_body = SetBinaryPaths,
    responses(
        (status = 200, body = BinaryPaths, description = "All paths after the change"),
        (status = 400, body = ErrorBody, description = "Not a JSON object, an unknown program, or an unusable path", example = json!(ErrorBody::new(400, "unknown key: node"))),
        (status = 500, body = ErrorBody, description = "The settings file cannot be written", example = json!(ErrorBody::new(500, "Failed to update binary paths: permission denied"))),
    ))]
async fn update(State(app): State<App>, body: Bytes) -> JsonResult<BinaryPaths> {
    spawn_blocking(move || {
        let changes = changes(&app, &body)?;
        // One update for all members: either every change is stored or none.
        let updated = app.settings.update(|settings| {
            for (program, path) in changes {
                match path {
                    Some(path) => settings.binary_paths.insert(program, path),
                    None => settings.binary_paths.remove(&program),
                };
            }
        });
        updated.map_err(|error| HttpError::operation("Failed to update binary paths", &error))?;
        // Resolved paths, versions and MCP registrations were determined with the previous programs.
        app.programs.clear_cache();
        app.mcp.clear();
        Ok(Json(present(&app)))
    })
    .await?
}

pub(crate) fn list_endpoint() -> Endpoint {
    Endpoint::new(routes!(list), &[])
}

pub(crate) fn update_endpoint() -> Endpoint {
    Endpoint::new(routes!(update), &[]).with_approval_each_time()
}

fn present(app: &App) -> BinaryPaths {
    let settings = app.settings.get();
    let text = |(program, path): (&Program, &ProgramPath)| {
        // The resolved target is shown, because it is what will be executed.
        (program.key().to_owned(), path.target().to_string_lossy().into_owned())
    };
    BinaryPaths { binary_paths: settings.binary_paths.iter().map(text).collect() }
}

fn changes(app: &App, body: &[u8]) -> Result<Vec<(Program, Option<ProgramPath>)>, HttpError> {
    // An empty body is a no-op, not a syntax error.
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Vec::new());
    }
    let document: Value = serde_json::from_slice(body)
        .map_err(|_| HttpError::bad_request("invalid JSON body").with_code("invalid_json_body"))?;
    let Value::Object(members) = document else {
        return Err(HttpError::bad_request("body must be a JSON object"));
    };
    members.iter().map(|(key, value)| change(app, key, value)).collect()
}

fn change(app: &App, key: &str, value: &Value) -> Result<(Program, Option<ProgramPath>), HttpError> {
    let program = Program::ALL.into_iter().find(|program| program.key() == key);
    let program = program.ok_or_else(|| HttpError::bad_request(format!("unknown key: {key}")))?;
    let text = match value {
        Value::Null => return Ok((program, None)),
        Value::String(text) => text,
        _ => return Err(HttpError::bad_request(format!("value for {key} must be a string or null"))),
    };
    if text.trim().is_empty() {
        return Err(HttpError::bad_request(format!("value for {key} must not be empty")));
    }
    let invalid = |reason: &str| HttpError::bad_request(format!("Binary path for {key} {reason}: {text}"));
    let path = loopgate_home::expand_home(text.trim());
    if !path.is_absolute() {
        return Err(invalid("must be an absolute path"));
    }
    // The target is stored as well, so that replacing a symbolic link later cannot redirect the program.
    let target = path.canonicalize().map_err(|_| invalid("does not exist"))?;
    if !is_executable(&target) {
        return Err(invalid("is not executable"));
    }
    let path = ProgramPath::new(path, target);
    // Repositories and loops can write to the sandbox. A program there could be replaced by any of them.
    if app.programs.is_in_sandbox(&path) {
        return Err(invalid("is inside the sandbox, or reached through a link inside it"));
    }
    Ok((program, Some(path)))
}
