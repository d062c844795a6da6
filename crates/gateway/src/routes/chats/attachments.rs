//! Files that a person sends with a message of a chat.

use loopgate_agents::Attachment;
use loopgate_files::ImageKind;
use loopgate_home::Sandbox;
use serde::Deserialize;
use serde_json::Value;

use crate::error::HttpError;

/// Files of one message.
const MAX_FILES: usize = 10;
/// MiB of one file.
const MAX_MIB: u64 = 10;
const BYTES_PER_MIB: u64 = 1024 * 1024;

/// The paths of a message's attachments, as they were sent.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(in crate::routes) struct AttachmentPaths(Value);

impl AttachmentPaths {
    /// Blocks on the disk.
    ///
    /// # Errors
    /// 403 for one outside the sandbox; 400 for what is no list, no regular file, or too much.
    pub(in crate::routes) fn check(&self, sandbox: &Sandbox) -> Result<Vec<Attachment>, HttpError> {
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

fn check(sandbox: &Sandbox, path: &str) -> Result<Attachment, HttpError> {
    let allowed = sandbox.check(path).map_err(|_| HttpError::directory_not_allowed())?;
    let no_file = |_| HttpError::bad_request(format!("attachment is not a file that can be read: {path}"));
    let mut file = allowed.open_file().map_err(no_file)?;
    let size = file.metadata().map_err(no_file)?.len();
    if size > MAX_MIB * BYTES_PER_MIB {
        let error = format!("attachment is too large: {path} ({size} bytes). Max {MAX_MIB}MB.");
        return Err(HttpError::bad_request(error));
    }
    let is_image = ImageKind::of_file(&mut file).map_err(no_file)?.is_some();
    Ok(Attachment { path: allowed.canonical().to_owned(), is_image })
}
