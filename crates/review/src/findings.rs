//! Findings of a ticket's reviews, one JSON file per provider.
//!
//! Clients and other programs may modify a file concurrently; see [`JsonFile`]. All functions perform
//! blocking I/O.

use std::path::PathBuf;
use std::sync::Arc;

use loopgate_api::provider::ProviderId;
use loopgate_api::review::{ReviewFinding, ReviewFindings};
use loopgate_home::{JsonFile, JsonFileError, Sandbox};
use serde_json::Value;
use thiserror::Error;

use crate::anchors::{SourceTree, follow_lines, set_anchors};
use crate::engine_result::{SESSION_MEMBER, completed_session, findings_of};
use crate::files::ReviewDirectory;

/// File with the findings of one provider.
#[derive(Debug, Clone)]
pub struct FindingsFile {
    file: JsonFile<ReviewFindings>,
    tree: SourceTree,
    /// Worktree in which loops and sessions of the provider review; `None` for providers that do not.
    reviewed_tree: Option<PathBuf>,
}

/// Reason for which findings were not modified.
#[derive(Debug, Error)]
pub enum FindingsError {
    /// No findings are stored.
    #[error("No findings file found")]
    Missing,
    /// There is no finding with this index.
    #[error("Index out of range")]
    OutOfRange,
    /// The finding with this index is another one than the caller's.
    #[error("The findings have changed")]
    Changed,
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] JsonFileError),
}

impl FindingsFile {
    /// Returns the findings file of a provider's review.
    #[must_use]
    pub fn new(sandbox: Arc<Sandbox>, directory: &ReviewDirectory, provider: &ProviderId) -> Self {
        let tree = SourceTree::new(sandbox, directory.sandboxed_worktree().clone());
        let file = directory.json(&format!("review-findings-{provider}.json"));
        let reviewed_tree = (*provider == ProviderId::ASSISTANT).then(|| directory.worktree());
        Self { file, tree, reviewed_tree }
    }

    /// Reads the findings, with lines adjusted to the current code; `None` if there is no file. Takes over the findings of a
    /// loop or session that has reviewed the worktree since.
    ///
    /// # Errors
    /// Fails with [`JsonFileError`] when the file cannot be read.
    pub fn read(&self) -> Result<Option<ReviewFindings>, JsonFileError> {
        let mut stored = self.file.read()?;
        if let Some(review) = self.newer_review(stored.as_ref()) {
            self.store_review(review)?;
            stored = self.file.read()?;
        }
        if let Some(stored) = &mut stored {
            follow_lines(&mut stored.findings, &self.tree);
        }
        Ok(stored)
    }

    /// Returns the findings of the review that was completed last in the worktree, unless they are stored already.
    fn newer_review(&self, stored: Option<&ReviewFindings>) -> Option<ReviewFindings> {
        let tree = self.reviewed_tree.as_deref()?;
        let session = completed_session(tree)?;
        let known = stored.and_then(|stored| stored.more.get(SESSION_MEMBER)).and_then(Value::as_str);
        if known == Some(session.as_str()) {
            return None;
        }
        let mut findings = ReviewFindings::new(&ProviderId::ASSISTANT, None, findings_of(tree, &session)?);
        findings.more.insert(SESSION_MEMBER.to_owned(), session.into());
        Some(findings)
    }

    /// Replaces all findings with those of a client.
    ///
    /// # Errors
    /// Fails with [`JsonFileError`]; the file is then unchanged.
    pub fn replace(&self, mut findings: ReviewFindings) -> Result<(), JsonFileError> {
        // The worktree still matches the review at this time.
        set_anchors(&mut findings.findings, &self.tree);
        // The client has seen the findings of the review that was completed last.
        if let Some(session) = self.reviewed_tree.as_deref().and_then(completed_session) {
            findings.more.entry(SESSION_MEMBER).or_insert_with(|| session.into());
        }
        self.file.update(|stored| {
            *stored = Some(findings);
            Ok(())
        })
    }

    /// Replaces all findings with those of a review that has ended. What persons decided about the same findings of an
    /// earlier review is kept.
    ///
    /// # Errors
    /// Fails with [`JsonFileError`]; the file is then unchanged.
    pub(crate) fn store_review(&self, mut review: ReviewFindings) -> Result<(), JsonFileError> {
        set_anchors(&mut review.findings, &self.tree);
        self.file.update(|stored| {
            if let Some(earlier) = stored.take() {
                keep_decisions(&mut review.findings, earlier.findings);
            }
            *stored = Some(review);
            Ok(())
        })
    }

    /// Marks a finding as posted as a comment.
    ///
    /// # Errors
    /// Fails with [`FindingsError`]; the file is then unchanged.
    pub fn mark_commented(&self, index: usize) -> Result<(), FindingsError> {
        self.change(|stored| {
            stored.findings.get_mut(index).ok_or(FindingsError::OutOfRange)?.commented = true;
            Ok(())
        })
    }

    /// Records whether the user declines a finding, and why. `message`: the text of the caller's finding.
    ///
    /// # Errors
    /// Fails with [`FindingsError`]; the file is then unchanged.
    pub fn decline_finding(
        &self,
        index: usize,
        message: &str,
        declined: bool,
        reason: Option<String>,
    ) -> Result<(), FindingsError> {
        self.change(|stored| {
            let finding = stored.findings.get_mut(index).ok_or(FindingsError::OutOfRange)?;
            if finding.message != message {
                return Err(FindingsError::Changed);
            }
            finding.declined = declined;
            finding.decline_reason = reason.filter(|_| declined);
            Ok(())
        })
    }

