//! `/api/gateway/run-viewer-extract`: runs that are uploaded as a zip archive for inspection.

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

/// Directory into which a run was extracted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"runDir": "/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11"}))]
#[schema(as = Extracted)]
pub(crate) struct ExtractResponse {
    run_dir: String,
}

/// Files of an extracted run.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"files": ["plan.json", "logs/loop.log"]}))]
pub(crate) struct RunFiles {
    /// Relative paths in sorted order.
    files: Vec<String>,
}

/// Acknowledgement of a removal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true}))]
#[schema(as = RunRemoved)]
pub(crate) struct RemoveRunResponse {
    success: bool,
}

/// A run to extract.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; it is read part by part")]
#[schema(example = json!({"file": "(the bytes of run.zip)"}))]
struct RunArchive {
    /// Zip archive of at most 200 MiB. The field may have any name.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// A run to remove.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"runDir": "/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11"}))]
struct RemoveRun {
    /// `runDir` from the response of the upload.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::any")]
    run_dir: Option<String>,
}

/// Extract a run
///
/// The run is deleted after seven days unless it is removed earlier.
#[utoipa::path(post, path = "/api/gateway/run-viewer-extract", operation_id = "extract_run", tag = "files",
    request_body(content = RunArchive, content_type = "multipart/form-data"),
    responses(
        (status = 200, body = ExtractResponse, description = "The run was extracted"),
        (status = 400, body = ErrorBody, description = "Not a form, no archive in it, or an invalid archive", example = json!(ErrorBody::new(400, "Invalid zip file"))),
        (status = 500, body = ErrorBody, description = "The archive cannot be extracted", example = json!(ErrorBody::new(500, "Failed to unpack the zip file"))),
    ))]
async fn extract(State(app): State<App>, FormBody(form): FormBody) -> JsonResult<ExtractResponse> {
    let archive = form.map_err(form_error)?.archive(&app.spool_dir).await.map_err(form_error)?;
    // Sets the flag when the request future is dropped, so that extraction stops when the client disconnects.
    // The blocking task itself cannot be aborted.
    let cancel = CancelOnDrop::default();
    let flag = cancel.0.clone();
    let run = app
        .unpackings
        .spawn_blocking(move || RunDir::unpack(&archive, &flag))
        .await?
        .map_err(extraction_error)?;
    Ok(Json(ExtractResponse { run_dir: path_text(run.path()) }))
}

/// List the files of a run
#[utoipa::path(get, path = "/api/gateway/run-viewer-extract", operation_id = "run_files", tag = "files",
    params(("runDir" = String, Query, description = "`runDir` from the response of the upload", example = "/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11")),
    responses(
        (status = 200, body = RunFiles, description = "The files of the run, at most 20000"),
        (status = 400, body = ErrorBody, description = "Not the directory of a run", example = json!(ErrorBody::new(400, "Invalid runDir"))),
        (status = 404, body = ErrorBody, description = "The run does not exist", example = json!(ErrorBody::new(404, "Run directory not found"))),
        (status = 500, body = ErrorBody, description = "The directory of the run cannot be read", example = json!(ErrorBody::new(500, "Failed to list run files: permission denied"))),
    ))]
async fn list(query: QueryMembers) -> JsonResult<RunFiles> {
    let run_dir = query.get("runDir").unwrap_or_default().to_owned();
    let listed = spawn_blocking(move || {
        // Only paths that `extract` can return are accepted, so that no other directory can be listed.
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
        (status = 200, body = RemoveRunResponse, description = "The run was removed, or did not exist"),
        (status = 400, body = ErrorBody, description = "Not the directory of a run", example = json!(ErrorBody::new(400, "Invalid runDir"))),
        (status = 500, body = ErrorBody, description = "The directory of the run cannot be removed", example = json!(ErrorBody::new(500, "Failed to remove run: permission denied"))),
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

/// Sets its flag when dropped.
#[derive(Default)]
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    // `Relaxed` is sufficient: the flag publishes no other data.
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn form_error(error: FormError) -> HttpError {
    match error {
        FormError::Disk(error) => failed("Failed to store the zip file", &error),
        error @ (FormError::NoImage | FormError::NoArchive) => HttpError::missing_field(error.to_string()),
        error @ FormError::Broken => HttpError::bad_request(error.to_string()).with_code(INVALID_FORM_DATA),
        other => HttpError::bad_request(other.to_string()),
    }
}

fn invalid_run_dir() -> HttpError {
    HttpError::bad_request("Invalid runDir")
}

fn extraction_error(error: RunError) -> HttpError {
    // Users get a fixed text without paths; the cause is in the log.
    if let RunError::Unpack(UnpackError::Disk(cause)) = &error {
        tracing::warn!(%cause, "failed to extract run archive");
    }
    match error {
        error @ RunError::Unpack(UnpackError::Disk(_) | UnpackError::TooLong) => {
            HttpError::failed(error.to_string())
        }
        error @ RunError::NoArchive => HttpError::missing_field(error.to_string()),
        error @ (RunError::Empty | RunError::Unpack(_)) => HttpError::bad_request(error.to_string()),
    }
}

fn failed(context: &str, error: &std::io::Error) -> HttpError {
    let text = format!("{context}: {}", loopgate_files::plain_text(error));
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
