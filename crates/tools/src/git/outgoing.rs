//! The files that a push would send: their versions in commits that the remote does not have.

use std::collections::HashSet;
use std::path::Path;

use super::objects::parse_batch_entries;
use super::{Git, GitError, StatusChange, checked, time};
use crate::process::{Command, Limits, Stdin};

/// Output cap of a listing, in bytes. A large monorepo has a few million paths.
const LISTING_CAP: usize = 256 * 1024 * 1024;
/// Total size of the blobs that are read with one command, in bytes, to bound memory.
const BATCH_BYTES: u64 = 8 * 1024 * 1024;

/// A version of a file in a commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OutgoingFile {
    /// Path relative to the root of the repository; need not be UTF-8.
    pub path: Vec<u8>,
    /// Full hash of the blob.
    pub object: String,
}

impl Git {
    /// Returns the changes since the last commit outside the state directories that a commit can contain, with untracked
    /// files listed one by one.
    ///
    /// # Errors
    /// Fails with [`GitError`], also outside a working tree.
    pub async fn changed_files(&self, directory: &Path) -> Result<Vec<StatusChange>, GitError> {
        let repository = self.repository(directory).await?;
        let command = self.commit_status_command(&repository).await?;
        let command = command.args(["--no-renames", "--untracked-files=all"]);
        let printed = listing(command.args(super::changes::WORK), "status").await?;
        Ok(super::parse_status(&printed).changes)
    }

    /// Returns the files in commits of HEAD that are not reachable from `known`: every version, including
    /// those that a later commit removes.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example for an unknown revision.
    pub async fn outgoing_files(
        &self,
        directory: &Path,
        known: &[String],
    ) -> Result<Vec<OutgoingFile>, GitError> {
        let args =
            ["rev-list", "--objects", "--filter=object:type=blob", "--filter-provided-objects", "--stdin"];
        let revisions =
            std::iter::once("HEAD\n".to_owned()).chain(known.iter().map(|one| format!("^{one}\n")));
        let input = revisions.collect::<String>().into_bytes();
        let command = self.reader(directory).await?.args(args).stdin(Stdin::Bytes(input));
        let printed = listing(command, "rev-list").await?;
        // `rev-list --objects` prints the hash and, after a space, the path. A line without a path is the
        // root tree.
        let parse = |line: &[u8]| {
            let space = line.iter().position(|byte| *byte == b' ')?;
            let object = String::from_utf8(line[..space].to_vec()).ok()?;
            Some(OutgoingFile { path: line[space + 1..].to_vec(), object })
        };
        Ok(printed.split(|byte| *byte == b'\n').filter_map(parse).collect())
    }

    /// Returns the paths of all files in a revision.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example for an unknown revision.
    pub async fn tracked_paths(
        &self,
        directory: &Path,
        revision: &str,
    ) -> Result<HashSet<Vec<u8>>, GitError> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", "--name-only", "--end-of-options", revision];
        let printed = listing(self.reader(directory).await?.args(args), "ls-tree").await?;
        Ok(printed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect())
    }

    /// Returns the contents of objects, in order; `None` for an object that is not a blob, does not exist, or
    /// has more than `largest` bytes.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn contents(
        &self,
        directory: &Path,
        objects: &[impl AsRef<[u8]>],
        largest: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let objects: &[&[u8]] = &objects.iter().map(AsRef::as_ref).collect::<Vec<_>>();
        // Sizes are queried first, so that an object beyond the limit is never read into memory.
        let sizes = self.sizes(directory, objects).await?;
        let mut contents = vec![None; objects.len()];
        let mut batch: Vec<usize> = Vec::new();
        let mut bytes = 0;
        for (at, size) in sizes.iter().enumerate() {
            let Some(size) = size.filter(|size| *size <= largest) else { continue };
            if bytes + size > BATCH_BYTES && !batch.is_empty() {
                self.read_into(&mut contents, directory, objects, &batch).await?;
                batch.clear();
                bytes = 0;
            }
            batch.push(at);
            bytes += size;
        }
        if !batch.is_empty() {
            self.read_into(&mut contents, directory, objects, &batch).await?;
        }
        Ok(contents)
    }

    pub(super) async fn sizes(
        &self,
        directory: &Path,
        objects: &[&[u8]],
    ) -> Result<Vec<Option<u64>>, GitError> {
        let printed = self.cat_file(directory, "--batch-check=%(objecttype) %(objectsize)", objects).await?;
        let text = String::from_utf8_lossy(&printed);
        Ok(text.lines().map(|line| line.strip_prefix("blob ")?.parse().ok()).collect())
    }

    async fn read_into(
        &self,
        contents: &mut [Option<Vec<u8>>],
        directory: &Path,
        objects: &[&[u8]],
        batch: &[usize],
    ) -> Result<(), GitError> {
        let batch_objects: Vec<&[u8]> = batch.iter().filter_map(|at| objects.get(*at).copied()).collect();
        let printed = self.cat_file(directory, "--batch", &batch_objects).await?;
        for (at, file) in batch.iter().zip(parse_batch_entries(&printed)) {
            if let Some(content) = contents.get_mut(*at) {
                *content = file.map(|(_, content)| content);
            }
        }
        Ok(())
    }

    async fn cat_file(&self, directory: &Path, format: &str, objects: &[&[u8]]) -> Result<Vec<u8>, GitError> {
        let input = objects.iter().flat_map(|object| [object, b"\n".as_slice()].concat()).collect();
        let command = self.reader(directory).await?.args(["cat-file", format]).stdin(Stdin::Bytes(input));
        listing(command, "cat-file").await
    }
}

pub(super) async fn listing(command: Command, name: &str) -> Result<Vec<u8>, GitError> {
    let limits = Limits::time(time::COMMIT).output(LISTING_CAP);
    let output = command.run(limits).await.map_err(|source| GitError::not_started(&[name], source))?;
    let output = GitError::check_limits(&[name], output, limits)?;
    Ok(checked(&[name], output)?.stdout)
}
