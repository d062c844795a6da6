//! Images that users attach to a ticket.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::PathBuf;

use loopgate_home::Directory;

use crate::attachments::Attachments;

/// Number of attempts to find an unused file name.
const NAME_ATTEMPTS: u32 = 16;
/// Number of leading bytes that identify every supported format.
const HEADER_BYTES: usize = 12;

/// A supported image format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageKind {
    Png,
    Jpeg,
    Gif,
    WebP,
}

impl ImageKind {
    const ALL: [Self; 4] = [Self::Png, Self::Jpeg, Self::Gif, Self::WebP];

    /// Returns the format for a media type.
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

    /// Returns whether the content of a file, positioned at its start, is of this format. Leaves the file at
    /// its start. Blocks on disk I/O.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn matches_content(self, file: &mut File) -> io::Result<bool> {
        let mut head = Vec::with_capacity(HEADER_BYTES);
        file.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut head)?;
        file.rewind()?;
        Ok(match self {
            Self::Png => head.starts_with(b"\x89PNG\r\n\x1a\n"),
            Self::Jpeg => head.starts_with(b"\xff\xd8\xff"),
            Self::Gif => head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a"),
            Self::WebP => head.starts_with(b"RIFF") && head.get(8..) == Some(b"WEBP"),
        })
    }

    /// Detects the format of a file, positioned at its start. Leaves the file at its start. Blocks on disk
    /// I/O.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn of_file(file: &mut File) -> io::Result<Option<Self>> {
        for kind in Self::ALL {
            if kind.matches_content(file)? {
                return Ok(Some(kind));
            }
        }
        Ok(None)
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Gif => "gif",
            Self::WebP => "webp",
        }
    }
}

/// An image that was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedImage {
    /// Generated file name; contains nothing that the client sent.
    pub name: String,
    /// Absolute path of the file.
    pub path: PathBuf,
    /// Size in bytes of the file.
    pub size: u64,
}

impl Attachments {
    /// Saves images, all of them or none. Blocks on disk I/O.
    ///
    /// # Errors
    /// Any failure of the file system; images that were written before it are removed.
    pub fn save(&self, images: Vec<(ImageKind, File)>) -> io::Result<Vec<SavedImage>> {
        let directory = self.directory().create_directory()?;
        let mut saved = Vec::with_capacity(images.len());
        for (kind, mut file) in images {
            match self.save_one(&directory, kind, &mut file) {
                Ok(image) => saved.push(image),
                Err(error) => {
                    for image in saved {
                        // Best-effort: the original error is the one to report.
                        let _ = directory.remove_file(OsStr::new(&image.name));
                    }
                    return Err(error);
                }
            }
        }
        Ok(saved)
    }

    fn save_one(&self, directory: &Directory, kind: ImageKind, file: &mut File) -> io::Result<SavedImage> {
        let mut attempts = 1;
        loop {
            let name = format!(
                "chat-img-{}-{:04x}.{}",
                jiff::Timestamp::now().as_millisecond(),
                rand::random::<u16>(),
                kind.extension()
            );
            match directory.write_new(OsStr::new(&name), file) {
                // Two uploads in one millisecond collide with a probability of 1 in 65,536.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < NAME_ATTEMPTS => {
                    attempts += 1
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
    fn format_is_detected_from_first_bytes() {
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
        for (head, expected) in heads {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(head).unwrap();
            file.rewind().unwrap();
            assert_eq!(ImageKind::of_file(&mut file).unwrap(), expected, "{head:?}");
            for kind in ImageKind::ALL {
                assert_eq!(kind.matches_content(&mut file).unwrap(), expected == Some(kind), "{head:?}");
            }
        }
        assert_eq!(ImageKind::of_type("image/svg+xml"), None);
    }
}
