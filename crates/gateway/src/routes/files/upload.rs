//! `POST /api/gateway/orchestrator/upload/{ticketId}`: images that a person adds to a ticket.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::{ErrorBody, INVALID_FORM_DATA};
use loopgate_api::ids::TicketId;
use loopgate_files::{Attachments, FormError, SavedImage};
use loopgate_home::SandboxedPath;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{ATTACHMENTS, FormBody, QueryMembers, TicketPath};
use crate::response::{encode_component, path_text};
use crate::route::BodyLimit;
use crate::route::Endpoint;
use crate::routes::directory::ticket_worktree;

/// The images that were saved, in the order in which they came.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"files": [{"originalName": "screen.png", "savedName": "image-1893574800000-0a1b2c.png", "path": "/home/sam/src/worktrees/shop-AB-1/.loopgate/attachments/image-1893574800000-0a1b2c.png", "apiUrl": "/api/gateway/orchestrator/attachments/AB-1/image-1893574800000-0a1b2c.png?repo=~%2Fsrc%2Fshop", "size": 67}]}))]
#[schema(as = Uploaded)]
pub(crate) struct UploadResponse {
    files: Vec<UploadedFile>,
}

/// One of them.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UploadedFile {
    /// As the sender called it.
    original_name: String,
    /// As it is called on disk.
    saved_name: String,
    /// Absolute.
    path: String,
    /// Path and query of a GET that answers it.
    api_url: String,
    /// Bytes.
    size: u64,
}

/// Images to add.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; it is read part by part")]
#[schema(example = json!({"files": ["(the bytes of screen.png)"]}))]
struct Images {
    /// PNG, JPEG, GIF or WebP, at most 10 MiB each. The name of the field does not matter.
    #[schema(value_type = Vec<String>, format = Binary)]
    files: Vec<Vec<u8>>,
}

/// Add images to a ticket
///
/// All of them are saved, or none.
#[utoipa::path(post, path = "/api/gateway/orchestrator/upload/{ticketId}", operation_id = "upload_images", tag = "files",
    params(
        ("ticketId" = String, Path, description = "Ticket", example = "AB-1"),
        ("repo" = String, Query, description = "Path of the repository", example = "~/src/shop"),
    ),
    request_body(content = Images, content_type = "multipart/form-data"),
    responses(
        (status = 200, body = UploadResponse, description = "Saved"),
        (status = 400, body = ErrorBody, description = "No repository, no form, no image, or one that is not taken", example = json!(ErrorBody::missing_field("No image files provided"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The ticket has no worktree", example = json!(ErrorBody::new(404, "Work directory not found"))),
        (status = 500, body = ErrorBody, description = "They cannot be saved", example = json!(ErrorBody::new(500, "Failed to save file"))),
    ))]
async fn upload(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
    FormBody(form): FormBody,
) -> JsonResult<UploadResponse> {
    let repo = query.required("repo", "repo parameter is required")?.to_owned();
    let place = {
        let (app, ticket, repo) = (app.clone(), ticket.clone(), repo.clone());
        spawn_blocking(move || place_of(&app, &repo, &ticket)).await??
    };
    // The whole form is on the disk by now: no permit is held for a slow sender.
    let permit = app.forms.acquire().await?;
    let images = form.map_err(not_taken)?.images(&app.spool_dir).await.map_err(not_taken)?;
    let (names, files): (Vec<_>, Vec<_>) =
        images.into_iter().map(|image| (image.original_name, (image.kind, image.file))).unzip();
    let save = move || {
        let _permit = permit;
        place.save(files)
    };
    let saved = spawn_blocking(save).await?.map_err(|error| not_saved(&error))?;
    let described = |(original_name, image): (String, SavedImage)| UploadedFile {
        original_name,
        api_url: format!(
            "{ATTACHMENTS}{}/{}?repo={}",
            encode_component(ticket.as_str()),
            image.name,
            encode_component(&repo)
        ),
        path: path_text(&image.path),
        saved_name: image.name,
        size: image.size,
    };
    Ok(Json(UploadResponse { files: names.into_iter().zip(saved).map(described).collect() }))
}

/// Where the images go. What is outside the sandbox is refused before anything is said about what
/// is there.
fn place_of(app: &App, repo: &str, ticket: &TicketId) -> Result<Attachments, HttpError> {
    let repository = app.sandbox.check(repo)?;
    let worktree: SandboxedPath = ticket_worktree(app, &repository, ticket)?
        .ok_or_else(|| HttpError::not_found("Work directory not found"))?;
    Ok(Attachments::of(&app.sandbox, &worktree)?)
}

fn not_taken(error: FormError) -> HttpError {
    match error {
        FormError::Disk(error) => not_saved(&error),
        error @ (FormError::NoImage | FormError::NoArchive) => HttpError::missing_field(error.to_string()),
        error @ FormError::Broken => HttpError::bad_request(error.to_string()).with_code(INVALID_FORM_DATA),
        refused => HttpError::bad_request(refused.to_string()),
    }
}

fn not_saved(error: &std::io::Error) -> HttpError {
    tracing::warn!(%error, "an uploaded image could not be saved");
    HttpError::failed("Failed to save file")
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(upload),
        &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))],
    )
    .with_limit(BodyLimit::UPLOAD)
    .with_part("files", "image/png, image/jpeg, image/gif, image/webp")
}
