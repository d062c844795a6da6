//! What a writing command is handed along: the wish, every document, and what is known of the
//! repositories.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::command::LoopCommand;
use loopgate_api::ids::safe_id;
use loopgate_home::untrusted::{make_private_directory, write_private};
use serde::Serialize;
use serde_json::json;

use super::{PROMPT_MD, StagedInputs, StagingDirs, remove_if_there};
use crate::request::LoopRequest;

/// Default prompt of a decomposition.
const DECOMPOSE: &str = "Split these requirements into features that can be planned and built one by one.";

pub(super) fn stage(request: &LoopRequest, site: &StagingDirs<'_>) -> io::Result<StagedInputs> {
    let place = site.context();
    make_private_directory(&place)?;
    let mut inputs = Vec::new();
    let mut put = |path: PathBuf, bytes: &[u8]| -> io::Result<()> {
        write_private(&path, bytes)?;
        inputs.push(path);
        Ok(())
    };
    let standing = (request.command == LoopCommand::Decompose).then_some(DECOMPOSE);
    match request.prompt.as_deref().or(standing) {
        Some(prompt) => put(place.join(PROMPT_MD), prompt.as_bytes())?,
        None => remove_if_there(&place.join(PROMPT_MD))?,
    }
    if let Some(repo) = &request.repo {
        put(place.join("repo-info.json"), &serde_json::to_vec_pretty(repo)?)?;
    }
    if !site.peers.is_empty() {
        let peers = json!({"peers": site.peers});
        put(place.join("peer-repos.json"), &serde_json::to_vec_pretty(&peers)?)?;
    }
    let artifacts = place.join("artifacts");
    for artifact in &request.artifacts {
        let kind = kind_name(artifact.kind);
        let title = Some(artifact.title.trim()).filter(|title| !title.is_empty()).unwrap_or("Untitled");
        let text = format!("# {title}\n\n{}", artifact.content);
        put(inside(&artifacts, &format!("{kind}-{}.md", safe_id(&artifact.id)))?, text.as_bytes())?;
    }
    Ok(StagedInputs { inputs, ..StagedInputs::default() })
}

/// The kind of a document as a part of a file's name.
pub(super) fn kind_name(kind: impl Serialize) -> String {
    let name = serde_json::to_value(kind).unwrap_or_default();
    safe_id(&name.as_str().unwrap_or_default().to_lowercase())
}

/// A file directly in a directory.
pub(super) fn inside(directory: &Path, name: &str) -> io::Result<PathBuf> {
    if Path::new(name).components().count() == 1 && !name.contains(['/', '\\']) {
        return Ok(directory.join(name));
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "the name leads out of its directory"))
}
