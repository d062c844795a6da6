//! Reads a request's body under the limit of its route.
//!
//! A declared length above the limit is refused unread; otherwise bytes are counted as they come.
//! Large bodies go to a file while they are counted.

use std::path::Path;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use loopgate_files::{Spool, Spooling};
use sha2::Sha256;
use tokio_util::io::ReaderStream;

use crate::answer::Failure;
use crate::config::Limits;

/// Bytes that are read from a file at once.
const CHUNK: usize = 128 * 1024;

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
#[derive(Debug, Clone)]
pub(crate) enum Keep<'a> {
    /// The handler gets them, in memory.
    All,
    /// The handler gets them, from a file in this directory. The hash is what approval knows the
    /// request by, fed with everything that stands before the body.
    Spooled(&'a Path, Sha256),
    /// They are only counted.
    Nothing,
}

/// A body that was read.
#[derive(Debug)]
pub(crate) enum Received {
    /// In memory.
    Whole(Bytes),
    /// In a file.
    Spooled(Spool),
}

impl Received {
    /// Bytes.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Spooled(spool) => spool.length,
        }
    }

    /// The body that was kept in memory; nothing of one that lies in a file.
    pub(crate) fn whole(self) -> Bytes {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Spooled(_) => Bytes::new(),
        }
    }

    /// The body, for the handler.
    pub(crate) fn into_body(self) -> Body {
        match self {
            Self::Whole(bytes) => Body::from(bytes),
            Self::Spooled(spool) => {
                let file = tokio::fs::File::from_std(spool.file);
                Body::from_stream(ReaderStream::with_capacity(file, CHUNK))
            }
        }
    }
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
    /// The disk took no more.
    Disk(std::io::Error),
}

impl Unread {
    pub(crate) fn into_failure(self, limit: BodyLimit) -> Failure {
        match self {
            Self::TooLarge { .. } => Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "request body too large")
                .with("maxBytes", limit.bytes)
                .no_store(),
            Self::Broken => Failure::bad_request("request body could not be read"),
            Self::TimedOut => Failure::new(StatusCode::REQUEST_TIMEOUT, "request body timed out"),
            Self::Disk(error) => {
                tracing::warn!(%error, "a request body could not be stored");
                Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "request body could not be stored")
            }
        }
        .closing(true)
    }
}

/// Reads the body. An absent one is empty.
pub(crate) async fn read(
    body: Body,
    headers: &HeaderMap,
    limit: BodyLimit,
    keep: Keep<'_>,
    limits: &Limits,
) -> Result<Received, Unread> {
    let declared = declared_length(headers);
    if declared.is_some_and(|length| length > limit.bytes) {
        return Err(Unread::TooLarge { declared, observed: None });
    }
    if body.is_end_stream() {
        return Ok(Received::Whole(Bytes::new()));
    }
    let reading = async {
        let mut kept = Kept::begin(keep).await?;
        let read = Counted { body, declared, limit, observed: 0 };
        read.into(&mut kept).await?;
        kept.finish().await
    };
    tokio::time::timeout(limits.body_timeout, Box::pin(reading)).await.map_err(|_| Unread::TimedOut)?
}

/// A body whose bytes are counted.
struct Counted {
    body: Body,
    declared: Option<u64>,
    limit: BodyLimit,
    observed: u64,
}

impl Counted {
    async fn into(mut self, kept: &mut Kept) -> Result<(), Unread> {
        while let Some(frame) = self.body.frame().await {
            let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
            self.observed += data.len() as u64;
            if self.observed > self.limit.bytes {
                return Err(Unread::TooLarge { declared: self.declared, observed: Some(self.observed) });
            }
            kept.add(data).await?;
        }
        Ok(())
    }
}

/// Where the bytes go.
enum Kept {
    Memory { first: Bytes, rest: BytesMut },
    File(Box<Spooling>),
    Nowhere,
}

impl Kept {
    async fn begin(keep: Keep<'_>) -> Result<Self, Unread> {
        Ok(match keep {
            Keep::All => Self::Memory { first: Bytes::new(), rest: BytesMut::new() },
            Keep::Nothing => Self::Nowhere,
            Keep::Spooled(directory, hash) => {
                let spooling = Spooling::begin(directory, Some(hash)).await.map_err(Unread::Disk)?;
                Self::File(Box::new(spooling))
            }
        })
    }

    async fn add(&mut self, data: Bytes) -> Result<(), Unread> {
        match self {
            Self::Nowhere => {}
            Self::File(spooling) => spooling.write(&data).await.map_err(Unread::Disk)?,
            // A body that came in one piece is handed on without a copy.
            Self::Memory { first, rest } if first.is_empty() && rest.is_empty() => *first = data,
            Self::Memory { first, rest } => {
                if rest.is_empty() {
                    rest.extend_from_slice(&std::mem::take(first));
                }
                rest.extend_from_slice(&data);
            }
        }
        Ok(())
    }

    async fn finish(self) -> Result<Received, Unread> {
        Ok(match self {
            Self::Nowhere => Received::Whole(Bytes::new()),
            Self::File(spooling) => Received::Spooled(spooling.finish().await.map_err(Unread::Disk)?),
            Self::Memory { first, rest } => {
                Received::Whole(if rest.is_empty() { first } else { rest.freeze() })
            }
        })
    }
}

/// A length made of digits only; anything else counts as absent.
fn declared_length(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(CONTENT_LENGTH)?.to_str().ok()?;
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}
