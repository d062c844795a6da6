//! The number of findings that wait for a decision, to report after the end of a review.

use std::io;
use std::path::Path;
use std::sync::Arc;

use loopgate_api::provider::ProviderId;
use loopgate_api::review::ReviewFinding;
use loopgate_home::{JsonFileError, Sandbox};

use crate::duplicates::compare_findings;
use crate::files::ReviewDirectory;
use crate::findings::FindingsFile;
use crate::state::ReviewStatus;

/// Findings in a worktree in which a review has ended that is not reported yet.
#[derive(Debug, Clone)]
pub struct UnreportedFindings {
    directory: ReviewDirectory,
    /// Providers of the ended reviews, and the starts of these.
    reviews: Vec<(ProviderId, String)>,
    open: usize,
}

impl UnreportedFindings {
    pub(crate) fn read(sandbox: &Arc<Sandbox>, worktree: &Path) -> io::Result<Option<Self>> {
        let directory = ReviewDirectory::of(sandbox, worktree).map_err(io::Error::other)?;
        let mut reviews = Vec::new();
        for provider in [ProviderId::REVIEWER, ProviderId::ASSISTANT] {
            // Before the findings: those of a review that ends in between are reported once more.
            let Some(state) = directory.state(&provider).read()? else { continue };
            let has_ended = matches!(state.status, ReviewStatus::Completed | ReviewStatus::Failed);
            if has_ended && !state.findings_reported {
                reviews.push((provider, state.started_at));
            }
        }
        if reviews.is_empty() {
            return Ok(None);
        }
        let findings = |provider| -> io::Result<_> {
            let stored = FindingsFile::new(sandbox.clone(), &directory, &provider).read()?;
            Ok(stored.unwrap_or_default().findings)
        };
        let open = open_count(&findings(ProviderId::REVIEWER)?, &findings(ProviderId::ASSISTANT)?);
        Ok(Some(Self { directory, reviews, open }))
    }

    /// Returns the number of findings that are neither declined nor posted. Findings that both reviews report count once.
    #[must_use]
    pub const fn open(&self) -> usize {
        self.open
    }

    /// Records that the number was reported. Performs blocking I/O.
    ///
    /// # Errors
    /// Fails with [`JsonFileError`] when a file cannot be written; the number is then reported again.
    pub fn set_reported(&self) -> Result<(), JsonFileError> {
        for (provider, started_at) in &self.reviews {
            self.directory.state(provider).update(|state| {
                // Another review may have started in the meantime.
                if let Some(state) = state.as_mut().filter(|state| state.started_at == *started_at) {
                    state.findings_reported = true;
                }
                Ok::<_, JsonFileError>(())
            })?;
        }
        Ok(())
    }
}

/// Counts the findings of two reviews that wait for a decision.
fn open_count(first: &[ReviewFinding], second: &[ReviewFinding]) -> usize {
    let pairs = compare_findings(first, second).duplicates;
    let of_first = first.iter().enumerate().map(|(index, finding)| {
        let same = pairs.iter().find(|[own, _]| *own == index).map(|[_, other]| &second[*other]);
        is_open([Some(finding), same])
    });
    let is_paired = |index| pairs.iter().any(|[_, other]| *other == index);
    let of_second = second.iter().enumerate().filter(|(index, _)| !is_paired(*index));
    of_first.chain(of_second.map(|(_, finding)| is_open([Some(finding), None]))).filter(|open| *open).count()
}

/// Returns whether a finding, and the equal one of another review, wait for a decision.
fn is_open(findings: [Option<&ReviewFinding>; 2]) -> bool {
    let mut findings = findings.into_iter().flatten();
    findings.clone().any(|finding| !finding.declined) && !findings.any(|finding| finding.commented)
}

#[cfg(test)]
mod tests {
    use loopgate_api::review::ReviewFindings;
    use loopgate_home::{Overrides, SettingsStore};
    use serde_json::json;

    use super::*;

    #[test]
    fn ended_review_is_reported_once() {
        let dir = tempfile::tempdir().unwrap();
        let worktree = dir.path().join("box/shop-T-1");
        std::fs::create_dir_all(&worktree).unwrap();
        let overrides =
            Overrides { sandbox_base_directory: Some(dir.path().join("box")), ..Overrides::default() };
        let settings = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
        let sandbox = Arc::new(Sandbox::new(Arc::new(settings), &dir.path().join("data")));
        let directory = ReviewDirectory::of(&sandbox, &worktree).unwrap();
        let set_state = |status: &str, started_at: &str| {
            let state = json!({"status": status, "startedAt": started_at, "provider": "reviewer", "config":
                {"model": "m-1", "reasoningEffort": "low", "reviewMode": "base", "baseBranch": "main"}});
            let state = serde_json::from_value(state).unwrap();
            directory.state(&ProviderId::REVIEWER).update(|stored| {
                *stored = Some(state);
                Ok::<_, JsonFileError>(())
            })
        };
        let unreported = || UnreportedFindings::read(&sandbox, &worktree).unwrap();
        assert!(unreported().is_none(), "no review");
        let findings = FindingsFile::new(sandbox.clone(), &directory, &ProviderId::REVIEWER);
        findings
            .replace(ReviewFindings::new(&ProviderId::REVIEWER, None, vec![finding("overflow", |_| ())]))
            .unwrap();
        for (status, open) in
            [("running", None), ("stopped", None), ("failed", Some(1)), ("completed", Some(1))]
        {
            set_state(status, "2030-01-01T00:00:00Z").unwrap();
            assert_eq!(unreported().map(|unreported| unreported.open()), open, "{status}");
        }
        let first = unreported().unwrap();
        first.set_reported().unwrap();
        assert!(unreported().is_none());
        set_state("completed", "2030-01-02T00:00:00Z").unwrap();
        first.set_reported().unwrap();
        assert!(unreported().is_some(), "another review has ended");
    }

    fn finding(message: &str, change: impl FnOnce(&mut ReviewFinding)) -> ReviewFinding {
        let mut finding = ReviewFinding { message: message.to_owned(), ..ReviewFinding::default() };
        change(&mut finding);
        finding
    }

    #[test]
    fn findings_without_a_decision_are_counted_once() {
        let declined = |finding: &mut ReviewFinding| finding.declined = true;
        let posted = |finding: &mut ReviewFinding| finding.commented = true;
        let own = [
            finding("The sum overflows for large carts", |_| ()),
            finding("The file is never closed", declined),
            finding("Charges are repeated", posted),
            finding("The name misleads readers", declined),
        ];
        let other = [
            finding("The sum overflows for large carts", |_| ()),
            finding("The file is never closed", |_| ()),
            finding("A password is logged", |_| ()),
            finding("The name misleads readers", declined),
        ];
        assert_eq!(open_count(&own, &[]), 1);
        // The overflow, the file that only one of the persons declined, and the password.
        assert_eq!(open_count(&own, &other), 3);
        assert_eq!(open_count(&[], &[]), 0);
    }
}
