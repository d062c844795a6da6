//! Inputs of commands that write documents: the request, all documents, and information about the
//! repositories.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::command::LoopCommand;
use loopgate_api::ids::safe_id;
use loopgate_home::untrusted::{make_private_directory, write_private};
use serde::Serialize;
use serde_json::json;

use super::{PROMPT_MD, StagedInputs, StagingDirs, remove_if_exists};
use crate::request::LoopRequest;

// Used when a DECOMPOSE request has no prompt.
const DECOMPOSE: &str = "Split these requirements into features that can be planned and built one by one.";

pub(super) fn stage(request: &LoopRequest, site: &StagingDirs<'_>) -> io::Result<StagedInputs> {
    let directory = site.context();
    make_private_directory(&directory)?;
    let mut inputs = Vec::new();
    let mut put = |path: PathBuf, bytes: &[u8]| -> io::Result<()> {
        write_private(&path, bytes)?;
        inputs.push(path);
        Ok(())
    };
    let default_prompt = (request.command == LoopCommand::Decompose).then_some(DECOMPOSE);
    match request.prompt.as_deref().or(default_prompt) {
        Some(prompt) => put(directory.join(PROMPT_MD), prompt.as_bytes())?,
        // A prompt of an earlier loop in this directory must not apply to this one.
        None => remove_if_exists(&directory.join(PROMPT_MD))?,
    }
    if let Some(repo) = &request.repo {
        put(directory.join("repo-info.json"), &serde_json::to_vec_pretty(repo)?)?;
    }
    if !site.peers.is_empty() {
        let peers = json!({"peers": site.peers});
        put(directory.join("peer-repos.json"), &serde_json::to_vec_pretty(&peers)?)?;
    }
    let artifacts = directory.join("artifacts");
    for artifact in &request.artifacts {
        let kind = kind_name(artifact.kind);
        let title = Some(artifact.title.trim()).filter(|title| !title.is_empty()).unwrap_or("Untitled");
        let text = format!("# {title}\n\n{}", artifact.content);
        put(inside(&artifacts, &format!("{kind}-{}.md", safe_id(&artifact.id)))?, text.as_bytes())?;
    }
    Ok(StagedInputs { inputs, ..StagedInputs::default() })
}

/// Returns the kind of a document in a form that is safe in file names.
pub(super) fn kind_name(kind: impl Serialize) -> String {
    let name = serde_json::to_value(kind).unwrap_or_default();
    safe_id(&name.as_str().unwrap_or_default().to_lowercase())
}

/// Joins a directory and a file name. Fails when the name would leave the directory.
pub(super) fn inside(directory: &Path, name: &str) -> io::Result<PathBuf> {
    if Path::new(name).components().count() == 1 && !name.contains(['/', '\\']) {
        return Ok(directory.join(name));
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "the file name contains a path separator"))
}
