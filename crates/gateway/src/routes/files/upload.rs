//! `POST /api/gateway/orchestrator/upload/{ticketId}`: images that a person adds to a ticket.

use std::fs::File;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_api::operation::OperationId;
use loopgate_files::{Attachments, ImageKind, SavedImage};
use loopgate_home::SandboxedPath;
use multer::{Field, Multipart};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::answer::{Answer, Failure};
use crate::app::App;
use crate::extract::{ATTACHMENTS, FormBody, QueryMembers, TicketPath};
use crate::pipeline::body::BodyLimit;
use crate::router::Route;
use crate::routes::files::{encoded, invalid_form, worktree_of};
use crate::routes::on_disk;
use crate::spool::{Spool, Spooling};

/// Bytes of one image.
const MOST_BYTES: u64 = 10 * 1024 * 1024;
const BYTES_PER_MIB: f64 = 1024.0 * 1024.0;
/// What a part without a type is taken for.
const UNKNOWN: &str = "application/octet-stream";
/// What a part without a name is called.
const NAMELESS: &str = "file";

/// The images that were saved, in the order in which they came.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Uploaded {
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
        ("ticketId" = String, Path, description = "Ticket"),
        ("repo" = String, Query, description = "Path of the repository"),
    ),
    request_body(content = Images, content_type = "multipart/form-data"),
    responses(
        (status = 200, body = Uploaded, description = "Saved"),
        (status = 400, body = ErrorBody, description = "No repository, no form, no image, or one that is not taken"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 404, body = ErrorBody, description = "The ticket has no worktree"),
        (status = 500, body = ErrorBody, description = "They cannot be saved"),
    ))]
async fn upload(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
    FormBody(form): FormBody,
) -> Answer<Uploaded> {
    let repo = query.required("repo", "repo parameter is required")?.to_owned();
    let place = {
        let (app, ticket, repo) = (app.clone(), ticket.clone(), repo.clone());
        on_disk(move || place_of(&app, &repo, &ticket)).await??
    };
    let images = read_images(&app, form.ok_or_else(invalid_form)?).await?;
    let (names, files): (Vec<_>, Vec<_>) =
        images.into_iter().map(|image| (image.original_name, (image.kind, image.file))).unzip();
    let saved = on_disk(move || place.save(files)).await?.map_err(|error| not_saved(&error))?;
    let described = |(original_name, image): (String, SavedImage)| UploadedFile {
        original_name,
        api_url: format!("{ATTACHMENTS}{}/{}?repo={}", encoded(ticket.as_str()), image.name, encoded(&repo)),
        path: image.path.to_string_lossy().into_owned(),
        saved_name: image.name,
        size: image.size,
    };
    Ok(Json(Uploaded { files: names.into_iter().zip(saved).map(described).collect() }))
}

/// Where the images go. What lies outside the sandbox is refused before anything is said about what
/// is there.
fn place_of(app: &App, repo: &str, ticket: &TicketId) -> Result<Attachments, Failure> {
    let not_allowed = |_| Failure::directory_not_allowed();
    let repository = app.sandbox.check(repo).map_err(not_allowed)?;
    let worktree: SandboxedPath = worktree_of(app, &repository, ticket)?
        .ok_or_else(|| Failure::new(StatusCode::NOT_FOUND, "Work directory not found"))?;
    Attachments::of(&app.sandbox, &worktree).map_err(not_allowed)
}

/// An image that may be saved.
struct Image {
    original_name: String,
    kind: ImageKind,
    file: File,
}

/// Reads the whole form before it judges any of it: a broken one is broken, whatever it begins with.
async fn read_images(app: &App, mut form: Multipart<'static>) -> Result<Vec<Image>, Failure> {
    let mut images = Vec::new();
    let mut refusal = None;
    while let Some(part) = form.next_field().await.map_err(|_| invalid_form())? {
        // Only files have a name of their own.
        if part.file_name().is_none() {
            continue;
        }
        match read_image(app, part).await? {
            Ok(image) if refusal.is_none() => images.push(image),
            Ok(_) => {}
            Err(reason) => {
                refusal.get_or_insert(reason);
            }
        }
    }
    match refusal {
        Some(reason) => Err(reason),
        None if images.is_empty() => Err(Failure::bad_request("No image files provided")),
        None => Ok(images),
    }
}

/// Reads one part to its end. The inner error is about this part alone.
async fn read_image(app: &App, mut part: Field<'static>) -> Result<Result<Image, Failure>, Failure> {
    let original_name = part.file_name().filter(|name| !name.is_empty()).unwrap_or(NAMELESS).to_owned();
    let declared = part.content_type().map_or(UNKNOWN, |kind| kind.essence_str()).to_owned();
    let mut spooling = Spooling::begin(&app.spool_dir, None).await.map_err(|error| not_saved(&error))?;
    let mut size = 0;
    while let Some(bytes) = part.chunk().await.map_err(|_| invalid_form())? {
        size += bytes.len() as u64;
        if size <= MOST_BYTES {
            spooling.write(&bytes).await.map_err(|error| not_saved(&error))?;
        }
    }
    let wrong_kind =
        || Failure::bad_request(format!("File type not allowed: {declared}. Allowed: png, jpeg, gif, webp"));
    let Some(kind) = ImageKind::of_type(&declared) else { return Ok(Err(wrong_kind())) };
    if size > MOST_BYTES {
        return Ok(Err(too_large(&original_name, size)));
    }
    let Spool { mut file, .. } = spooling.finish().await.map_err(|error| not_saved(&error))?;
    let judged = on_disk(move || kind.is_that_of(&mut file).map(|right| right.then_some(file)));
    match judged.await?.map_err(|error| not_saved(&error))? {
        Some(file) => Ok(Ok(Image { original_name, kind, file })),
        None => Ok(Err(wrong_kind())),
    }
}

fn too_large(name: &str, size: u64) -> Failure {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let size = size as f64 / BYTES_PER_MIB;
    Failure::bad_request(format!("File too large: {name} ({size:.1}MB). Max 10MB."))
}

fn not_saved(error: &std::io::Error) -> Failure {
    tracing::warn!(%error, "an uploaded image could not be saved");
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "Failed to save file")
}

pub(crate) fn route() -> Route {
    Route::new(routes!(upload), OperationId::Filesystem).with_limit(BodyLimit::UPLOAD)
}
