//! `/api/gateway/run-viewer-extract`: runs that are sent as an archive, to be looked at.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::OperationId;
use loopgate_files::{RunDir, RunError, UnpackError};
use multer::{Field, Multipart};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::answer::{Answer, Failure};
use crate::app::App;
use crate::extract::{FormBody, JsonMembers, QueryMembers};
use crate::pipeline::body::BodyLimit;
use crate::router::Route;
use crate::routes::files::invalid_form;
use crate::routes::on_disk;
use crate::spool::Spooling;

/// Bytes of an archive.
const MOST_BYTES: u64 = 200 * 1024 * 1024;
/// Types under which archives are sent.
const ARCHIVE_TYPES: [&str; 2] = ["application/zip", "application/x-zip-compressed"];
/// A type that says nothing, so that the name decides.
const BYTES: &str = "application/octet-stream";
const ENDING: &str = ".zip";

/// Where a run was unpacked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Extracted {
    run_dir: String,
}

/// What a run holds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunFiles {
    /// Relative paths, in order.
    files: Vec<String>,
}

/// That it was removed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunRemoved {
    success: bool,
}

/// A run to unpack.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; it is read part by part")]
struct RunArchive {
    /// A zip file of at most 200 MiB. The name of the field does not matter.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// A run to remove.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; it is read member by member")]
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
        (status = 400, body = ErrorBody, description = "No form, no archive, or one that is not taken"),
        (status = 500, body = ErrorBody, description = "It cannot be unpacked"),
    ))]
async fn extract(State(app): State<App>, FormBody(form): FormBody) -> Answer<Extracted> {
    let archive = read_archive(&app, form.ok_or_else(invalid_form)?).await?;
    // Dropped with this request, also when its caller leaves.
    let given_up = GivenUp::default();
    let flag = given_up.0.clone();
    let run = on_disk(move || RunDir::unpack(&archive, &flag)).await?.map_err(not_unpacked)?;
    Ok(Json(Extracted { run_dir: run.path().to_string_lossy().into_owned() }))
}

/// List the files of a run
#[utoipa::path(get, path = "/api/gateway/run-viewer-extract", operation_id = "run_files", tag = "files",
    params(("runDir" = String, Query, description = "As it was answered")),
    responses(
        (status = 200, body = RunFiles, description = "Its files, at most 20000"),
        (status = 400, body = ErrorBody, description = "No directory of a run"),
        (status = 404, body = ErrorBody, description = "It was removed"),
        (status = 500, body = ErrorBody, description = "It cannot be read"),
    ))]
async fn list(query: QueryMembers) -> Answer<RunFiles> {
    let run_dir = query.get("runDir").unwrap_or_default().to_owned();
    let listed = on_disk(move || {
        let run = RunDir::parse(&run_dir).ok_or_else(invalid_run_dir)?;
        run.files().map_err(|error| failed("Failed to list run files", &error))
    });
    let files = listed.await??;
    let files = files.ok_or_else(|| Failure::new(StatusCode::NOT_FOUND, "Run directory not found"))?;
    Ok(Json(RunFiles { files }))
}

/// Remove a run
#[utoipa::path(delete, path = "/api/gateway/run-viewer-extract", operation_id = "remove_run", tag = "files",
    request_body = RemoveRun,
    responses(
        (status = 200, body = RunRemoved, description = "It is gone"),
        (status = 400, body = ErrorBody, description = "No directory of a run"),
        (status = 500, body = ErrorBody, description = "It cannot be removed"),
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

/// Sets its flag when it goes.
#[derive(Default)]
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The first part that is sent as an archive. The form is read to its end, because a broken one is
/// broken, whatever it begins with.
async fn read_archive(app: &App, mut form: Multipart<'static>) -> Result<File, Failure> {
    let mut archive = None;
    while let Some(part) = form.next_field().await.map_err(|_| invalid_form())? {
        if archive.is_none() && is_sent_as_archive(&part) {
            archive = Some(spooled(app, part).await?);
        }
    }
    archive.ok_or_else(|| Failure::bad_request("No zip file provided"))?
}

fn is_sent_as_archive(part: &Field<'_>) -> bool {
    let kind = part.content_type().map_or(BYTES, |kind| kind.essence_str());
    let named = || part.file_name().is_some_and(|name| name.to_lowercase().ends_with(ENDING));
    ARCHIVE_TYPES.contains(&kind) || (kind == BYTES && named())
}

/// Reads a part to its end. The inner error is about this part alone.
async fn spooled(app: &App, mut part: Field<'static>) -> Result<Result<File, Failure>, Failure> {
    let stored = |error: std::io::Error| failed("Failed to store the zip file", &error);
    let mut spooling = Spooling::begin(&app.spool_dir, None).await.map_err(stored)?;
    let mut size = 0;
    while let Some(bytes) = part.chunk().await.map_err(|_| invalid_form())? {
        size += bytes.len() as u64;
        if size <= MOST_BYTES {
            spooling.write(&bytes).await.map_err(stored)?;
        }
    }
    if size > MOST_BYTES {
        return Ok(Err(Failure::bad_request("Zip file too large (max 200MB)")));
    }
    Ok(Ok(spooling.finish().await.map_err(stored)?.file))
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
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, text)
}

pub(crate) fn extract_route() -> Route {
    Route::new(routes!(extract), OperationId::Filesystem).with_limit(BodyLimit::RUN_VIEWER)
}

pub(crate) fn list_route() -> Route {
    Route::new(routes!(list), OperationId::Filesystem)
}

pub(crate) fn remove_route() -> Route {
    Route::new(routes!(remove), OperationId::Filesystem)
}
