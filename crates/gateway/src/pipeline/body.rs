//! Reads a request's body under the limit of its route.
//!
//! A declared length above the limit is refused unread; otherwise bytes are counted as they come.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt as _;

use crate::answer::Failure;
use crate::config::Limits;

/// Limit in bytes of a route's body, and its name in logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BodyLimit {
    pub(crate) bytes: u64,
    pub(crate) label: &'static str,
}

impl BodyLimit {
    /// Every route that names none.
    pub(crate) const GENERIC: Self = Self { bytes: 262_144, label: "generic-json" };
    /// The challenge exchange.
    pub(crate) const EXCHANGE: Self = Self { bytes: 4096, label: "gateway-auth-exchange" };
    /// The order of a loop, with its documents.
    pub(crate) const LOOP: Self = Self { bytes: 1_048_576, label: "orchestrator-loop" };
    /// Uploaded files of a ticket.
    pub(crate) const UPLOAD: Self = Self { bytes: 52_428_800, label: "orchestrator-upload" };
    /// Archives of the run viewer.
    pub(crate) const RUN_VIEWER: Self = Self { bytes: 220_200_960, label: "run-viewer-extract" };
}

/// What becomes of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The handler gets them.
    All,
    /// They are only counted.
    Nothing,
}

/// Why there is no body.
#[derive(Debug)]
pub(crate) enum Unread {
    /// Over the limit. Sizes in bytes; what is unknown is absent.
    TooLarge { declared: Option<u64>, observed: Option<u64> },
    /// The client stopped or sent nonsense.
    Broken,
    /// It took too long.
    TimedOut,
}

impl Unread {
    pub(crate) fn into_failure(self, limit: BodyLimit) -> Failure {
        match self {
            Self::TooLarge { .. } => Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "request body too large")
                .with("maxBytes", limit.bytes)
                .no_store(),
            Self::Broken => Failure::bad_request("request body could not be read"),
            Self::TimedOut => Failure::new(StatusCode::REQUEST_TIMEOUT, "request body timed out"),
        }
        .closing(true)
    }
}

/// Reads the body. An absent one is empty.
pub(crate) async fn read(
    body: Body,
    headers: &HeaderMap,
    limit: BodyLimit,
    keep: Keep,
    limits: &Limits,
) -> Result<Bytes, Unread> {
    let declared = declared_length(headers);
    if declared.is_some_and(|length| length > limit.bytes) {
        return Err(Unread::TooLarge { declared, observed: None });
    }
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    tokio::time::timeout(limits.body_timeout, collect(body, declared, limit, keep))
        .await
        .map_err(|_| Unread::TimedOut)?
}

async fn collect(
    mut body: Body,
    declared: Option<u64>,
    limit: BodyLimit,
    keep: Keep,
) -> Result<Bytes, Unread> {
    let mut observed = 0_u64;
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
        observed += data.len() as u64;
        if observed > limit.bytes {
            return Err(Unread::TooLarge { declared, observed: Some(observed) });
        }
        match keep {
            Keep::Nothing => {}
            // A body that came in one piece is handed on without a copy.
            Keep::All if first.is_empty() && rest.is_empty() => first = data,
            Keep::All => {
                if rest.is_empty() {
                    rest.extend_from_slice(&std::mem::take(&mut first));
                }
                rest.extend_from_slice(&data);
            }
        }
    }
    Ok(if rest.is_empty() { first } else { rest.freeze() })
}

/// A length made of digits only; anything else counts as absent.
fn declared_length(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(CONTENT_LENGTH)?.to_str().ok()?;
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}
