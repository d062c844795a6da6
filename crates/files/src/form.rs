//! Multipart form uploads (`multipart/form-data`). Files are spooled to unnamed temporary files while they
//! are validated. A form is always read to its end before it is rejected, so that a malformed form is
//! reported as such, whatever else is wrong with it.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, ready};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use multer::{Field, Multipart};
use thiserror::Error;

use crate::images::ImageKind;
use crate::plain_text::plain_text;
use crate::spool::{SpoolFile, spawn_blocking};

/// Maximum size in bytes of an image.
const MAX_IMAGE: u64 = 10 * 1024 * 1024;
/// Maximum size in bytes of an archive.
const MAX_ARCHIVE: u64 = 200 * 1024 * 1024;
const BYTES_PER_MIB: f64 = 1024.0 * 1024.0;
/// Default media type of a part. Browsers also send it for unknown file types, so it says nothing about the
/// content.
const DEFAULT_TYPE: &str = "application/octet-stream";
/// Display name of an image without a file name.
const DEFAULT_NAME: &str = "file";
/// Media types with which browsers send zip files.
const ARCHIVE_TYPES: [&str; 2] = ["application/zip", "application/x-zip-compressed"];
/// Extension that identifies an archive when the media type is generic.
const ARCHIVE_EXTENSION: &str = ".zip";

/// Number of bytes that are passed to the parser at once.
const PIECE_SIZE: usize = 64 * 1024;
/// Maximum number of bytes that the parser may consume in one step, that is, for the next part header or
/// chunk of content. Only an unterminated header consumes more.
const MAX_STEP: usize = 4 * PIECE_SIZE;

/// A multipart form that has not been read yet.
#[derive(Debug)]
pub struct MultipartForm {
    parser: Multipart<'static>,
    consumed: ByteCount,
}

/// Number of bytes that the parser has consumed in its current step.
#[derive(Debug, Clone, Default)]
struct ByteCount(Arc<AtomicUsize>);

/// A part whose content has not been read yet.
struct FormPart {
    field: Field<'static>,
    consumed: ByteCount,
}

/// A valid image of a form.
#[derive(Debug)]
pub struct SentImage {
    /// File name as sent. Untrusted; for display only.
    pub original_name: String,
    /// Declared media type, which matches the content.
    pub kind: ImageKind,
    /// The content, positioned at its start.
    pub file: File,
}

