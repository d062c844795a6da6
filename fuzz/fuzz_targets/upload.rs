//! Any body that is sent as a form, cut anywhere: the cuts change nothing, what is taken is what was
//! sent, and what is saved is under a name of its own.
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
use loopgate_files::{Attachments, MultipartForm, FormError, ImageKind, SentImage};
use loopgate_home::{Overrides, Sandbox, SettingsStore};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const TYPE: &str = "multipart/form-data; boundary=edge";

#[derive(Debug, Arbitrary)]
struct Sent<'a> {
    form: Body<'a>,
    /// Bytes of the pieces in which it comes, one after the other; the last one holds the rest.
    pieces: Vec<u8>,
}

#[derive(Debug, Arbitrary)]
enum Body<'a> {
    /// Made as it should be.
    Made(Vec<Part<'a>>),
    /// The same, and then something is wrong at one place.
    Damaged(Vec<Part<'a>>, u16, &'a [u8]),
    /// Anything.
    Other { kind: &'a str, body: &'a [u8] },
}

#[derive(Debug, Arbitrary)]
struct Part<'a> {
    name: Option<Name>,
    kind: Kind,
    beginning: Beginning,
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
    Image(Beginning),
    Archive,
    Bytes,
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Arbitrary)]
enum Beginning {
    Png,
    Jpeg,
    Gif,
    WebP,
    Edge,
    Nothing,
}

/// What was read: the name, the kind and the content of each image, or why there is none.
type Images = Result<Vec<(String, ImageKind, Vec<u8>)>, String>;
type Archive = Result<Vec<u8>, String>;

struct Place {
    dir: TempDir,
    spool: PathBuf,
    attachments: Attachments,
    runtime: Runtime,
}

static PLACE: LazyLock<Place> = LazyLock::new(|| {
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
    Place { dir, spool, attachments, runtime }
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
            Self::Image(Beginning::Png) => "image/png",
            Self::Image(Beginning::Jpeg) => "image/jpeg",
            Self::Image(Beginning::Gif) => "image/gif; a=b",
            Self::Image(Beginning::WebP) => "Image/WebP",
            Self::Image(_) => "image/svg+xml",
            Self::Archive => "application/zip",
            Self::Bytes => "application/octet-stream",
            Self::Text => "text/plain",
        })
    }
}

impl Beginning {
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
        [self.beginning.bytes(), self.rest].concat()
    }

    /// An image that says what it is.
    fn image(&self) -> Option<ImageKind> {
        let kind = self.beginning.image()?;
        (self.kind == Kind::Image(self.beginning)).then_some(kind)
    }

    fn is_archive(&self) -> bool {
        let named = matches!(self.name, Some(Name::Archive));
        self.kind == Kind::Archive || (matches!(self.kind, Kind::None | Kind::Bytes) && named)
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

fn written(parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    parts.iter().for_each(|part| part.write(&mut body));
    body.extend_from_slice(b"--edge--\r\n");
    body
}

impl Body<'_> {
    fn sent(&self) -> (&str, Vec<u8>) {
        match self {
            Self::Made(parts) => (TYPE, written(parts)),
            Self::Damaged(parts, place, wrong) => {
                let mut body = written(parts);
                let begin = usize::from(*place) % body.len();
                let end = body.len().min(begin + wrong.len().max(1));
                body.splice(begin..end, wrong.iter().copied());
                (TYPE, body)
            }
            Self::Other { kind, body } => (kind, body.to_vec()),
        }
    }

    /// The parts, where nobody can see an edge that is none.
    fn plain(&self) -> Option<&[Part<'_>]> {
        let Self::Made(parts) = self else { return None };
        let edge = |part: &Part<'_>| part.content().windows(8).any(|bytes| bytes == b"\r\n--edge");
        (!parts.iter().any(edge)).then_some(parts)
    }
}

/// The form, whose reader is let wait before each piece.
fn form(kind: &str, body: &[u8], sizes: &[u8]) -> Result<MultipartForm, FormError> {
    let mut pieces = Vec::new();
    let mut rest = Bytes::copy_from_slice(body);
    for size in sizes {
        let size = usize::from(*size).min(rest.len());
        pieces.push(rest.split_to(size));
    }
    pieces.push(rest);
    let pieces = stream::iter(pieces).then(|piece| async {
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

fn said(error: FormError) -> String {
    assert!(!matches!(error, FormError::Disk(_)), "{error:?}");
    error.to_string()
}

fn images(place: &Place, form: Result<MultipartForm, FormError>) -> Images {
    let read = form.and_then(|form| place.runtime.block_on(form.images(&place.spool)));
    let read = read.map_err(said)?.into_iter();
    Ok(read.map(|SentImage { original_name, kind, file }| (original_name, kind, content(file))).collect())
}

fn archive(place: &Place, form: Result<MultipartForm, FormError>) -> Archive {
    let read = form.and_then(|form| place.runtime.block_on(form.archive(&place.spool)));
    read.map(content).map_err(said)
}

/// What should have been read of a form whose parts are known.
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

/// Saves what was taken, and looks at what is there.
fn save(place: &Place, form: MultipartForm, taken: &[(String, ImageKind, Vec<u8>)]) {
    let images = place.runtime.block_on(form.images(&place.spool)).unwrap();
    let saved = place.attachments.save(images.into_iter().map(|image| (image.kind, image.file)).collect());
    let saved = saved.unwrap();
    assert_eq!(saved.len(), taken.len());
    let directory: &Path = place.attachments.directory().as_path();
    for (saved, (_, _, content)) in saved.iter().zip(taken) {
        assert_eq!(saved.path, directory.join(&saved.name));
        assert!(saved.name.starts_with("chat-img-") && !saved.name.contains('/'), "{}", saved.name);
        assert_eq!((&std::fs::read(&saved.path).unwrap(), saved.size), (content, content.len() as u64));
    }
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), saved.len());
    std::fs::remove_dir_all(directory).unwrap();
}

fuzz_target!(|sent: Sent<'_>| {
    let place = &*PLACE;
    let (kind, body) = sent.form.sent();
    let whole = || form(kind, &body, &[]);
    let pieces = || form(kind, &body, &sent.pieces);
    let (images_read, archive_read) = (images(place, whole()), archive(place, whole()));
    assert_eq!(images_read, images(place, pieces()), "cut into pieces");
    assert_eq!(archive_read, archive(place, pieces()), "cut into pieces");
    if let Some(parts) = sent.form.plain() {
        let (images, archive) = expected(parts);
        assert_eq!(images_read.as_ref().ok(), images.as_ref(), "{images_read:?}");
        assert_eq!(archive_read.as_ref().ok(), archive.as_ref(), "{archive_read:?}");
    }
    if let Ok(taken) = &images_read {
        save(place, pieces().unwrap(), taken);
    }
    assert_eq!(std::fs::read_dir(&place.spool).unwrap().count(), 0);
    assert!(place.dir.path().join("box/shop").is_dir());
});
