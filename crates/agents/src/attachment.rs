//! Files attached to a message of the user.

use std::path::PathBuf;

/// A file attached to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageAttachment {
    /// Absolute path of the stored file.
    pub path: PathBuf,
    /// Whether the file is an image in a format that models accept.
    pub is_image: bool,
}

/// Returns the lines of a prompt that list the files; empty without files.
#[must_use]
pub fn prompt_lines(attachments: &[MessageAttachment]) -> String {
    if attachments.is_empty() {
        return String::new();
    }
    let lines = attachments.iter().map(|attachment| format!("- {}\n", attachment.path.display()));
    format!("Attached files, read them:\n{}\n", lines.collect::<String>())
}

/// Returns the paths of the images.
#[must_use]
pub fn images(attachments: &[MessageAttachment]) -> Vec<PathBuf> {
    attachments.iter().filter(|attachment| attachment.is_image).map(|image| image.path.clone()).collect()
}
