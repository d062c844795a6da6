//! Arbitrary form bodies in arbitrary chunks: chunking does not affect the result, accepted content equals
//! the sent one, and saved files get generated names.
#![no_main]

use std::convert::Infallible;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use loopgate_files::{Attachments, FormError, ImageKind, MultipartForm, SentImage};
use loopgate_home::{Overrides, Sandbox, SettingsStore};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const TYPE: &str = "multipart/form-data; boundary=edge";

#[derive(Debug, Arbitrary)]
struct UploadInput<'a> {
    form: Body<'a>,
    /// Sizes of the chunks; the last chunk contains all remaining bytes.
    pieces: Vec<u8>,
}

#[derive(Debug, Arbitrary)]
enum Body<'a> {
    Valid(Vec<Part<'a>>),
    /// A well-formed body in which some bytes are replaced.
    Damaged(Vec<Part<'a>>, u16, &'a [u8]),
    /// Arbitrary bytes with an arbitrary content type.
    Other {
        kind: &'a str,
        body: &'a [u8],
    },
}

#[derive(Debug, Arbitrary)]
struct Part<'a> {
    name: Option<Name>,
    kind: Kind,
    signature: Signature,
    rest: &'a [u8],
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Name {
    Empty,
    Image,
    Path,
    Archive,
}

#[derive(Debug, Clone, Copy, PartialEq, Arbitrary)]
enum Kind {
    None,
    Image(Signature),
    Archive,
    Bytes,
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Arbitrary)]
enum Signature {
    Png,
    Jpeg,
    Gif,
    WebP,
    Edge,
    Nothing,
}

/// Name, type and content of each image, or the error message.
type Images = Result<Vec<(String, ImageKind, Vec<u8>)>, String>;
type Archive = Result<Vec<u8>, String>;

struct UploadDirectory {
    dir: TempDir,
    spool: PathBuf,
    attachments: Attachments,
    runtime: Runtime,
}

static DIRECTORY: LazyLock<UploadDirectory> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let (spool, worktree) = (dir.path().join("spool"), dir.path().join("box/shop"));
    std::fs::create_dir(&spool).unwrap();
    std::fs::create_dir_all(&worktree).unwrap();
    let overrides =
        Overrides { sandbox_base_directory: Some(dir.path().join("box")), ..Overrides::default() };
    let store = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
    let sandbox = Sandbox::new(Arc::new(store), &spool);
    let attachments = Attachments::of(&sandbox, &sandbox.check(&worktree).unwrap()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    UploadDirectory { dir, spool, attachments, runtime }
});

impl Name {
    fn text(self) -> &'static str {
        match self {
            Self::Empty => "",
            Self::Image => "shot (1).png",
            Self::Path => "../../\u{e9}\u{1f4f7}",
            Self::Archive => "run.ZIP",
        }
    }
}

impl Kind {
    fn text(self) -> Option<&'static str> {
        Some(match self {
            Self::None => return None,
            Self::Image(Signature::Png) => "image/png",
            Self::Image(Signature::Jpeg) => "image/jpeg",
            Self::Image(Signature::Gif) => "image/gif; a=b",
            Self::Image(Signature::WebP) => "Image/WebP",
            Self::Image(_) => "image/svg+xml",
            Self::Archive => "application/zip",
            Self::Bytes => "application/octet-stream",
            Self::Text => "text/plain",
        })
    }
}

impl Signature {
    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Png => b"\x89PNG\r\n\x1a\n",
            Self::Jpeg => b"\xff\xd8\xff",
            Self::Gif => b"GIF89a",
            Self::WebP => b"RIFF\0\0\0\0WEBP",
            Self::Edge => b"\r\n--edg",
            Self::Nothing => b"",
        }
    }

    fn image(self) -> Option<ImageKind> {
        match self {
            Self::Png => Some(ImageKind::Png),
            Self::Jpeg => Some(ImageKind::Jpeg),
            Self::Gif => Some(ImageKind::Gif),
            Self::WebP => Some(ImageKind::WebP),
            Self::Edge | Self::Nothing => None,
        }
    }
}

impl Part<'_> {
    fn content(&self) -> Vec<u8> {
        [self.signature.bytes(), self.rest].concat()
    }

    /// Returns the image type if the declared content type matches the content.
    fn image(&self) -> Option<ImageKind> {
        let kind = self.signature.image()?;
        (self.kind == Kind::Image(self.signature)).then_some(kind)
    }

    fn is_archive(&self) -> bool {
        let has_archive_name = matches!(self.name, Some(Name::Archive));
        self.kind == Kind::Archive || (matches!(self.kind, Kind::None | Kind::Bytes) && has_archive_name)
    }

    fn write(&self, body: &mut Vec<u8>) {
        let mut head = "--edge\r\nContent-Disposition: form-data; name=\"x\"".to_owned();
        if let Some(name) = self.name {
            head.push_str(&format!("; filename=\"{}\"", name.text()));
        }
        if let Some(kind) = self.kind.text() {
            head.push_str(&format!("\r\nContent-Type: {kind}"));
        }
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(&self.content());
        body.extend_from_slice(b"\r\n");
    }
}

fn encode_parts(parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    parts.iter().for_each(|part| part.write(&mut body));
    body.extend_from_slice(b"--edge--\r\n");
    body
}

