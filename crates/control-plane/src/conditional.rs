//! Conditional requests: a client that has the current content receives no body.
//!
//! The tag is a digest of the content, so that no handler knows of it. Browsers send it by themselves, because
//! responses are stored, and revalidated before each use.

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use sha2::{Digest as _, Sha256};

use crate::credentials::header::header;
use crate::error::ApiError;

// Bytes of the digest that are sent.
const TAG_BYTES: usize = 16;

/// Returns whether a request names the tag as one that it has. The comparison is weak: a compressed response has the tag
/// of its content.
pub fn is_current(request: &HeaderMap, tag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    header(request, IF_NONE_MATCH.as_str())
        .is_some_and(|known| known.split(',').any(|known| opaque(known) == opaque(tag)))
}

/// Adds tags to JSON responses of reads, except those that must not be stored, and answers with 304 when the client has
/// the content.
pub async fn tag(request: Request, next: Next) -> Response {
    if request.method() != Method::GET {
        return next.run(request).await;
    }
    let known = request.headers().clone();
    let response = next.run(request).await;
    if !is_taggable(&response) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let content = match body.collect().await {
        Ok(content) => content.to_bytes(),
        Err(error) => return ApiError::internal(error).into_response(),
    };
    let tag = format!("W/\"{}\"", hex::encode(&Sha256::digest(&content)[..TAG_BYTES]));
    if let Ok(value) = HeaderValue::from_str(&tag) {
        parts.headers.insert(ETAG, value);
    }
    parts.headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    if !is_current(&known, &tag) {
        return Response::from_parts(parts, content.into());
    }
    parts.status = StatusCode::NOT_MODIFIED;
    parts.headers.remove(CONTENT_TYPE);
    Response::from_parts(parts, Body::empty())
}

fn is_taggable(response: &Response) -> bool {
    let headers = response.headers();
    let is_json =
        header(headers, CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with("application/json"));
    // A body of unknown size is a stream, which must not be collected.
    response.status() == StatusCode::OK
        && is_json
        && !headers.contains_key(CACHE_CONTROL)
        && !headers.contains_key(ETAG)
        && response.body().size_hint().exact().is_some()
}
