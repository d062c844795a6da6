//! Whether iterations still move anything: the loop's documents, or the files of its repositories.

use std::path::{Path, PathBuf};

use loopgate_api::names::{EXIT_FILE, LAUNCH_METADATA, LOOP_ERROR, STATE_JSON};
use loopgate_home::{EntryKind, untrusted};
use sha2::{Digest, Sha256};

use super::driver::Driver;
use crate::project_git::ProjectGit;

/// Iterations in a row without any change after which the loop asks its user.
const IDLE_ITERATIONS: u32 = 2;
/// Documents of a work directory that change although nothing was done.
const RUN_RECORDS: [&str; 5] = [EXIT_FILE, LAUNCH_METADATA, LOOP_ERROR, STATE_JSON, "log.md"];

/// Bytes of a document that are looked at.
const DOCUMENT_CAP: u64 = 16 * 1024 * 1024;

/// Compares the state after each iteration with that before it.
#[derive(Debug, Default)]
pub struct Progress {
    last: Option<String>,
    idle: u32,
}

impl Progress {
    /// Takes the state after an iteration; whether the loop stands still.
    pub fn stands_still(&mut self, fingerprint: Option<String>) -> bool {
        let same = fingerprint.is_some() && fingerprint == self.last;
        self.idle = if same { self.idle + 1 } else { 0 };
        self.last = fingerprint;
        self.idle >= IDLE_ITERATIONS
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_iterations_without_a_change_are_standing_still() {
        let mut progress = Progress::default();
        let mut after = |state: Option<&str>| progress.stands_still(state.map(str::to_owned));
        let steps = [
            (Some("a"), false),
            (Some("b"), false),
            (Some("b"), false),
            (None, false),
            (Some("b"), false),
            (Some("b"), false),
            (Some("b"), true),
        ];
        for (number, (state, expected)) in steps.into_iter().enumerate() {
            assert_eq!(after(state), expected, "step {number}");
        }
    }
}
