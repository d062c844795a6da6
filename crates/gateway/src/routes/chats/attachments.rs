//! Files attached to a chat message.

use loopgate_agents::MessageAttachment;
use loopgate_files::ImageKind;
use loopgate_home::Sandbox;
use serde::Deserialize;
use serde_json::Value;

use crate::error::HttpError;

/// Files per message. Each is opened and probed before the message is stored.
const MAX_FILES: usize = 10;
/// Largest attachment in MiB, the same limit as for uploaded images.
const MAX_MIB: u64 = 10;
const BYTES_PER_MIB: u64 = 1024 * 1024;

/// Paths of a message's attachments, not yet validated. Kept as JSON so that a malformed list is a 400 and
/// not silently ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(in crate::routes) struct AttachmentPaths(Value);

impl AttachmentPaths {
    /// Resolves and validates the paths. Performs blocking I/O.
    ///
    /// # Errors
    /// 403 when a path is outside the sandbox; 400 when the value is not a list of paths, a path is not a
    /// readable regular file, or a limit is exceeded.
    pub(in crate::routes) fn check(&self, sandbox: &Sandbox) -> Result<Vec<MessageAttachment>, HttpError> {
        // The value is null for an absent member, and for clients that send `null` explicitly.
        if self.0.is_null() {
            return Ok(Vec::new());
        }
        let paths = Vec::<String>::deserialize(&self.0)
            .map_err(|_| HttpError::bad_request("attachments must be a list of paths"))?;
        if paths.len() > MAX_FILES {
            let error = format!("Too many attachments: {}. Max {MAX_FILES}.", paths.len());
            return Err(HttpError::bad_request(error));
        }
        paths.iter().map(|path| check(sandbox, path)).collect()
    }
}

fn check(sandbox: &Sandbox, path: &str) -> Result<MessageAttachment, HttpError> {
    let allowed = sandbox.check(path).map_err(|_| HttpError::directory_not_allowed())?;
    let unreadable = |_| HttpError::bad_request(format!("attachment is not a readable file: {path}"));
    // Size and type are read from the open file, not from the path, which could be replaced in between.
    let mut file = allowed.open_file().map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    if size > MAX_MIB * BYTES_PER_MIB {
        let error = format!("attachment is too large: {path} ({size} bytes). Max {MAX_MIB}MB.");
        return Err(HttpError::bad_request(error));
    }
    // Detected from the first bytes, not from the extension. Providers with an image option receive images
    // through it; all providers get the paths.
    let is_image = ImageKind::of_file(&mut file).map_err(unreadable)?.is_some();
    Ok(MessageAttachment { path: allowed.canonical().to_owned(), is_image })
}
