//! Fingerprint of everything that an iteration may change: the files of the loop's repositories and the
//! documents of its work directory. Equal fingerprints mean that the loop made no progress.

use std::path::{Path, PathBuf};

use loopgate_api::names::{EXIT_FILE, LAUNCH_METADATA, LOOP_ERROR, STATE_JSON};
use loopgate_home::{EntryKind, untrusted};
use sha2::{Digest, Sha256};

use super::driver::Driver;
use crate::project_git::ProjectGit;

/// Documents of a work directory that change in every iteration, even in one without progress.
const RUN_RECORDS: [&str; 5] = [EXIT_FILE, LAUNCH_METADATA, LOOP_ERROR, STATE_JSON, "log.md"];

/// Upper bound of bytes read per document, so that a runaway file cannot exhaust memory.
const DOCUMENT_CAP: u64 = 16 * 1024 * 1024;

impl Driver {
    /// Computes the fingerprint. `None` when git cannot produce a snapshot of a repository.
    pub(super) async fn fingerprint(&self) -> Option<String> {
        let mut hash = Sha256::new();
        for repository in self.repositories() {
            let git = ProjectGit::at(&repository, &self.context.env, &self.stop);
            // A snapshot includes untracked files, because an iteration commits nothing.
            for (path, tree) in git.snapshots().await? {
                hash.update(path.as_os_str().as_encoded_bytes());
                hash.update(tree);
            }
        }
        for name in documents(&self.state.workdir) {
            hash.update(name.as_os_str().as_encoded_bytes());
            // A document above the cap or unreadable hashes as empty: its name still counts, changes of it do
            // not.
            hash.update(Sha256::digest(untrusted::read(&name, DOCUMENT_CAP).unwrap_or_default()));
        }
        Some(hex::encode(hash.finalize()))
    }

    /// Lists the project and the further repositories of the loop.
    pub(super) fn repositories(&self) -> impl Iterator<Item = PathBuf> {
        std::iter::once(self.context.project_root.clone()).chain(self.peers())
    }
}

/// Lists the documents of a work directory, sorted so that the hash does not depend on directory order.
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
