//! `POST /api/gateway/git/diff`: both sides of one changed file. The page works out what is
//! different.

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

use super::action::base_name;
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::extract::JsonBody;
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::directory::existing_directory;

/// Types of the images that a page shows, by the ending of the name.
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

/// The file, and what it is held against.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "filePath": "README.md"}))]
struct DiffRequest {
    /// Relative to the repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    file_path: Option<String>,
    /// Directory inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    repo_path: Option<String>,
    /// A branch of `origin`: HEAD is held against it. Without one, the working tree is held
    /// against HEAD.
    #[serde(default, deserialize_with = "lenient::non_empty")]
    base_branch: Option<String>,
}

/// Both sides.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"filePath": "README.md", "oldContent": "# Shop\n", "newContent": "# The shop\n", "isNew": false, "isDeleted": false}))]
pub(crate) struct DiffAnswer {
    file_path: String,
    /// Empty when there is none. Bytes that are not UTF-8 are replaced by `U+FFFD`. The target of a
    /// link; for a submodule `Subproject commit <hash>`.
    old_content: String,
    new_content: String,
    /// There is no old side.
    is_new: bool,
    /// There is no new side.
    is_deleted: bool,
    /// Present on images.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_image: Option<bool>,
    /// Type of the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'static str>,
    /// Present on files that are no text; the contents are empty then.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_binary: Option<bool>,
    /// The old side of an image that is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_content_base64: Option<String>,
    /// The new side of an image that is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_content_base64: Option<String>,
}

/// Show both sides of a changed file
#[utoipa::path(post, path = "/api/gateway/git/diff", operation_id = "git_diff", tag = "git",
    request_body = DiffRequest,
    responses(
        (status = 200, body = DiffAnswer, description = "Both sides"),
        (status = 400, body = ErrorBody, description = "Something is missing or not valid, or the file has no changes", example = json!(ErrorBody::new(400, "File has no changes"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox or the repository", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "No such repository", example = json!(ErrorBody::new(404, "repository not found"))),
        (status = 413, body = ErrorBody, description = "A side is larger than 5 MiB", example = json!(ErrorBody::new(413, "File too large to diff"))),
        (status = 500, body = ErrorBody, description = "Git could not tell", example = json!(ErrorBody::new(500, "Failed to get diff: git status failed"))),
    ))]
async fn diff(State(app): State<App>, JsonBody(body): JsonBody<DiffRequest>) -> Result<Response, HttpError> {
    let (Some(file), Some(named)) = (&body.file_path, &body.repo_path) else {
        return Err(HttpError::missing_field("filePath and repoPath are required"));
    };
    let base = body.base_branch.as_deref().map(base_name).transpose()?;
    let path = FilePath::parse(file).ok_or_else(HttpError::directory_not_allowed)?;
    let missing = |_| HttpError::not_found("Repository path does not exist");
    let repository = existing_directory(&app, named, missing).await?;
    stays_inside(&app, &repository, &path).await?;
    // Both sides and the answer are in memory: of large ones there must not be many.
    let permit = app.diffs.acquire().await?;
    let sides = match base {
        Some(base) => app.git.diff_to_base(repository.canonical(), &path, base).await,
        None => app.git.diff_to_worktree(repository.canonical(), &path).await,
    };
    let (file, sides) = (file.to_owned(), sides.map_err(failed)?);
    spawn_blocking(move || {
        let _permit = permit;
        Json(DiffAnswer::of(&file, sides)).into_response()
    })
    .await
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(diff), &[Source::Path(At::Body("repoPath"))])
}

/// Refuses a file that a link leads out of the repository, or to a place that the sandbox denies.
/// For a dangling link only the place of the link itself is checked.
async fn stays_inside(app: &App, repository: &SandboxedPath, path: &FilePath) -> Result<(), HttpError> {
    let (app, root) = (app.clone(), repository.canonical().to_owned());
    let file = root.join(path.as_path());
    let inside = spawn_blocking(move || {
        let real = nearest_real(&file);
        real.is_some_and(|real| real.starts_with(&root) && app.sandbox.check(real).is_ok())
    });
    if inside.await? { Ok(()) } else { Err(HttpError::directory_not_allowed()) }
}

/// The real place of a path, or of its nearest ancestor that has one.
fn nearest_real(path: &Path) -> Option<PathBuf> {
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
        if [&old, &new].into_iter().flatten().any(|side| is_binary(side)) {
            let shown =
                |side: Option<Vec<u8>>| side.filter(|_| mime_type.is_some()).map(|b| STANDARD.encode(b));
            let (old_content_base64, new_content_base64) = (shown(old), shown(new));
            return Self { is_binary: Some(true), old_content_base64, new_content_base64, ..answer };
        }
        let text = |side: Option<Vec<u8>>| {
            let text = String::from_utf8(side.unwrap_or_default());
            text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
        };
        Self { old_content: text(old), new_content: text(new), ..answer }
    }
}

fn mime_type(file: &str) -> Option<&'static str> {
    let ending = Path::new(file).extension()?.to_str()?;
    IMAGES.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|(_, mime)| *mime)
}

fn failed(error: FileDiffError) -> HttpError {
    match error {
        FileDiffError::Unchanged => HttpError::bad_request("File has no changes"),
        FileDiffError::TooLarge => HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, "File too large to diff"),
        other => HttpError::operation("Failed to get diff", &other),
    }
}
