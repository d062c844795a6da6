//! Decides whether a review reads only the commits since the last one, and the state that this requires:
//! `review_state.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Between the two commits of a range.
const RANGE: &str = "...";
/// Digits of a commit that a message names.
const SHORT_COMMIT: usize = 8;

/// Content of `review_state.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewStates {
    /// The last complete review of each branch, by `<branch>:<base>`.
    pub reviews: BTreeMap<String, CompletedReview>,
}

/// A complete review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedReview {
    /// The reviewed commit.
    pub sha: String,
    /// Time of its end.
    pub completed_at: String,
    /// Whether every reviewer has succeeded.
    pub success: bool,
}

/// How much of a change a review reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewExtent {
    /// Only the commits since the last review, if they are few.
    Automatic(IncrementalLimits),
    /// The whole change, with the reason.
    Full(&'static str),
    /// Only the commits since the last review, or an error.
    SinceLastReview,
}

/// Limits of a review that is incremental without being demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncrementalLimits {
    /// Changed files.
    pub files: u64,
    /// Changed lines.
    pub lines: u64,
}

impl Default for IncrementalLimits {
    fn default() -> Self {
        Self { files: 30, lines: 1500 }
    }
}

/// Where the commit of the last review is in the history of the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastCommit {
    /// Not in it, because the branch was rebased or the commit no longer exists.
    Unrelated,
    /// It is the new commit.
    Same,
    /// An ancestor, but the base has since been merged into the branch. What has changed since contains the commits of
    /// others.
    BeforeMerge,
    /// An ancestor, with the changes since.
    Ancestor {
        /// Number of changed files.
        files: u64,
        /// Number of changed lines.
        lines: u64,
    },
}

/// Result of the decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncrementalDecision {
    /// The commits to review, `<last>...<tip>`; `None` for the whole change.
    pub diff_scope: Option<String>,
    /// Line for the user, with the reason.
    pub review_mode_line: String,
}

/// Decides how much a review reads. `last_commit` is asked only if it matters.
///
/// # Errors
/// Returns the message for the user if an incremental review is demanded and impossible.
pub fn decide(
    extent: ReviewExtent,
    last_review: Option<&CompletedReview>,
    tip: &str,
    last_commit: impl FnOnce(&str) -> LastCommit,
) -> Result<IncrementalDecision, String> {
    let is_demanded = extent == ReviewExtent::SinceLastReview;
    let limits = match extent {
        ReviewExtent::Full(reason) => return Ok(IncrementalDecision::full(reason)),
        ReviewExtent::Automatic(limits) => Some(limits),
        ReviewExtent::SinceLastReview => None,
    };
    let Some(last) = last_review.filter(|review| review.success) else {
        if is_demanded {
            return Err("there is no previous review of this branch; run a full review first".to_owned());
        }
        return Ok(IncrementalDecision::full("no previous review"));
    };
    let reason = match (last_commit(&last.sha), limits) {
        (LastCommit::Unrelated, None) => {
            return Err(format!(
                "the commit of the previous review, {}, is not in the history of this branch, for example after a rebase; \
                 run a full review",
                short(&last.sha)
            ));
        }
        (LastCommit::Unrelated, Some(_)) => "rebase since the previous review".to_owned(),
        (LastCommit::Same, Some(_)) => "no new commits since the previous review".to_owned(),
        (LastCommit::BeforeMerge, Some(_)) => "the base was merged since the previous review".to_owned(),
        (LastCommit::Ancestor { files: 0, .. }, Some(_)) => "no changes since the previous review".to_owned(),
        (LastCommit::Ancestor { files, .. }, Some(limits)) if files > limits.files => {
            format!("{files} changed files since the previous review, more than {}", limits.files)
        }
        (LastCommit::Ancestor { lines, .. }, Some(limits)) if lines > limits.lines => {
            format!("{lines} changed lines since the previous review, more than {}", limits.lines)
        }
        _ => {
            return Ok(IncrementalDecision {
                diff_scope: Some(format!("{}{RANGE}{tip}", last.sha)),
                review_mode_line: format!("Review mode: incremental (since {})", short(&last.sha)),
            });
        }
    };
    Ok(IncrementalDecision::full(&reason))
}

impl IncrementalDecision {
    /// Returns the decision for the whole change.
    #[must_use]
    pub fn full(reason: &str) -> Self {
        Self { diff_scope: None, review_mode_line: format!("Review mode: full ({reason})") }
    }

    /// Returns the commit of the last review if only what has changed since is reviewed.
    #[must_use]
    pub fn since(&self) -> Option<&str> {
        Some(self.diff_scope.as_deref()?.split_once(RANGE)?.0)
    }
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT_COMMIT).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: &str = "0123456789abcdef";

    fn state() -> CompletedReview {
        CompletedReview { sha: LAST.into(), completed_at: String::new(), success: true }
    }

    fn decided(
        extent: ReviewExtent,
        has_state: bool,
        last: LastCommit,
    ) -> Result<(Option<String>, String), String> {
        let decision = decide(extent, Some(&state()).filter(|_| has_state), "tip", |commit| {
            assert_eq!(commit, LAST);
            last
        })?;
        Ok((decision.diff_scope, decision.review_mode_line))
    }

    // PR-23
    #[test]
    fn review_is_incremental_after_few_new_commits() {
        use ReviewExtent::{Full, SinceLastReview};
        let automatic = ReviewExtent::Automatic(IncrementalLimits::default());
        let few = LastCommit::Ancestor { files: 30, lines: 1500 };
        let incremental = Ok((
            Some("0123456789abcdef...tip".to_owned()),
            "Review mode: incremental (since 01234567)".to_owned(),
        ));
        assert_eq!(decided(automatic, true, few), incremental);
        let full = |reason: &str| Ok((None, format!("Review mode: full ({reason})")));
        assert_eq!(decided(automatic, false, few), full("no previous review"));
        assert_eq!(decided(Full("requested"), true, few), full("requested"));
        assert_eq!(decided(automatic, true, LastCommit::Unrelated), full("rebase since the previous review"));
        assert_eq!(
            decided(automatic, true, LastCommit::Same),
            full("no new commits since the previous review")
        );
        assert_eq!(
            decided(automatic, true, LastCommit::BeforeMerge),
            full("the base was merged since the previous review")
        );
        assert_eq!(decided(SinceLastReview, true, LastCommit::BeforeMerge), incremental);
        let none = LastCommit::Ancestor { files: 0, lines: 0 };
        assert_eq!(decided(automatic, true, none), full("no changes since the previous review"));
        for (files, lines, reason) in [
            (31, 1, "31 changed files since the previous review, more than 30"),
            (1, 1501, "1501 changed lines since the previous review, more than 1500"),
        ] {
            let many = LastCommit::Ancestor { files, lines };
            assert_eq!(decided(automatic, true, many), full(reason));
            assert_eq!(decided(SinceLastReview, true, many), incremental);
        }
        assert!(decided(SinceLastReview, false, few).unwrap_err().contains("no previous review"));
        assert!(decided(SinceLastReview, true, LastCommit::Unrelated).unwrap_err().contains("rebase"));
        assert_eq!(decided(SinceLastReview, true, LastCommit::Same), incremental);
        let incomplete = CompletedReview { success: false, ..state() };
        let decision = decide(automatic, Some(&incomplete), "tip", |_| few).unwrap();
        assert_eq!(decision, IncrementalDecision::full("no previous review"));
        assert_eq!(decision.since(), None);
        assert_eq!(decide(automatic, Some(&state()), "tip", |_| few).unwrap().since(), Some(LAST));
    }
}
