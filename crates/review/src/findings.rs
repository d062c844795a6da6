//! The findings of a ticket's reviews, one JSON file a provider.
//!
//! Several clients and other programs may change a file at the same time; see [`JsonFile`]. Everything here
//! blocks on the disk.

use std::sync::Arc;

use loopgate_api::provider::ProviderId;
use loopgate_api::review::ReviewFindings;
use loopgate_home::{JsonFile, JsonFileError, Sandbox};
use thiserror::Error;

use crate::anchors::{SourceTree, follow_lines, set_anchors};
use crate::files::ReviewDirectory;

/// The file of one provider's findings.
#[derive(Debug, Clone)]
pub struct FindingsFile {
    file: JsonFile<ReviewFindings>,
    tree: SourceTree,
}

/// Why findings were not changed.
#[derive(Debug, Error)]
pub enum FindingsError {
    /// No findings are stored.
    #[error("No findings file found")]
    Missing,
    /// There is no finding with this index.
    #[error("Index out of range")]
    OutOfRange,
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] JsonFileError),
}

impl FindingsFile {
    /// The findings of a provider's review.
    #[must_use]
    pub fn new(sandbox: Arc<Sandbox>, directory: &ReviewDirectory, provider: &ProviderId) -> Self {
        let tree = SourceTree::new(sandbox, directory.sandboxed_worktree().clone());
        Self { file: directory.json(&format!("review-findings-{provider}.json")), tree }
    }

    /// The findings, at the lines where their code is now; `None` when there are none yet.
    ///
    /// # Errors
    /// [`JsonFileError`].
    pub fn read(&self) -> Result<Option<ReviewFindings>, JsonFileError> {
        let mut stored = self.file.read()?;
        if let Some(stored) = &mut stored {
            follow_lines(&mut stored.findings, &self.tree);
        }
        Ok(stored)
    }

    /// Stores the findings of a new review in the place of all earlier ones.
    ///
    /// # Errors
    /// [`JsonFileError`]; the file is unchanged then.
    pub fn replace(&self, mut findings: ReviewFindings) -> Result<(), JsonFileError> {
        set_anchors(&mut findings.findings, &self.tree);
        self.file.update(|stored| {
            *stored = Some(findings);
            Ok(())
        })
    }

    /// Notes that a finding was posted as a comment.
    ///
    /// # Errors
    /// [`FindingsError`]; the file is unchanged then.
    pub fn mark_commented(&self, index: usize) -> Result<(), FindingsError> {
        self.change(|stored| {
            stored.findings.get_mut(index).ok_or(FindingsError::OutOfRange)?.commented = true;
            Ok(())
        })
    }

    /// Notes that the person declined the change.
    ///
    /// # Errors
    /// [`FindingsError`]; the file is unchanged then.
    pub fn decline(&self, reason: String) -> Result<(), FindingsError> {
        self.change(|stored| {
            (stored.declined, stored.decline_reason) = (Some(true), Some(reason));
            Ok(())
        })
    }

    fn change(
        &self,
        change: impl FnOnce(&mut ReviewFindings) -> Result<(), FindingsError>,
    ) -> Result<(), FindingsError> {
        if self.file.read()?.is_none() {
            return Err(FindingsError::Missing);
        }
        self.file.update(|stored| change(stored.as_mut().ok_or(FindingsError::Missing)?))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use loopgate_api::review::ReviewFinding;
    use loopgate_home::{Overrides, SettingsStore};

    use super::*;

    // Two clients post comments at the same time.
    #[test]
    fn changes_at_the_same_time_all_survive() {
        const WRITERS: usize = 8;
        let dir = tempfile::tempdir().unwrap();
        let worktree = dir.path().join("box/shop-T-1");
        std::fs::create_dir_all(&worktree).unwrap();
        let overrides =
            Overrides { sandbox_base_directory: Some(dir.path().join("box")), ..Overrides::default() };
        let settings = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
        let sandbox = Arc::new(Sandbox::new(Arc::new(settings), &dir.path().join("data")));
        let directory = ReviewDirectory::of(&sandbox, &worktree).unwrap();
        let file = FindingsFile::new(sandbox, &directory, &ProviderId::REVIEWER);
        let findings = vec![ReviewFinding::default(); WRITERS];
        file.replace(ReviewFindings::new(&ProviderId::REVIEWER, None, findings)).unwrap();
        let start = Barrier::new(WRITERS + 1);
        std::thread::scope(|scope| {
            for index in 0..WRITERS {
                let (file, start) = (file.clone(), &start);
                scope.spawn(move || {
                    start.wait();
                    file.mark_commented(index).unwrap();
                });
            }
            start.wait();
            file.decline("needless".to_owned()).unwrap();
        });
        let stored = file.read().unwrap().unwrap();
        assert!(stored.findings.iter().all(|finding| finding.commented));
        assert_eq!(stored.decline_reason.as_deref(), Some("needless"));
    }
}
