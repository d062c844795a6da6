//! `GET /api/gateway/orchestrator/attachments/…`: the files that belong to a ticket.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::path::Path;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_files::{Attachments, OpenAttachmentError};
use tokio::io::AsyncReadExt as _;
use tokio_util::io::ReaderStream;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::extract::{AttachmentPath, ByteRange, QueryMembers, RequestedRange};
use crate::route::Endpoint;
use crate::routes::directory::ticket_worktree;

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;
const CACHING: HeaderValue = HeaderValue::from_static("private, max-age=3600");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
/// A drawing that is opened by itself runs no script and belongs to no origin.
const INACTIVE: HeaderValue = HeaderValue::from_static("sandbox");
const BYTES: HeaderValue = HeaderValue::from_static("bytes");
const DRAWING: &str = "image/svg+xml";

/// Read a file that belongs to a ticket
#[utoipa::path(get, path = "/api/gateway/orchestrator/attachments/{*attachmentPath}", operation_id = "read_attachment", tag = "files",
    params(
        ("attachmentPath" = String, Path, description = "Ticket, then path of the file, with slashes", example = "AB-1/screen.png"),
        ("repo" = String, Query, description = "Path of the repository", example = "~/src/shop"),
        ("range" = Option<String>, Header, description = "One range of bytes", example = "bytes=0-7"),
    ),
    responses(
        (status = 200, body = Vec<u8>, content_type = "*/*", description = "The file, with the type of its ending", example = json!("(the bytes of screen.png)")),
        (status = 206, body = Vec<u8>, content_type = "*/*", description = "The range that was asked for", example = json!("(the first eight bytes)")),
        (status = 400, body = ErrorBody, description = "No repository or no file given", example = json!(ErrorBody::missing_field("attachment path is required"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox, or outside the ticket's attachments", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "No such file", example = json!(ErrorBody::new(404, "File not found"))),
        (status = 416, body = ErrorBody, description = "The file has no such bytes", example = json!(ErrorBody::new(416, "The file has no such bytes").with("size", 67))),
        (status = 500, body = ErrorBody, description = "It cannot be read", example = json!(ErrorBody::new(500, "permission denied"))),
    ))]
async fn read(
    State(app): State<App>,
    path: AttachmentPath,
    query: QueryMembers,
    RequestedRange(range): RequestedRange,
) -> Result<Response, HttpError> {
    let missing_path = || HttpError::missing_field("attachment path is required");
    let AttachmentPath { ticket, path } = path;
    let path = path.ok_or_else(missing_path)?;
    let repository = query.required("repo", "repo parameter is required")?.to_owned();
    if path.is_empty() {
        return Err(missing_path());
    }
    let media_type = media_type(&path);
    let opened = spawn_blocking(move || open(&app, &repository, &ticket, &path));
    let (file, size) = opened.await??;
    let mut reply = match range {
        None => whole(file, size),
        Some(range) => part(file, size, range).await?,
    };
    describe(reply.headers_mut(), media_type);
    Ok(reply)
}

/// The file and its size.
fn open(app: &App, repository: &str, ticket: &TicketId, path: &str) -> Result<(File, u64), HttpError> {
    let repository = app.sandbox.check(repository)?;
    let worktree =
        ticket_worktree(app, &repository, ticket)?.ok_or_else(|| refused(OpenAttachmentError::Missing))?;
    let attachments = Attachments::of(&app.sandbox, &worktree)?;
    let file = attachments.open(&app.sandbox, path).map_err(refused)?;
    let size = file.metadata().map_err(|error| refused(OpenAttachmentError::Io(error)))?.len();
    Ok((file, size))
}

fn refused(error: OpenAttachmentError) -> HttpError {
    let status = match &error {
        OpenAttachmentError::Escapes => StatusCode::FORBIDDEN,
        OpenAttachmentError::Missing => StatusCode::NOT_FOUND,
        OpenAttachmentError::Io(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    HttpError::new(status, error.to_string())
}

fn whole(file: File, size: u64) -> Response {
    stream(StatusCode::OK, file, size)
}

async fn part(mut file: File, size: u64, range: ByteRange) -> Result<Response, HttpError> {
    let Some((first, length)) = range.within(size) else {
        return Err(HttpError::new(StatusCode::RANGE_NOT_SATISFIABLE, "The file has no such bytes")
            .with("size", size));
    };
    let found = spawn_blocking(move || -> io::Result<File> {
        file.seek(SeekFrom::Start(first))?;
        Ok(file)
    });
    let file = found.await?.map_err(|error| refused(OpenAttachmentError::Io(error)))?;
    let mut reply = stream(StatusCode::PARTIAL_CONTENT, file, length);
    let described = format!("bytes {first}-{}/{size}", first + length - 1);
    if let Ok(described) = HeaderValue::from_str(&described) {
        reply.headers_mut().insert(CONTENT_RANGE, described);
    }
    Ok(reply)
}

/// So many bytes of a file from where it stands; what is added to it meanwhile is not sent.
fn stream(status: StatusCode, file: File, length: u64) -> Response {
    let bytes = tokio::fs::File::from_std(file).take(length);
    let mut reply = Response::new(Body::from_stream(ReaderStream::with_capacity(bytes, CHUNK)));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    reply
}

fn describe(headers: &mut HeaderMap, media_type: &'static str) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, CACHING);
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(ACCEPT_RANGES, BYTES);
    if media_type == DRAWING {
        headers.insert(CONTENT_SECURITY_POLICY, INACTIVE);
    }
}

/// The type that belongs to the ending of a name.
fn media_type(path: &str) -> &'static str {
    let ending = Path::new(path).extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        Some("svg") => DRAWING,
        _ => "application/octet-stream",
    }
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(read),
        &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("attachmentPath"))],
    )
}
