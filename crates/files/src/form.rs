//! Forms as a browser sends them (`multipart/form-data`), with files in them. Those are on the disk,
//! without a name, while they are judged. A form is read to its end before any of it is refused: a
//! broken one is broken, whatever it begins with.

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

/// Bytes of one image.
const MAX_IMAGE: u64 = 10 * 1024 * 1024;
/// Bytes of an archive.
const MAX_ARCHIVE: u64 = 200 * 1024 * 1024;
const BYTES_PER_MIB: f64 = 1024.0 * 1024.0;
/// What a part without a type is taken for. It says nothing.
const BYTES: &str = "application/octet-stream";
/// What an image without a name is called.
const NAMELESS: &str = "file";
/// Types under which archives are sent.
const ARCHIVE_TYPES: [&str; 2] = ["application/zip", "application/x-zip-compressed"];
/// End of an archive's name, which decides when the type says nothing.
const ARCHIVE_ENDING: &str = ".zip";

/// Bytes that the parser is given before it has to look at them.
const PIECE: usize = 64 * 1024;
/// Bytes in which it has to find the next part, or more of one. Only a head that does not end takes
/// more.
const MAX_STEP: usize = 4 * PIECE;

/// A form that was not read yet.
#[derive(Debug)]
pub struct MultipartForm {
    parser: Multipart<'static>,
    taken: ByteCount,
}

/// Bytes that the parser was given since it began its present step.
#[derive(Debug, Clone, Default)]
struct ByteCount(Arc<AtomicUsize>);

/// A part of which the content was not read yet.
struct FormPart {
    field: Field<'static>,
    taken: ByteCount,
}

/// An image that may be saved.
#[derive(Debug)]
pub struct SentImage {
    /// As the sender called it; good for nothing but to be shown.
    pub original_name: String,
    /// What it says it is, and begins as.
    pub kind: ImageKind,
    /// At its beginning.
    pub file: File,
}

