//! Images that a person adds to a ticket, in the work directory of its worktree.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::PathBuf;

use loopgate_home::Directory;

use crate::attachments::Attachments;

/// Names that are tried for one image before giving up.
const NAME_TRIES: u32 = 16;
/// Bytes that are enough to detect every kind.
const HEAD: usize = 12;

/// A kind of image that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageKind {
    /// PNG
    Png,
    /// JPEG
    Jpeg,
    /// GIF
    Gif,
    /// WebP
    WebP,
}

impl ImageKind {
    const ALL: [Self; 4] = [Self::Png, Self::Jpeg, Self::Gif, Self::WebP];

    /// The kind of a media type.
    #[must_use]
    pub fn of_type(media_type: &str) -> Option<Self> {
        match media_type {
            "image/png" => Some(Self::Png),
            "image/jpeg" => Some(Self::Jpeg),
            "image/gif" => Some(Self::Gif),
            "image/webp" => Some(Self::WebP),
            _ => None,
        }
    }

    /// Whether a file, at its beginning, really is of this kind; it is at its beginning again
    /// afterwards. Blocks on the disk.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn is_that_of(self, file: &mut File) -> io::Result<bool> {
        let mut head = Vec::with_capacity(HEAD);
        file.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        file.rewind()?;
        Ok(match self {
            Self::Png => head.starts_with(b"\x89PNG\r\n\x1a\n"),
            Self::Jpeg => head.starts_with(b"\xff\xd8\xff"),
            Self::Gif => head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a"),
            Self::WebP => head.starts_with(b"RIFF") && head.get(8..) == Some(b"WEBP"),
        })
    }

    /// The kind of a file at its beginning, by its first bytes; it is at its beginning again afterwards. Blocks on
    /// the disk.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn of_file(file: &mut File) -> io::Result<Option<Self>> {
        for kind in Self::ALL {
            if kind.is_that_of(file)? {
                return Ok(Some(kind));
            }
        }
        Ok(None)
    }

    const fn ending(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Gif => "gif",
            Self::WebP => "webp",
        }
    }
}

/// An image that is in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedImage {
    /// Its name, which nothing of the sender's is part of.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
}

impl Attachments {
    /// Puts images in their place, all of them or none. Blocks on the disk.
    ///
    /// # Errors
    /// Any failure of the file system; what was written before it is removed.
    pub fn save(&self, images: Vec<(ImageKind, File)>) -> io::Result<Vec<SavedImage>> {
        let directory = self.directory().make_directory()?;
        let mut saved = Vec::with_capacity(images.len());
        for (kind, mut file) in images {
            match self.save_one(&directory, kind, &mut file) {
                Ok(image) => saved.push(image),
                Err(error) => {
                    for image in saved {
                        let _ = directory.remove_file(OsStr::new(&image.name));
                    }
                    return Err(error);
                }
            }
        }
        Ok(saved)
    }

    fn save_one(&self, directory: &Directory, kind: ImageKind, file: &mut File) -> io::Result<SavedImage> {
        let mut tries = 1;
        loop {
            let name = format!(
                "chat-img-{}-{:04x}.{}",
                jiff::Timestamp::now().as_millisecond(),
                rand::random::<u16>(),
                kind.ending()
            );
            match directory.write_new(OsStr::new(&name), file) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < NAME_TRIES => {
                    tries += 1
                }
                Err(error) => return Err(error),
                Ok(size) => {
                    return Ok(SavedImage { path: self.directory().as_path().join(&name), name, size });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn kinds_are_told_by_their_first_bytes() {
        let heads: [(&[u8], Option<ImageKind>); 8] = [
            (b"\x89PNG\r\n\x1a\n and more", Some(ImageKind::Png)),
            (b"\xff\xd8\xff\xe0", Some(ImageKind::Jpeg)),
            (b"GIF89a", Some(ImageKind::Gif)),
            (b"GIF87a.......", Some(ImageKind::Gif)),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some(ImageKind::WebP)),
            (b"RIFF\0\0\0\0WAVE", None),
            (b"<svg", None),
            (b"", None),
        ];
        for (head, wanted) in heads {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(head).unwrap();
            file.rewind().unwrap();
            assert_eq!(ImageKind::of_file(&mut file).unwrap(), wanted, "{head:?}");
            for kind in ImageKind::ALL {
                assert_eq!(kind.is_that_of(&mut file).unwrap(), wanted == Some(kind), "{head:?}");
            }
        }
        assert_eq!(ImageKind::of_type("image/svg+xml"), None);
    }
}