/// Why a form is rejected.
#[derive(Debug, Error)]
pub enum FormError {
    /// The body is not a well-formed form.
    #[error("Invalid form data")]
    Broken,
    /// The form contains no image file.
    #[error("No image files provided")]
    NoImage,
    /// A file has an unsupported media type, or content that does not match its media type.
    #[error("File type not allowed: {0}. Allowed: png, jpeg, gif, webp")]
    NoImageType(String),
    /// An image exceeds the size limit.
    #[error("File too large: {name} ({:.1}MB). Max 10MB.", mib(*.size))]
    ImageTooLarge {
        /// File name as sent.
        name: String,
        /// Size in bytes of the image.
        size: u64,
    },
    /// The form contains no archive.
    #[error("No zip file provided")]
    NoArchive,
    /// The archive exceeds the size limit.
    #[error("Zip file too large (max 200MB)")]
    ArchiveTooLarge,
    /// The file system returned an error. The message contains no path.
    #[error("{}", plain_text(.0))]
    Disk(#[from] io::Error),
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Result for one part. An error does not stop the reading of the form.
type PartResult<T> = Result<T, FormError>;

impl MultipartForm {
    /// Creates a form from a `Content-Type` header and a body.
    ///
    /// # Errors
    /// Fails with [`FormError::Broken`] when the content type is not that of a multipart form.
    pub fn new<S, E>(content_type: &str, body: S) -> Result<Self, FormError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<BoxError> + Send + 'static,
    {
        let boundary = multer::parse_boundary(content_type).map_err(|_| FormError::Broken)?;
        let consumed = ByteCount::default();
        Ok(Self { parser: Multipart::new(consumed.clone().in_pieces(body), boundary), consumed })
    }

    /// Reads all images in order, into unnamed files in `directory`.
    ///
    /// # Errors
    /// Fails with [`FormError`] when the form contains no image, or an invalid image.
    pub async fn images(mut self, directory: &Path) -> Result<Vec<SentImage>, FormError> {
        let mut images = Ok(Vec::new());
        while let Some(part) = self.next_part().await? {
            // Only file parts have a file name; the others are ordinary fields.
            if part.field.file_name().is_none() {
                part.skip().await?;
                continue;
            }
            match (image(part, directory).await?, &mut images) {
                (Ok(image), Ok(images)) => images.push(image),
                (Err(error), Ok(_)) => images = Err(error),
                // The first error is reported; the remaining parts are still read.
                (_, Err(_)) => {}
            }
        }
        images.and_then(|images| if images.is_empty() { Err(FormError::NoImage) } else { Ok(images) })
    }

    /// Reads the first part that is an archive, into an unnamed file in `directory`.
    ///
    /// # Errors
    /// Fails with [`FormError`] when the form contains no archive, or an archive that exceeds the size limit.
    pub async fn archive(mut self, directory: &Path) -> Result<File, FormError> {
        let mut archive = None;
        while let Some(part) = self.next_part().await? {
            if archive.is_none() && is_sent_as_archive(&part.field) {
                archive = Some(spool_part(part, directory, MAX_ARCHIVE).await?);
            } else {
                part.skip().await?;
            }
        }
        archive.ok_or(FormError::NoArchive)?.map_err(|_| FormError::ArchiveTooLarge)
    }

    /// Returns the next part. The previous one must have been read to its end.
    async fn next_part(&mut self) -> Result<Option<FormPart>, FormError> {
        self.consumed.reset();
        let field = self.parser.next_field().await.map_err(|_| FormError::Broken)?;
        Ok(field.map(|field| FormPart { field, consumed: self.consumed.clone() }))
    }
}

impl ByteCount {
    fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Splits the body into pieces of at most `PIECE_SIZE` bytes. The parser buffers all data that the stream
    /// has ready before it parses any of it, and reports data that arrives together with the end of the
    /// stream as incomplete. Returning `Pending` after each piece makes it parse in between.
    fn in_pieces<E: Into<BoxError>>(
        self,
        body: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    ) -> impl Stream<Item = Result<Bytes, BoxError>> + Send {
        let (mut body, mut buffered, mut is_unparsed) = (Box::pin(body), Bytes::new(), false);
        stream::poll_fn(move |context| {
            // Wake immediately: the pause is only for the parser, no I/O is awaited.
            if std::mem::take(&mut is_unparsed) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if self.0.load(Ordering::Relaxed) >= MAX_STEP {
                return Poll::Ready(Some(Err("unterminated part header".into())));
            }
            if buffered.is_empty() {
                match ready!(body.poll_next_unpin(context)) {
                    Some(Ok(bytes)) => buffered = bytes,
                    end => return Poll::Ready(end.map(|end| end.map_err(Into::into))),
                }
            }
            let piece = buffered.split_to(buffered.len().min(PIECE_SIZE));
            self.0.fetch_add(piece.len(), Ordering::Relaxed);
            is_unparsed = true;
            Poll::Ready(Some(Ok(piece)))
        })
    }
}

impl FormPart {
    /// Returns the next chunk of content.
    async fn chunk(&mut self) -> Result<Option<Bytes>, FormError> {
        self.consumed.reset();
        self.field.chunk().await.map_err(|_| FormError::Broken)
    }

    /// Reads the part to its end and discards it.
    async fn skip(mut self) -> Result<(), FormError> {
        while self.chunk().await?.is_some() {}
        Ok(())
    }
}

async fn image(part: FormPart, directory: &Path) -> Result<PartResult<SentImage>, FormError> {
    let name = part.field.file_name().filter(|name| !name.is_empty());
    let original_name = name.unwrap_or(DEFAULT_NAME).to_owned();
    let declared = type_of(&part.field).to_owned();
    // Read before the media type is checked: the form has to be read to its end in any case.
    let content = spool_part(part, directory, MAX_IMAGE).await?;
    let Some(kind) = ImageKind::of_type(&declared) else { return Ok(Err(FormError::NoImageType(declared))) };
    let mut file = match content {
        Ok(file) => file,
        Err(size) => return Ok(Err(FormError::ImageTooLarge { name: original_name, size })),
    };
    let validation =
        spawn_blocking(move || kind.matches_content(&mut file).map(|matches| matches.then_some(file)));
    let image = validation.await?.map(|file| SentImage { original_name, kind, file });
    Ok(image.ok_or(FormError::NoImageType(declared)))
}

fn is_sent_as_archive(part: &Field<'_>) -> bool {
    let kind = type_of(part);
    let has_extension =
        || part.file_name().is_some_and(|name| name.to_lowercase().ends_with(ARCHIVE_EXTENSION));
    ARCHIVE_TYPES.contains(&kind) || (kind == DEFAULT_TYPE && has_extension())
}

fn type_of<'a>(part: &'a Field<'_>) -> &'a str {
    part.content_type().map_or(DEFAULT_TYPE, |kind| kind.essence_str())
}

/// Spools a part. Reads it to its end even when it is too large; the inner error is its size in bytes.
async fn spool_part(
    mut part: FormPart,
    directory: &Path,
    max_bytes: u64,
) -> Result<Result<File, u64>, FormError> {
    let mut spool = SpoolFile::create(directory, None).await?;
    let mut size = 0;
    while let Some(bytes) = part.chunk().await? {
        size += bytes.len() as u64;
        // Beyond the limit the bytes are only counted: the error reports the full size.
        if size <= max_bytes {
            spool.write(&bytes).await?;
        }
    }
    Ok(if size > max_bytes { Err(size) } else { Ok(spool.finish().await?.file) })
}

#[expect(clippy::cast_precision_loss, reason = "displayed with one decimal")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / BYTES_PER_MIB
}

#[cfg(test)]
mod tests;
