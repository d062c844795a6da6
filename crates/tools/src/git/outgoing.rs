//! What a branch is about to send: the versions of files in commits that the remote has not.

use std::collections::HashSet;
use std::path::Path;

use super::objects::parse_batch_entries;
use super::{Git, GitError, StatusChange, checked, time};
use crate::process::{Command, Limits, Stdin};

/// Bytes that a listing may take.
const LISTING: usize = 256 * 1024 * 1024;
/// Bytes of files that are read at once.
const READ_BYTES: u64 = 8 * 1024 * 1024;

/// A version of a file in a commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OutgoingFile {
    /// Path from the root of the repository.
    pub path: Vec<u8>,
    /// Hash of its content.
    pub object: String,
}

impl Git {
    /// What changed since the last commit, outside the state directories, file by file.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn changed_files(&self, directory: &Path) -> Result<Vec<StatusChange>, GitError> {
        let repository = self.repository(directory).await?;
        let command = self.status_command(&repository).await?.arg("--untracked-files=all");
        let printed = listing(command.args(super::changes::WORK), "status").await?;
        Ok(super::parse_status(&printed).changes)
    }

    /// The files in commits of HEAD that none of the known revisions has: every version of them, also
    /// those that a later commit takes away again.
    ///
    /// # Errors
    /// [`GitError`]
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
        let parse = |line: &[u8]| {
            let space = line.iter().position(|byte| *byte == b' ')?;
            let object = String::from_utf8(line[..space].to_vec()).ok()?;
            Some(OutgoingFile { path: line[space + 1..].to_vec(), object })
        };
        Ok(printed.split(|byte| *byte == b'\n').filter_map(parse).collect())
    }

    /// Every path that a revision tracks.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn tracked_paths(
        &self,
        directory: &Path,
        revision: &str,
    ) -> Result<HashSet<Vec<u8>>, GitError> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", "--name-only", "--end-of-options", revision];
        let printed = listing(self.reader(directory).await?.args(args), "ls-tree").await?;
        Ok(printed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect())
    }

    /// The contents of objects, in their order; `None` for what is no file, is missing, or is larger
    /// than this.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn contents(
        &self,
        directory: &Path,
        objects: &[String],
        largest: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let sizes = self.sizes(directory, objects).await?;
        let mut contents = vec![None; objects.len()];
        let mut wanted: Vec<usize> = Vec::new();
        let mut bytes = 0;
        for (at, size) in sizes.iter().enumerate() {
            let Some(size) = size.filter(|size| *size <= largest) else { continue };
            if bytes + size > READ_BYTES && !wanted.is_empty() {
                self.read_into(&mut contents, directory, objects, &wanted).await?;
                wanted.clear();
                bytes = 0;
            }
            wanted.push(at);
            bytes += size;
        }
        if !wanted.is_empty() {
            self.read_into(&mut contents, directory, objects, &wanted).await?;
        }
        Ok(contents)
    }

    async fn sizes(&self, directory: &Path, objects: &[String]) -> Result<Vec<Option<u64>>, GitError> {
        let printed = self.cat_file(directory, "--batch-check=%(objecttype) %(objectsize)", objects).await?;
        let text = String::from_utf8_lossy(&printed);
        Ok(text.lines().map(|line| line.strip_prefix("blob ")?.parse().ok()).collect())
    }

    async fn read_into(
        &self,
        contents: &mut [Option<Vec<u8>>],
        directory: &Path,
        objects: &[String],
        wanted: &[usize],
    ) -> Result<(), GitError> {
        let chosen: Vec<String> = wanted.iter().filter_map(|at| objects.get(*at).cloned()).collect();
        let printed = self.cat_file(directory, "--batch", &chosen).await?;
        for (at, file) in wanted.iter().zip(parse_batch_entries(&printed)) {
            if let Some(content) = contents.get_mut(*at) {
                *content = file.map(|(_, content)| content);
            }
        }
        Ok(())
    }

    async fn cat_file(
        &self,
        directory: &Path,
        format: &str,
        objects: &[String],
    ) -> Result<Vec<u8>, GitError> {
        let input = objects.iter().map(|object| format!("{object}\n")).collect::<String>().into_bytes();
        let command = self.reader(directory).await?.args(["cat-file", format]).stdin(Stdin::Bytes(input));
        listing(command, "cat-file").await
    }
}

async fn listing(command: Command, name: &str) -> Result<Vec<u8>, GitError> {
    let limits = Limits::time(time::COMMIT).output(LISTING);
    let output = command.run(limits).await.map_err(|source| GitError::not_started(&[name], source))?;
    let output = GitError::check_limits(&[name], output, time::COMMIT)?;
    Ok(checked(&[name], output)?.stdout)
}
