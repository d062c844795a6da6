//! `/api/gateway/run-viewer-extract`: runs that are sent as an archive, to be looked at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Json;
use axum::extract::State;
use loopgate_api::error::{ErrorBody, INVALID_FORM_DATA};
use loopgate_files::{FormError, RunDir, RunError, UnpackError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{FormBody, JsonBody, QueryMembers};
use crate::lenient;
use crate::response::path_text;
use crate::route::BodyLimit;
use crate::route::Endpoint;

/// Where a run was unpacked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"runDir": "/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11"}))]
#[schema(as = Extracted)]
pub(crate) struct ExtractResponse {
    run_dir: String,
}

/// What a run holds.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"files": ["plan.json", "logs/loop.log"]}))]
pub(crate) struct RunFiles {
    /// Relative paths, in order.
    files: Vec<String>,
}

/// That it was removed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true}))]
#[schema(as = RunRemoved)]
pub(crate) struct RemoveRunResponse {
    success: bool,
}

/// A run to unpack.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; it is read part by part")]
#[schema(example = json!({"file": "(the bytes of run.zip)"}))]
struct RunArchive {
    /// A zip file of at most 200 MiB. The name of the field does not matter.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// A run to remove.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"runDir": "/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11"}))]
struct RemoveRun {
    /// As it was answered.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::any")]
    run_dir: Option<String>,
}

/// Unpack a run
///
/// It stays until it is removed, at most a week.
#[utoipa::path(post, path = "/api/gateway/run-viewer-extract", operation_id = "extract_run", tag = "files",
    request_body(content = RunArchive, content_type = "multipart/form-data"),
    responses(
        (status = 200, body = ExtractResponse, description = "Unpacked"),
        (status = 400, body = ErrorBody, description = "No form, no archive, or one that is not taken", example = json!(ErrorBody::new(400, "Invalid zip file"))),
        (status = 500, body = ErrorBody, description = "It cannot be unpacked", example = json!(ErrorBody::new(500, "Failed to unpack the zip file"))),
    ))]
async fn extract(State(app): State<App>, FormBody(form): FormBody) -> JsonResult<ExtractResponse> {
    let archive = form.map_err(not_taken)?.archive(&app.spool_dir).await.map_err(not_taken)?;
    // Dropped with this request, also when its caller leaves.
    let cancel = CancelOnDrop::default();
    let flag = cancel.0.clone();
    let run = app
        .unpackings
        .spawn_blocking(move || RunDir::unpack(&archive, &flag))
        .await?
        .map_err(not_unpacked)?;
    Ok(Json(ExtractResponse { run_dir: path_text(run.path()) }))
}

/// List the files of a run
#[utoipa::path(get, path = "/api/gateway/run-viewer-extract", operation_id = "run_files", tag = "files",
    params(("runDir" = String, Query, description = "As it was answered", example = "/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11")),
    responses(
        (status = 200, body = RunFiles, description = "Its files, at most 20000"),
        (status = 400, body = ErrorBody, description = "No directory of a run", example = json!(ErrorBody::new(400, "Invalid runDir"))),
        (status = 404, body = ErrorBody, description = "It was removed", example = json!(ErrorBody::new(404, "Run directory not found"))),
        (status = 500, body = ErrorBody, description = "It cannot be read", example = json!(ErrorBody::new(500, "Failed to list run files: permission denied"))),
    ))]
async fn list(query: QueryMembers) -> JsonResult<RunFiles> {
    let run_dir = query.get("runDir").unwrap_or_default().to_owned();
    let listed = spawn_blocking(move || {
        let run = RunDir::parse(&run_dir).ok_or_else(invalid_run_dir)?;
        run.files().map_err(|error| failed("Failed to list run files", &error))
    });
    let files = listed.await??;
    let files = files.ok_or_else(|| HttpError::not_found("Run directory not found"))?;
    Ok(Json(RunFiles { files }))
}

/// Remove a run
#[utoipa::path(delete, path = "/api/gateway/run-viewer-extract", operation_id = "remove_run", tag = "files",
    request_body = RemoveRun,
    responses(
        (status = 200, body = RemoveRunResponse, description = "It is gone"),
        (status = 400, body = ErrorBody, description = "No directory of a run", example = json!(ErrorBody::new(400, "Invalid runDir"))),
        (status = 500, body = ErrorBody, description = "It cannot be removed", example = json!(ErrorBody::new(500, "Failed to remove run: permission denied"))),
    ))]
async fn remove(JsonBody(body): JsonBody<RemoveRun>) -> JsonResult<RemoveRunResponse> {
    let run_dir = body.run_dir.unwrap_or_default();
    let removed = spawn_blocking(move || {
        let run = RunDir::parse(&run_dir).ok_or_else(invalid_run_dir)?;
        run.remove().map_err(|error| failed("Failed to remove run", &error))
    });
    removed.await??;
    Ok(Json(RemoveRunResponse { success: true }))
}

/// Sets its flag when it is dropped.
#[derive(Default)]
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn not_taken(error: FormError) -> HttpError {
    match error {
        FormError::Disk(error) => failed("Failed to store the zip file", &error),
        error @ (FormError::NoImage | FormError::NoArchive) => HttpError::missing_field(error.to_string()),
        error @ FormError::Broken => HttpError::bad_request(error.to_string()).with_code(INVALID_FORM_DATA),
        refused => HttpError::bad_request(refused.to_string()),
    }
}

fn invalid_run_dir() -> HttpError {
    HttpError::bad_request("Invalid runDir")
}

fn not_unpacked(error: RunError) -> HttpError {
    if let RunError::Unpack(UnpackError::Disk(cause)) = &error {
        tracing::warn!(%cause, "an archive could not be unpacked");
    }
    match error {
        error @ RunError::Unpack(UnpackError::Disk(_) | UnpackError::TooLong) => {
            HttpError::failed(error.to_string())
        }
        error @ RunError::NoArchive => HttpError::missing_field(error.to_string()),
        error @ (RunError::Empty | RunError::Unpack(_)) => HttpError::bad_request(error.to_string()),
    }
}

fn failed(what: &str, error: &std::io::Error) -> HttpError {
    let text = format!("{what}: {}", loopgate_files::plain_text(error));
    HttpError::failed(text)
}

pub(crate) fn extract_endpoint() -> Endpoint {
    Endpoint::new(routes!(extract), &[])
        .with_limit(BodyLimit::RUN_VIEWER)
        .with_part("file", "application/zip")
}

pub(crate) fn list_endpoint() -> Endpoint {
    Endpoint::new(routes!(list), &[Source::Path(At::Query("runDir"))])
}

pub(crate) fn remove_endpoint() -> Endpoint {
    Endpoint::new(routes!(remove), &[Source::Path(At::Body("runDir"))])
}
