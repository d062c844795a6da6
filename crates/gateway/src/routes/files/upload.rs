//! `POST /api/gateway/orchestrator/upload/{ticketId}`: image uploads of a ticket.

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

/// The saved images, in the order of the form.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"files": [{"originalName": "screen.png", "savedName": "image-1893574800000-0a1b2c.png", "path": "/home/sam/src/worktrees/shop-AB-1/.loopgate/attachments/image-1893574800000-0a1b2c.png", "apiUrl": "/api/gateway/orchestrator/attachments/AB-1/image-1893574800000-0a1b2c.png?repo=~%2Fsrc%2Fshop", "size": 67}]}))]
#[schema(as = Uploaded)]
pub(crate) struct UploadedImages {
    files: Vec<UploadedFile>,
}

/// A saved image.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UploadedFile {
    /// File name in the form.
    original_name: String,
    /// File name on disk.
    saved_name: String,
    /// Absolute path on disk.
    path: String,
    /// Path and query of the GET request that downloads the image.
    api_url: String,
    /// Size in bytes.
    size: u64,
}

/// Images to upload.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; it is read part by part")]
#[schema(example = json!({"files": ["(the bytes of screen.png)"]}))]
struct Images {
    /// PNG, JPEG, GIF or WebP images of at most 10 MiB each. The field may have any name.
    #[schema(value_type = Vec<String>, format = Binary)]
    files: Vec<Vec<u8>>,
}

/// Upload images to a ticket
///
/// Either all images are saved or none.
#[utoipa::path(post, path = "/api/gateway/orchestrator/upload/{ticketId}", operation_id = "upload_images", tag = "files",
    params(
        ("ticketId" = String, Path, description = "Id of the ticket", example = "AB-1"),
        ("repo" = String, Query, description = "Path of the repository", example = "~/src/shop"),
    ),
    request_body(content = Images, content_type = "multipart/form-data"),
    responses(
        (status = 200, body = UploadedImages, description = "All images were saved"),
        (status = 400, body = ErrorBody, description = "Repository path missing, not a form, no image in it, or an invalid image", example = json!(ErrorBody::missing_field("No image files provided"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The ticket has no worktree", example = json!(ErrorBody::new(404, "Work directory not found"))),
        (status = 500, body = ErrorBody, description = "An image cannot be saved", example = json!(ErrorBody::new(500, "Failed to save file"))),
    ))]
async fn upload(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
    FormBody(form): FormBody,
) -> JsonResult<UploadedImages> {
    let repo = query.required("repo", "repo parameter is required")?.to_owned();
    // Before the images are decoded: a ticket without a worktree is rejected without that work.
    let directory = {
        let (app, ticket, repo) = (app.clone(), ticket.clone(), repo.clone());
        spawn_blocking(move || attachments_directory(&app, &repo, &ticket)).await??
    };
    // The form is already spooled to disk, so a slow client does not occupy a permit.
    let permit = app.forms.acquire().await?;
    let images = form.map_err(form_error)?.images(&app.spool_dir).await.map_err(form_error)?;
    let (names, files): (Vec<_>, Vec<_>) =
        images.into_iter().map(|image| (image.original_name, (image.kind, image.file))).unzip();
    let save = move || {
        // Held by the task, not the request: saving continues when the client disconnects.
        let _permit = permit;
        directory.save(files)
    };
    let saved = spawn_blocking(save).await?.map_err(|error| save_error(&error))?;
    let describe = |(original_name, image): (String, SavedImage)| UploadedFile {
        original_name,
        api_url: format!(
            // Encoded, because ticket ids and paths can contain separators of a URL.
            "{ATTACHMENTS}{}/{}?repo={}",
            encode_component(ticket.as_str()),
            image.name,
            encode_component(&repo)
        ),
        path: path_text(&image.path),
        saved_name: image.name,
        size: image.size,
    };
    Ok(Json(UploadedImages { files: names.into_iter().zip(saved).map(describe).collect() }))
}

/// Returns the attachments directory of a ticket. Performs blocking I/O.
///
/// # Errors
/// 403 when it is outside the sandbox; checked first, so that a 404 discloses nothing about paths outside.
/// 404 when the ticket has no worktree.
fn attachments_directory(app: &App, repo: &str, ticket: &TicketId) -> Result<Attachments, HttpError> {
    let repository = app.sandbox.check(repo)?;
    let worktree: SandboxedPath = ticket_worktree(app, &repository, ticket)?
        .ok_or_else(|| HttpError::not_found("Work directory not found"))?;
    Ok(Attachments::of(&app.sandbox, &worktree)?)
}

fn form_error(error: FormError) -> HttpError {
    match error {
        FormError::Disk(error) => save_error(&error),
        error @ (FormError::NoImage | FormError::NoArchive) => HttpError::missing_field(error.to_string()),
        error @ FormError::Broken => HttpError::bad_request(error.to_string()).with_code(INVALID_FORM_DATA),
        other => HttpError::bad_request(other.to_string()),
    }
}

fn save_error(error: &std::io::Error) -> HttpError {
    tracing::warn!(%error, "failed to save uploaded image");
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