/// Why nothing is taken from a form.
#[derive(Debug, Error)]
pub enum FormError {
    /// It is no form, or a broken one.
    #[error("Invalid form data")]
    Broken,
    /// There is no file in it.
    #[error("No image files provided")]
    NoImage,
    /// A file of another type, or one whose content is not what its type says.
    #[error("File type not allowed: {0}. Allowed: png, jpeg, gif, webp")]
    NoImageType(String),
    /// An image above the limit.
    #[error("File too large: {name} ({:.1}MB). Max 10MB.", mib(*.size))]
    ImageTooLarge {
        /// As the sender called it.
        name: String,
        /// Bytes.
        size: u64,
    },
    /// There is no archive in it.
    #[error("No zip file provided")]
    NoArchive,
    /// An archive above the limit.
    #[error("Zip file too large (max 200MB)")]
    ArchiveTooLarge,
    /// The disk refused. The text names no path.
    #[error("{}", plain_text(.0))]
    Disk(#[from] io::Error),
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What is said about one part; its form is read on.
type PartResult<T> = Result<T, FormError>;

impl MultipartForm {
    /// The form in a body of this `Content-Type`.
    ///
    /// # Errors
    /// [`FormError::Broken`] when that is not the type of a form.
    pub fn new<S, E>(content_type: &str, body: S) -> Result<Self, FormError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<BoxError> + Send + 'static,
    {
        let boundary = multer::parse_boundary(content_type).map_err(|_| FormError::Broken)?;
        let taken = ByteCount::default();
        Ok(Self { parser: Multipart::new(taken.clone().bound(body), boundary), taken })
    }

    /// Its images, in their order, in files without a name that are made in this directory.
    ///
    /// # Errors
    /// When there is none, or one that is not taken; see [`FormError`].
    pub async fn images(mut self, directory: &Path) -> Result<Vec<SentImage>, FormError> {
        let mut images = Ok(Vec::new());
        while let Some(part) = self.next_part().await? {
            // Only files have a name of their own.
            if part.field.file_name().is_none() {
                part.skip().await?;
                continue;
            }
            match (image(part, directory).await?, &mut images) {
                (Ok(image), Ok(images)) => images.push(image),
                (Err(refusal), Ok(_)) => images = Err(refusal),
                (_, Err(_)) => {}
            }
        }
        images.and_then(|images| if images.is_empty() { Err(FormError::NoImage) } else { Ok(images) })
    }

    /// The first part that is sent as an archive, in a file without a name that is made in this
    /// directory.
    ///
    /// # Errors
    /// When there is none, or a larger one than is taken; see [`FormError`].
    pub async fn archive(mut self, directory: &Path) -> Result<File, FormError> {
        let mut archive = None;
        while let Some(part) = self.next_part().await? {
            if archive.is_none() && is_sent_as_archive(&part.field) {
                archive = Some(spooled(part, directory, MAX_ARCHIVE).await?);
            } else {
                part.skip().await?;
            }
        }
        archive.ok_or(FormError::NoArchive)?.map_err(|_| FormError::ArchiveTooLarge)
    }

    /// The next part; the one before was read to its end.
    async fn next_part(&mut self) -> Result<Option<FormPart>, FormError> {
        self.taken.reset();
        let field = self.parser.next_field().await.map_err(|_| FormError::Broken)?;
        Ok(field.map(|field| FormPart { field, taken: self.taken.clone() }))
    }
}

impl ByteCount {
    fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// The body in pieces. Left alone, the parser takes all that is there before it looks at any of
    /// it, and what came together with the end it takes for incomplete; here it looks after each.
    fn bound<E: Into<BoxError>>(
        self,
        body: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    ) -> impl Stream<Item = Result<Bytes, BoxError>> + Send {
        let (mut body, mut rest, mut unseen) = (Box::pin(body), Bytes::new(), false);
        stream::poll_fn(move |context| {
            if std::mem::take(&mut unseen) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if self.0.load(Ordering::Relaxed) >= MAX_STEP {
                return Poll::Ready(Some(Err("the head of a part does not end".into())));
            }
            if rest.is_empty() {
                match ready!(body.poll_next_unpin(context)) {
                    Some(Ok(bytes)) => rest = bytes,
                    end => return Poll::Ready(end.map(|end| end.map_err(Into::into))),
                }
            }
            let piece = rest.split_to(rest.len().min(PIECE));
            self.0.fetch_add(piece.len(), Ordering::Relaxed);
            unseen = true;
            Poll::Ready(Some(Ok(piece)))
        })
    }
}

impl FormPart {
    /// More of its content.
    async fn chunk(&mut self) -> Result<Option<Bytes>, FormError> {
        self.taken.reset();
        self.field.chunk().await.map_err(|_| FormError::Broken)
    }

    /// Reads on to its end.
    async fn skip(mut self) -> Result<(), FormError> {
        while self.chunk().await?.is_some() {}
        Ok(())
    }
}

async fn image(part: FormPart, directory: &Path) -> Result<PartResult<SentImage>, FormError> {
    let name = part.field.file_name().filter(|name| !name.is_empty());
    let original_name = name.unwrap_or(NAMELESS).to_owned();
    let declared = type_of(&part.field).to_owned();
    let content = spooled(part, directory, MAX_IMAGE).await?;
    let Some(kind) = ImageKind::of_type(&declared) else { return Ok(Err(FormError::NoImageType(declared))) };
    let mut file = match content {
        Ok(file) => file,
        Err(size) => return Ok(Err(FormError::ImageTooLarge { name: original_name, size })),
    };
    let judged = spawn_blocking(move || kind.is_that_of(&mut file).map(|right| right.then_some(file)));
    let image = judged.await?.map(|file| SentImage { original_name, kind, file });
    Ok(image.ok_or(FormError::NoImageType(declared)))
}

fn is_sent_as_archive(part: &Field<'_>) -> bool {
    let kind = type_of(part);
    let named = || part.file_name().is_some_and(|name| name.to_lowercase().ends_with(ARCHIVE_ENDING));
    ARCHIVE_TYPES.contains(&kind) || (kind == BYTES && named())
}

fn type_of<'a>(part: &'a Field<'_>) -> &'a str {
    part.content_type().map_or(BYTES, |kind| kind.essence_str())
}

/// Reads a part to its end. The inner error is the size in bytes of one that is larger than `most`.
async fn spooled(mut part: FormPart, directory: &Path, most: u64) -> Result<Result<File, u64>, FormError> {
    let mut spooling = SpoolFile::create(directory, None).await?;
    let mut size = 0;
    while let Some(bytes) = part.chunk().await? {
        size += bytes.len() as u64;
        if size <= most {
            spooling.write(&bytes).await?;
        }
    }
    Ok(if size > most { Err(size) } else { Ok(spooling.finish().await?.file) })
}

#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / BYTES_PER_MIB
}

#[cfg(test)]
mod tests;
