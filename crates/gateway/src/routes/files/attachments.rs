//! `GET /api/gateway/orchestrator/attachments/…`: downloads of the files attached to a ticket.

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

/// Buffer size of a streamed response, in bytes: large enough to amortize the switch to a blocking thread per
/// read.
const CHUNK: usize = 64 * 1024;
const CACHING: HeaderValue = HeaderValue::from_static("private, max-age=3600");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
/// `Content-Security-Policy` of SVG images. When one is opened as a document, it can neither run scripts nor
/// access the gateway's origin.
const SANDBOX_CSP: HeaderValue = HeaderValue::from_static("sandbox");
const BYTES: HeaderValue = HeaderValue::from_static("bytes");
const SVG_TYPE: &str = "image/svg+xml";

/// Download a file attached to a ticket
#[utoipa::path(get, path = "/api/gateway/orchestrator/attachments/{*attachmentPath}", operation_id = "read_attachment", tag = "files",
    params(
        ("attachmentPath" = String, Path, description = "Ticket id, a slash, and the path of the file", example = "AB-1/screen.png"),
        ("repo" = String, Query, description = "Path of the repository", example = "~/src/shop"),
        ("range" = Option<String>, Header, description = "A single byte range", example = "bytes=0-7"),
    ),
    responses(
        (status = 200, body = Vec<u8>, content_type = "*/*", description = "The file, with the media type of its extension", example = json!("(the bytes of screen.png)")),
        (status = 206, body = Vec<u8>, content_type = "*/*", description = "The requested range", example = json!("(the first eight bytes)")),
        (status = 400, body = ErrorBody, description = "Repository path or file path missing", example = json!(ErrorBody::missing_field("attachment path is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox or the ticket's attachments", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The file does not exist", example = json!(ErrorBody::new(404, "File not found"))),
        (status = 416, body = ErrorBody, description = "The requested range is outside the file", example = json!(ErrorBody::new(416, "Range not satisfiable").with("size", 67))),
        (status = 500, body = ErrorBody, description = "The file cannot be read", example = json!(ErrorBody::new(500, "permission denied"))),
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
        None => full_response(file, size),
        Some(range) => partial_response(file, size, range).await?,
    };
    set_headers(reply.headers_mut(), media_type);
    Ok(reply)
}

/// Opens the file and returns it with its size in bytes. Performs blocking I/O.
fn open(app: &App, repository: &str, ticket: &TicketId, path: &str) -> Result<(File, u64), HttpError> {
    let repository = app.sandbox.check(repository)?;
    let worktree =
        ticket_worktree(app, &repository, ticket)?.ok_or_else(|| open_error(OpenAttachmentError::Missing))?;
    let attachments = Attachments::of(&app.sandbox, &worktree)?;
    let file = attachments.open(&app.sandbox, path).map_err(open_error)?;
    // The size of the open file: a path could refer to another file by now.
    let size = file.metadata().map_err(|error| open_error(OpenAttachmentError::Io(error)))?.len();
    Ok((file, size))
}

fn open_error(error: OpenAttachmentError) -> HttpError {
    let status = match &error {
        OpenAttachmentError::Escapes => StatusCode::FORBIDDEN,
        OpenAttachmentError::Missing => StatusCode::NOT_FOUND,
        OpenAttachmentError::Io(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    HttpError::new(status, error.to_string())
}

fn full_response(file: File, size: u64) -> Response {
    stream(StatusCode::OK, file, size)
}

async fn partial_response(mut file: File, size: u64, range: ByteRange) -> Result<Response, HttpError> {
    let Some((first, length)) = range.within(size) else {
        return Err(
            HttpError::new(StatusCode::RANGE_NOT_SATISFIABLE, "Range not satisfiable").with("size", size)
        );
    };
    let positioned = spawn_blocking(move || -> io::Result<File> {
        file.seek(SeekFrom::Start(first))?;
        Ok(file)
    });
    let file = positioned.await?.map_err(|error| open_error(OpenAttachmentError::Io(error)))?;
    let mut reply = stream(StatusCode::PARTIAL_CONTENT, file, length);
    // `Content-Range` is inclusive at both ends. `within` never returns an empty range.
    let content_range = format!("bytes {first}-{}/{size}", first + length - 1);
    if let Ok(content_range) = HeaderValue::from_str(&content_range) {
        reply.headers_mut().insert(CONTENT_RANGE, content_range);
    }
    Ok(reply)
}

/// Streams exactly `length` bytes from the current position.
fn stream(status: StatusCode, file: File, length: u64) -> Response {
    // The length is fixed by `Content-Length`: bytes appended after the size was read must not be sent.
    let bytes = tokio::fs::File::from_std(file).take(length);
    let mut reply = Response::new(Body::from_stream(ReaderStream::with_capacity(bytes, CHUNK)));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    reply
}

fn set_headers(headers: &mut HeaderMap, media_type: &'static str) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, CACHING);
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(ACCEPT_RANGES, BYTES);
    // Other types cannot execute scripts, and `nosniff` keeps browsers from reinterpreting them.
    if media_type == SVG_TYPE {
        headers.insert(CONTENT_SECURITY_POLICY, SANDBOX_CSP);
    }
}

/// Returns the media type for the extension of a path.
fn media_type(path: &str) -> &'static str {
    let extension = Path::new(path).extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        // Types that browsers display inline. HTML would run scripts in the origin of the gateway, so it is
        // not among them.
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        Some("svg") => SVG_TYPE,
        _ => "application/octet-stream",
    }
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(read),
        &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("attachmentPath"))],
    )
}
