//! Files that a person sends with a message.

use std::path::PathBuf;

/// A file that a person sends with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Its absolute path.
    pub path: PathBuf,
    /// Whether it is an image that models take.
    pub is_image: bool,
}

/// The lines of a prompt that name the files; empty without any.
#[must_use]
pub fn prompt_lines(attachments: &[Attachment]) -> String {
    if attachments.is_empty() {
        return String::new();
    }
    let lines = attachments.iter().map(|attachment| format!("- {}\n", attachment.path.display()));
    format!("Attached files, read them:\n{}\n", lines.collect::<String>())
}

/// The paths of those that are images.
#[must_use]
pub fn images(attachments: &[Attachment]) -> Vec<PathBuf> {
    attachments.iter().filter(|attachment| attachment.is_image).map(|image| image.path.clone()).collect()
}
