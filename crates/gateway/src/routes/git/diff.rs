//! `POST /api/gateway/git/diff`: the old and the new content of one changed file. The page computes the
//! hunks.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_home::SandboxedPath;
use loopgate_tools::git::{FileDiff, FileDiffError, FilePath, is_binary};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::action::validate_base_name;
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::extract::JsonBody;
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::directory::existing_directory;

/// Media types of images that pages display, by extension.
const IMAGES: [(&str, &str); 8] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("svg", "image/svg+xml"),
    ("webp", "image/webp"),
    ("ico", "image/x-icon"),
    ("bmp", "image/bmp"),
];

/// The file to compare.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "filePath": "README.md"}))]
struct DiffRequest {
    /// Path relative to the repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    file_path: Option<String>,
    /// Repository or worktree, inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    repo_path: Option<String>,
    /// Branch of `origin` to compare HEAD with. When it is missing, the working tree is compared with HEAD.
    #[serde(default, deserialize_with = "lenient::non_empty")]
    base_branch: Option<String>,
}

/// Old and new content of a file.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"filePath": "README.md", "oldContent": "# Shop\n", "newContent": "# The shop\n", "isNew": false, "isDeleted": false}))]
pub(crate) struct DiffAnswer {
    file_path: String,
    /// Old content; empty when there is none. Bytes that are not UTF-8 are replaced with `U+FFFD`. For a
    /// symbolic link its target; for a submodule `Subproject commit <hash>`.
    old_content: String,
    new_content: String,
    /// Whether the file has no old version.
    is_new: bool,
    /// Whether the file has no new version.
    is_deleted: bool,
    /// True for images; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_image: Option<bool>,
    /// Media type of the image; absent for other files.
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'static str>,
    /// True for binary files, whose contents are empty; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_binary: Option<bool>,
    /// Old content of a binary image, Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_content_base64: Option<String>,
    /// New content of a binary image, Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_content_base64: Option<String>,
}

/// Return the old and new content of a changed file
#[utoipa::path(post, path = "/api/gateway/git/diff", operation_id = "git_diff", tag = "git",
    request_body = DiffRequest,
    responses(
        (status = 200, body = DiffAnswer, description = "Both versions of the file"),
        (status = 400, body = ErrorBody, description = "A member is missing or invalid, or the file has no changes", example = json!(ErrorBody::new(400, "File has no changes"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox or the repository", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The directory does not exist", example = json!(ErrorBody::new(404, "repository not found"))),
        (status = 413, body = ErrorBody, description = "A version is larger than 5 MiB", example = json!(ErrorBody::new(413, "File too large to diff"))),
        (status = 500, body = ErrorBody, description = "git failed", example = json!(ErrorBody::new(500, "Failed to get diff: git status failed"))),
    ))]
async fn diff(State(app): State<App>, JsonBody(body): JsonBody<DiffRequest>) -> Result<Response, HttpError> {
    let (Some(file), Some(directory)) = (&body.file_path, &body.repo_path) else {
        return Err(HttpError::missing_field("filePath and repoPath are required"));
    };
    let base = body.base_branch.as_deref().map(validate_base_name).transpose()?;
    let path = FilePath::parse(file).ok_or_else(HttpError::directory_not_allowed)?;
    let missing = |_| HttpError::not_found("Repository path does not exist");
    let repository = existing_directory(&app, directory, missing).await?;
    check_inside(&app, &repository, &path).await?;
    // Both versions and the JSON are in memory, up to 5 MiB each: bound the number of concurrent diffs.
    let permit = app.diffs.acquire().await?;
    let sides = match base {
        Some(base) => app.git.diff_to_base(repository.canonical(), &path, base).await,
        None => app.git.diff_to_worktree(repository.canonical(), &path).await,
    };
    let (file, sides) = (file.to_owned(), sides.map_err(failed)?);
    // Encoding megabytes of JSON or Base64 would block a request thread.
    spawn_blocking(move || {
        let _permit = permit;
        Json(DiffAnswer::of(&file, sides)).into_response()
    })
    .await
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(diff), &[Source::Path(At::Body("repoPath"))])
}

/// Rejects a file that resolves, through symbolic links, to a path outside the repository or denied by the
/// sandbox. For a dangling link, only the location of the link is checked.
async fn check_inside(app: &App, repository: &SandboxedPath, path: &FilePath) -> Result<(), HttpError> {
    let (app, root) = (app.clone(), repository.canonical().to_owned());
    let file = root.join(path.as_path());
    let inside = spawn_blocking(move || {
        // A parent directory can be a symbolic link, so the lexical check of `FilePath` is not sufficient.
        let canonical = nearest_canonical(&file);
        canonical.is_some_and(|path| path.starts_with(&root) && app.sandbox.check(path).is_ok())
    });
    if inside.await? { Ok(()) } else { Err(HttpError::directory_not_allowed()) }
}

/// Canonicalizes a path, or its nearest existing ancestor: a deleted file no longer exists in the working
/// tree.
fn nearest_canonical(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|place| place.canonicalize().ok())
}

impl DiffAnswer {
    fn of(file: &str, FileDiff { old, new }: FileDiff) -> Self {
        let mime_type = mime_type(file);
        let answer = Self {
            file_path: file.to_owned(),
            is_new: old.is_none(),
            is_deleted: new.is_none(),
            is_image: mime_type.map(|_| true),
            mime_type,
            ..Self::default()
        };
        // SVG images are text. They are sent as text with a media type, so that pages can show both views.
        if [&old, &new].into_iter().flatten().any(|side| is_binary(side)) {
            let encode =
                |side: Option<Vec<u8>>| side.filter(|_| mime_type.is_some()).map(|b| STANDARD.encode(b));
            let (old_content_base64, new_content_base64) = (encode(old), encode(new));
            return Self { is_binary: Some(true), old_content_base64, new_content_base64, ..answer };
        }
        let text = |side: Option<Vec<u8>>| {
            // The lossy conversion copies, so it is only used for invalid UTF-8.
            let text = String::from_utf8(side.unwrap_or_default());
            text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
        };
        Self { old_content: text(old), new_content: text(new), ..answer }
    }
}

fn mime_type(file: &str) -> Option<&'static str> {
    let extension = Path::new(file).extension()?.to_str()?;
    IMAGES.iter().find(|(name, _)| extension.eq_ignore_ascii_case(name)).map(|(_, mime)| *mime)
}

fn failed(error: FileDiffError) -> HttpError {
    match error {
        FileDiffError::Unchanged => HttpError::bad_request("File has no changes"),
        FileDiffError::TooLarge => HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, "File too large to diff"),
        other => HttpError::operation("Failed to get diff", &other),
    }
}
