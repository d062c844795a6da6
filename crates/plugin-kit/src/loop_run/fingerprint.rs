//! One hash of everything that an iteration is there to change: the files of the loop's repositories, and the
//! documents of its work directory.

use std::path::{Path, PathBuf};

use loopgate_api::names::{EXIT_FILE, LAUNCH_METADATA, LOOP_ERROR, STATE_JSON};
use loopgate_home::{EntryKind, untrusted};
use sha2::{Digest, Sha256};

use super::driver::Driver;
use crate::project_git::ProjectGit;

/// Documents of a work directory that change although nothing was done.
const RUN_RECORDS: [&str; 5] = [EXIT_FILE, LAUNCH_METADATA, LOOP_ERROR, STATE_JSON, "log.md"];

/// Bytes of a document that are looked at.
const DOCUMENT_CAP: u64 = 16 * 1024 * 1024;

impl Driver {
    /// Hash of everything that an iteration is there to change; `None` where git cannot say.
    pub(super) async fn fingerprint(&self) -> Option<String> {
        let mut hash = Sha256::new();
        for repository in self.repositories() {
            let git = ProjectGit::at(&repository, &self.context.env, &self.stop);
            hash.update(git.snapshot().await?);
        }
        for name in documents(&self.state.workdir) {
            hash.update(name.as_os_str().as_encoded_bytes());
            hash.update(Sha256::digest(untrusted::read(&name, DOCUMENT_CAP).unwrap_or_default()));
        }
        Some(hex::encode(hash.finalize()))
    }

    fn repositories(&self) -> impl Iterator<Item = PathBuf> {
        std::iter::once(self.context.project_root.clone()).chain(self.peers())
    }
}

/// The documents of a work directory, in order.
fn documents(workdir: &Path) -> Vec<PathBuf> {
    let mut names: Vec<_> = untrusted::entries(workdir)
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::File)
        .filter_map(|entry| entry.name.into_string().ok())
        .filter(|name| {
            (name.ends_with(".md") || name.ends_with(".json")) && !RUN_RECORDS.contains(&name.as_str())
        })
        .map(|name| workdir.join(name))
        .collect();
    names.sort();
    names
}