    /// Records that the user declined the change.
    ///
    /// # Errors
    /// Fails with [`FindingsError`]; the file is then unchanged.
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
        // `update` creates missing directories, so check whether the file exists first.
        if self.file.read()?.is_none() {
            return Err(FindingsError::Missing);
        }
        self.file.update(|stored| change(stored.as_mut().ok_or(FindingsError::Missing)?))
    }
}

/// Copies the decisions about equal findings: same file, same message. Their lines may differ.
fn keep_decisions(findings: &mut [ReviewFinding], mut earlier: Vec<ReviewFinding>) {
    for finding in findings {
        let is_same =
            |other: &ReviewFinding| (&other.file, &other.message) == (&finding.file, &finding.message);
        // Each decision is used once: a review can report the same text for several lines.
        let Some(index) = earlier.iter().position(is_same) else { continue };
        let ReviewFinding { commented, declined, decline_reason, humanized_body, .. } = earlier.remove(index);
        (finding.commented, finding.declined) = (commented, declined);
        (finding.decline_reason, finding.humanized_body) = (decline_reason, humanized_body);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Barrier;

    use loopgate_home::{Overrides, SettingsStore};

    use crate::engine_result::tests::complete;

    use super::*;

    fn findings_file(dir: &Path) -> FindingsFile {
        let worktree = dir.join("box/shop-T-1");
        std::fs::create_dir_all(&worktree).unwrap();
        let overrides = Overrides { sandbox_base_directory: Some(dir.join("box")), ..Overrides::default() };
        let settings = SettingsStore::open(&dir.join("settings.toml"), overrides).unwrap();
        let sandbox = Arc::new(Sandbox::new(Arc::new(settings), &dir.join("data")));
        let directory = ReviewDirectory::of(&sandbox, &worktree).unwrap();
        FindingsFile::new(sandbox, &directory, &ProviderId::REVIEWER)
    }

    #[test]
    fn findings_of_a_loop_are_taken_over_with_anchors() {
        let dir = tempfile::tempdir().unwrap();
        let reviewer = findings_file(dir.path());
        let tree = dir.path().join("box/shop-T-1");
        let overrides =
            Overrides { sandbox_base_directory: Some(dir.path().join("box")), ..Overrides::default() };
        let settings = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
        let sandbox = Arc::new(Sandbox::new(Arc::new(settings), &dir.path().join("data")));
        let directory = ReviewDirectory::of(&sandbox, &tree).unwrap();
        let file = FindingsFile::new(sandbox, &directory, &ProviderId::ASSISTANT);
        assert_eq!(file.read().unwrap(), None);
        std::fs::write(tree.join("a.rs"), "one\nopen();\n").unwrap();
        complete(&tree, "cr-1", "[P1] Open door", 2);
        let stored = file.read().unwrap().unwrap();
        assert_eq!((stored.findings[0].line, stored.findings[0].outdated), (Some(2), false));
        file.decline_finding(0, &stored.findings[0].message, true, None).unwrap();
        // The anchor follows the line, and a decision is kept for the same finding of the next review.
        std::fs::write(tree.join("a.rs"), "zero\none\nopen();\n").unwrap();
        assert_eq!(file.read().unwrap().unwrap().findings[0].line, Some(3));
        complete(&tree, "cr-2", "[P1] Open door", 3);
        let stored = file.read().unwrap().unwrap();
        assert!(stored.findings[0].declined && stored.more["reviewSession"] == "cr-2");
        assert_eq!(reviewer.read().unwrap(), None, "the reviewer's findings are its own");
    }

    #[test]
    fn decisions_hold_for_equal_findings_of_a_later_review() {
        let dir = tempfile::tempdir().unwrap();
        let file = findings_file(dir.path());
        let finding = |message: &str, line| ReviewFinding {
            message: message.to_owned(),
            line: Some(line),
            ..ReviewFinding::default()
        };
        let store = |findings| {
            file.store_review(ReviewFindings::new(&ProviderId::REVIEWER, None, findings)).unwrap();
        };
        store(vec![finding("overflow", 3), finding("unused", 4), finding("unused", 9)]);
        file.mark_commented(0).unwrap();
        file.decline_finding(1, "unused", true, Some("generated".to_owned())).unwrap();
        file.decline("not now".to_owned()).unwrap();
        // The code has moved, and one more line has the same problem.
        store(vec![
            finding("unused", 14),
            finding("unused", 19),
            finding("unused", 24),
            finding("overflow", 13),
        ]);
        let stored = file.read().unwrap().unwrap();
        let decisions =
            stored.findings.iter().map(|finding| (finding.line, finding.declined, finding.commented));
        assert_eq!(
            decisions.collect::<Vec<_>>(),
            [
                (Some(14), true, false),
                (Some(19), false, false),
                (Some(24), false, false),
                (Some(13), false, true)
            ]
        );
        assert_eq!(stored.findings[0].decline_reason.as_deref(), Some("generated"));
        assert_eq!(stored.declined, None, "the changed code was not declined");
    }

    // Clients read, modify and write the same file concurrently; a lost update would drop one of the marks.
    #[test]
    fn concurrent_changes_are_all_stored() {
        const WRITERS: usize = 8;
        let dir = tempfile::tempdir().unwrap();
        let file = findings_file(dir.path());
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
