//! `/api/gateway/run-viewer-extract`: runs that are sent as an archive, to be looked at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::OperationId;
use loopgate_files::{FormError, RunDir, RunError, UnpackError};
use serde::Serialize;
use tokio::time::Instant;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::answer::{Answer, Failure, shown};
use crate::app::App;
use crate::approval::{At, Source};
use crate::extract::{FormBody, JsonMembers, QueryMembers};
use crate::pipeline::body::BodyLimit;
use crate::router::Route;
use crate::routes::{in_turn, on_disk};

/// Time after the start when old runs are removed first, and between two times.
const FIRST_SWEEP: Duration = Duration::from_secs(2);
const SWEEP_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// Where a run was unpacked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"runDir": "/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11"}))]
pub(crate) struct Extracted {
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
pub(crate) struct RunRemoved {
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
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; it is read member by member")]
#[schema(example = json!({"runDir": "/tmp/run-viewer-0b8f6a3e-5f0c-4c1e-9a57-2f7f0f5f6c11"}))]
struct RemoveRun {
    /// As it was answered.
    run_dir: String,
}

/// Unpack a run
///
/// It stays until it is removed, at most a week.
#[utoipa::path(post, path = "/api/gateway/run-viewer-extract", operation_id = "extract_run", tag = "files",
    request_body(content = RunArchive, content_type = "multipart/form-data"),
    responses(
        (status = 200, body = Extracted, description = "Unpacked"),
        (status = 400, body = ErrorBody, description = "No form, no archive, or one that is not taken", example = json!(ErrorBody::new(400, "Invalid zip file"))),
        (status = 500, body = ErrorBody, description = "It cannot be unpacked", example = json!(ErrorBody::new(500, "Failed to unpack the zip file"))),
    ))]
async fn extract(State(app): State<App>, FormBody(form): FormBody) -> Answer<Extracted> {
    let archive = form.map_err(not_taken)?.archive(&app.spool_dir).await.map_err(not_taken)?;
    // Dropped with this request, also when its caller leaves.
    let given_up = GivenUp::default();
    let flag = given_up.0.clone();
    let run =
        in_turn(&app.unpackings, move || RunDir::unpack(&archive, &flag)).await?.map_err(not_unpacked)?;
    Ok(Json(Extracted { run_dir: shown(run.path()) }))
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
async fn list(query: QueryMembers) -> Answer<RunFiles> {
    let run_dir = query.get("runDir").unwrap_or_default().to_owned();
    let listed = on_disk(move || {
        let run = RunDir::parse(&run_dir).ok_or_else(invalid_run_dir)?;
        run.files().map_err(|error| failed("Failed to list run files", &error))
    });
    let files = listed.await??;
    let files = files.ok_or_else(|| Failure::not_found("Run directory not found"))?;
    Ok(Json(RunFiles { files }))
}

/// Remove a run
#[utoipa::path(delete, path = "/api/gateway/run-viewer-extract", operation_id = "remove_run", tag = "files",
    request_body = RemoveRun,
    responses(
        (status = 200, body = RunRemoved, description = "It is gone"),
        (status = 400, body = ErrorBody, description = "No directory of a run", example = json!(ErrorBody::new(400, "Invalid runDir"))),
        (status = 500, body = ErrorBody, description = "It cannot be removed", example = json!(ErrorBody::new(500, "Failed to remove run: permission denied"))),
    ))]
async fn remove(body: JsonMembers) -> Answer<RunRemoved> {
    let run_dir = body.text("runDir").unwrap_or_default().to_owned();
    let removed = on_disk(move || {
        let run = RunDir::parse(&run_dir).ok_or_else(invalid_run_dir)?;
        run.remove().map_err(|error| failed("Failed to remove run", &error))
    });
    removed.await??;
    Ok(Json(RunRemoved { success: true }))
}

/// Removes old runs: a little after the start, which has other things to do, and then every day.
pub(crate) async fn keep_swept() {
    let mut days = tokio::time::interval_at(Instant::now() + FIRST_SWEEP, SWEEP_EVERY);
    loop {
        days.tick().await;
        if on_disk(RunDir::sweep).await.is_err() {
            return;
        }
    }
}

/// Sets its flag when it goes.
#[derive(Default)]
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn not_taken(error: FormError) -> Failure {
    match error {
        FormError::Disk(error) => failed("Failed to store the zip file", &error),
        refused => Failure::bad_request(refused.to_string()),
    }
}

fn invalid_run_dir() -> Failure {
    Failure::bad_request("Invalid runDir")
}

fn not_unpacked(error: RunError) -> Failure {
    if let RunError::Unpack(UnpackError::Disk(cause)) = &error {
        tracing::warn!(%cause, "an archive could not be unpacked");
    }
    let status = match &error {
        RunError::Unpack(UnpackError::Disk(_) | UnpackError::TooLong) => StatusCode::INTERNAL_SERVER_ERROR,
        RunError::NoArchive | RunError::Empty | RunError::Unpack(_) => StatusCode::BAD_REQUEST,
    };
    Failure::new(status, error.to_string())
}

fn failed(what: &str, error: &std::io::Error) -> Failure {
    let text = format!("{what}: {}", loopgate_files::plain_text(error));
    Failure::failed(text)
}

pub(crate) fn extract_route() -> Route {
    Route::new(routes!(extract), OperationId::Filesystem, &[])
        .with_limit(BodyLimit::RUN_VIEWER)
        .with_part("file", "application/zip")
}

pub(crate) fn list_route() -> Route {
    Route::new(routes!(list), OperationId::Filesystem, &[Source::Path(At::Query("runDir"))])
}

pub(crate) fn remove_route() -> Route {
    Route::new(routes!(remove), OperationId::Filesystem, &[Source::Path(At::Body("runDir"))])
}