impl Body<'_> {
    fn encode(&self) -> (&str, Vec<u8>) {
        match self {
            Self::Valid(parts) => (TYPE, encode_parts(parts)),
            Self::Damaged(parts, position, replacement) => {
                let mut body = encode_parts(parts);
                let begin = usize::from(*position) % body.len();
                let end = body.len().min(begin + replacement.len().max(1));
                body.splice(begin..end, replacement.iter().copied());
                (TYPE, body)
            }
            Self::Other { kind, body } => (kind, body.to_vec()),
        }
    }

    /// Returns the parts of a well-formed body, unless a content contains the boundary, which makes the body
    /// ambiguous.
    fn parts(&self) -> Option<&[Part<'_>]> {
        let Self::Valid(parts) = self else { return None };
        // A content with the boundary would end its part early.
        let edge = |part: &Part<'_>| part.content().windows(8).any(|bytes| bytes == b"\r\n--edge");
        (!parts.iter().any(edge)).then_some(parts)
    }
}

/// Creates a form from chunks, with the reader suspended before each.
fn form(kind: &str, body: &[u8], sizes: &[u8]) -> Result<MultipartForm, FormError> {
    let mut pieces = Vec::new();
    let mut rest = Bytes::copy_from_slice(body);
    for size in sizes {
        let size = usize::from(*size).min(rest.len());
        pieces.push(rest.split_to(size));
    }
    pieces.push(rest);
    let pieces = stream::iter(pieces).then(|piece| async {
        // Returns `Pending` once, so that every parser state is left and entered again.
        tokio::task::yield_now().await;
        Ok::<_, Infallible>(piece)
    });
    MultipartForm::new(kind, pieces)
}

fn content(mut file: File) -> Vec<u8> {
    let mut content = Vec::new();
    assert_eq!(file.stream_position().unwrap(), 0);
    file.read_to_end(&mut content).unwrap();
    content
}

fn error_text(error: FormError) -> String {
    assert!(!matches!(error, FormError::Disk(_)), "{error:?}");
    error.to_string()
}

fn images(directory: &UploadDirectory, form: Result<MultipartForm, FormError>) -> Images {
    let read = form.and_then(|form| directory.runtime.block_on(form.images(&directory.spool)));
    let read = read.map_err(error_text)?.into_iter();
    Ok(read.map(|SentImage { original_name, kind, file }| (original_name, kind, content(file))).collect())
}

fn archive(directory: &UploadDirectory, form: Result<MultipartForm, FormError>) -> Archive {
    let read = form.and_then(|form| directory.runtime.block_on(form.archive(&directory.spool)));
    read.map(content).map_err(error_text)
}

/// Returns the expected images and archive of a well-formed body.
fn expected(parts: &[Part<'_>]) -> (Option<Vec<(String, ImageKind, Vec<u8>)>>, Option<Vec<u8>>) {
    let images = parts.iter().filter_map(|part| {
        let name = match part.name? {
            Name::Empty => "file",
            name => name.text(),
        };
        Some(part.image().map(|kind| (name.to_owned(), kind, part.content())))
    });
    let images: Option<Vec<_>> = images.collect();
    let archive = parts.iter().find(|part| part.is_archive()).map(Part::content);
    (images.filter(|images| !images.is_empty()), archive)
}

/// Saves the images and checks the stored files.
fn save(directory: &UploadDirectory, form: MultipartForm, accepted: &[(String, ImageKind, Vec<u8>)]) {
    let images = directory.runtime.block_on(form.images(&directory.spool)).unwrap();
    let saved =
        directory.attachments.save(images.into_iter().map(|image| (image.kind, image.file)).collect());
    let saved = saved.unwrap();
    assert_eq!(saved.len(), accepted.len());
    let directory: &Path = directory.attachments.directory().as_path();
    for (saved, (_, _, content)) in saved.iter().zip(accepted) {
        assert_eq!(saved.path, directory.join(&saved.name));
        assert!(saved.name.starts_with("chat-img-") && !saved.name.contains('/'), "{}", saved.name);
        assert_eq!((&std::fs::read(&saved.path).unwrap(), saved.size), (content, content.len() as u64));
    }
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), saved.len());
    std::fs::remove_dir_all(directory).unwrap();
}

fuzz_target!(|input: UploadInput<'_>| {
    let directory = &*DIRECTORY;
    let (kind, body) = input.form.encode();
    let in_one_piece = || form(kind, &body, &[]);
    let pieces = || form(kind, &body, &input.pieces);
    let (images_read, archive_read) = (images(directory, in_one_piece()), archive(directory, in_one_piece()));
    assert_eq!(images_read, images(directory, pieces()), "the result depends on the chunks");
    assert_eq!(archive_read, archive(directory, pieces()), "the result depends on the chunks");
    if let Some(parts) = input.form.parts() {
        let (images, archive) = expected(parts);
        assert_eq!(images_read.as_ref().ok(), images.as_ref(), "{images_read:?}");
        assert_eq!(archive_read.as_ref().ok(), archive.as_ref(), "{archive_read:?}");
    }
    if let Ok(accepted) = &images_read {
        save(directory, pieces().unwrap(), accepted);
    }
    // Spooled parts are unnamed files, so none remain, also after errors.
    assert_eq!(std::fs::read_dir(&directory.spool).unwrap().count(), 0);
    assert!(directory.dir.path().join("box/shop").is_dir());
});
