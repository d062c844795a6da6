//! Reads request bodies up to the limit of their route.
//!
//! A declared length above the limit is refused without reading. Otherwise bytes are counted as they arrive.
//! Bodies of routes with a large limit are spooled to a file.

use std::path::Path;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use loopgate_files::{Spool, SpoolFile};
use sha2::Sha256;
use tokio_util::io::ReaderStream;

use crate::config::ServerLimits;
use crate::error::HttpError;
use crate::route::BodyLimit;

/// Read size in bytes for spooled bodies. Larger than the default of 4 KiB, since each read is a task on the
/// blocking pool.
const CHUNK: usize = 128 * 1024;

/// Destination of the bytes.
#[derive(Debug, Clone)]
pub(crate) enum BodyStorage<'a> {
    /// Buffered in memory for the handler.
    Memory,
    /// Spooled to a file in this directory for the handler. The hash already covers method and target, and
    /// yields the request's fingerprint once it covers the body.
    File(&'a Path, Sha256),
    /// Counted against the limit and discarded.
    Discard,
}

#[derive(Debug)]
pub(crate) enum RequestBody {
    Memory(Bytes),
    File(Spool),
}

impl RequestBody {
    /// Returns the length in bytes.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File(spool) => spool.length,
        }
    }

    /// Returns the buffered body. Empty for a spooled one.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self {
            Self::Memory(bytes) => bytes,
            Self::File(_) => Bytes::new(),
        }
    }

    /// Converts the body for the handler.
    pub(crate) fn into_body(self) -> Body {
        match self {
            Self::Memory(bytes) => Body::from(bytes),
            Self::File(spool) => {
                let file = tokio::fs::File::from_std(spool.file);
                Body::from_stream(ReaderStream::with_capacity(file, CHUNK))
            }
        }
    }
}

/// Why a body could not be read.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// The body exceeds the limit. Sizes in bytes, when known.
    TooLarge { declared: Option<u64>, observed: Option<u64> },
    /// The client disconnected or violated the protocol.
    Broken,
    /// The body did not arrive within `ServerLimits::body_timeout`.
    TimedOut,
    /// Spooling to the disk failed.
    Disk(std::io::Error),
}

impl BodyError {
    pub(crate) fn into_http_error(self, limit: BodyLimit) -> HttpError {
        match self {
            Self::TooLarge { .. } => HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, "request body too large")
                .with("maxBytes", limit.bytes)
                .no_store(),
            Self::Broken => HttpError::bad_request("request body could not be read"),
            Self::TimedOut => HttpError::new(StatusCode::REQUEST_TIMEOUT, "request body timed out"),
            Self::Disk(error) => {
                tracing::warn!(%error, "failed to spool a request body");
                HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "request body could not be stored")
            }
        }
        .closing(true)
    }
}

/// Reads the body. An absent body is empty.
pub(crate) async fn read(
    body: Body,
    headers: &HeaderMap,
    limit: BodyLimit,
    storage: BodyStorage<'_>,
    limits: &ServerLimits,
) -> Result<RequestBody, BodyError> {
    let declared = declared_length(headers);
    if declared.is_some_and(|length| length > limit.bytes) {
        return Err(BodyError::TooLarge { declared, observed: None });
    }
    if body.is_end_stream() {
        return Ok(RequestBody::Memory(Bytes::new()));
    }
    let reading = async {
        let mut writer = BodyWriter::create(storage).await?;
        let read = LimitedBody { body, declared, limit, observed: 0 };
        read.into(&mut writer).await?;
        writer.finish().await
    };
    tokio::time::timeout(limits.body_timeout, Box::pin(reading)).await.map_err(|_| BodyError::TimedOut)?
}

/// A body that is counted against a limit.
struct LimitedBody {
    body: Body,
    declared: Option<u64>,
    limit: BodyLimit,
    observed: u64,
}

impl LimitedBody {
    async fn into(mut self, writer: &mut BodyWriter) -> Result<(), BodyError> {
        while let Some(frame) = self.body.frame().await {
            let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
            self.observed += data.len() as u64;
            if self.observed > self.limit.bytes {
                return Err(BodyError::TooLarge { declared: self.declared, observed: Some(self.observed) });
            }
            writer.add(data).await?;
        }
        Ok(())
    }
}

/// The destination while the body is read.
enum BodyWriter {
    Memory { first: Bytes, tail: BytesMut },
    File(Box<SpoolFile>),
    Discard,
}

impl BodyWriter {
    async fn create(storage: BodyStorage<'_>) -> Result<Self, BodyError> {
        Ok(match storage {
            BodyStorage::Memory => Self::Memory { first: Bytes::new(), tail: BytesMut::new() },
            BodyStorage::Discard => Self::Discard,
            BodyStorage::File(directory, hash) => {
                let spooling = SpoolFile::create(directory, Some(hash)).await.map_err(BodyError::Disk)?;
                Self::File(Box::new(spooling))
            }
        })
    }

    async fn add(&mut self, data: Bytes) -> Result<(), BodyError> {
        match self {
            Self::Discard => {}
            Self::File(spooling) => spooling.write(&data).await.map_err(BodyError::Disk)?,
            // Most bodies arrive in one frame, which is passed on without a copy.
            Self::Memory { first, tail } if first.is_empty() && tail.is_empty() => *first = data,
            Self::Memory { first, tail } => {
                if tail.is_empty() {
                    tail.extend_from_slice(&std::mem::take(first));
                }
                tail.extend_from_slice(&data);
            }
        }
        Ok(())
    }

    async fn finish(self) -> Result<RequestBody, BodyError> {
        Ok(match self {
            Self::Discard => RequestBody::Memory(Bytes::new()),
            Self::File(spooling) => RequestBody::File(spooling.finish().await.map_err(BodyError::Disk)?),
            Self::Memory { first, tail } => {
                RequestBody::Memory(if tail.is_empty() { first } else { tail.freeze() })
            }
        })
    }
}

/// Parses `Content-Length`. Values other than digits count as absent; values above `u64::MAX` saturate and
/// thus exceed every limit.
fn declared_length(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(CONTENT_LENGTH)?.to_str().ok()?;
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}
