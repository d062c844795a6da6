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
use loopgate_files::{Spool, SpoolFile};
use sha2::Sha256;
use tokio_util::io::ReaderStream;

use crate::config::ServerLimits;
use crate::error::HttpError;
use crate::route::BodyLimit;

/// Bytes that are read from a file at once.
const CHUNK: usize = 128 * 1024;

/// Where the bytes are stored.
#[derive(Debug, Clone)]
pub(crate) enum BodyStorage<'a> {
    /// The handler gets them, in memory.
    Memory,
    /// The handler gets them, from a file in this directory. The hash is what approval knows the
    /// request by, fed with everything that is before the body.
    File(&'a Path, Sha256),
    /// They are only counted.
    Discard,
}

/// A body that was read.
#[derive(Debug)]
pub(crate) enum RequestBody {
    /// In memory.
    Memory(Bytes),
    /// In a file.
    File(Spool),
}

impl RequestBody {
    /// Bytes.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File(spool) => spool.length,
        }
    }

    /// The body that was held in memory; nothing of one that is in a file.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self {
            Self::Memory(bytes) => bytes,
            Self::File(_) => Bytes::new(),
        }
    }

    /// The body, for the handler.
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

/// Why there is no body.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// Over the limit. Sizes in bytes; what is unknown is absent.
    TooLarge { declared: Option<u64>, observed: Option<u64> },
    /// The client stopped or sent nonsense.
    Broken,
    /// It took too long.
    TimedOut,
    /// The disk took no more.
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
                tracing::warn!(%error, "a request body could not be stored");
                HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "request body could not be stored")
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

/// A body whose bytes are counted against a limit.
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

/// Where the bytes go.
enum BodyWriter {
    Memory { first: Bytes, rest: BytesMut },
    File(Box<SpoolFile>),
    Nowhere,
}

impl BodyWriter {
    async fn create(storage: BodyStorage<'_>) -> Result<Self, BodyError> {
        Ok(match storage {
            BodyStorage::Memory => Self::Memory { first: Bytes::new(), rest: BytesMut::new() },
            BodyStorage::Discard => Self::Nowhere,
            BodyStorage::File(directory, hash) => {
                let spooling = SpoolFile::create(directory, Some(hash)).await.map_err(BodyError::Disk)?;
                Self::File(Box::new(spooling))
            }
        })
    }

    async fn add(&mut self, data: Bytes) -> Result<(), BodyError> {
        match self {
            Self::Nowhere => {}
            Self::File(spooling) => spooling.write(&data).await.map_err(BodyError::Disk)?,
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

    async fn finish(self) -> Result<RequestBody, BodyError> {
        Ok(match self {
            Self::Nowhere => RequestBody::Memory(Bytes::new()),
            Self::File(spooling) => RequestBody::File(spooling.finish().await.map_err(BodyError::Disk)?),
            Self::Memory { first, rest } => {
                RequestBody::Memory(if rest.is_empty() { first } else { rest.freeze() })
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
