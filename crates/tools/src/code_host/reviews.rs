//! The reviewers' verdicts on a pull request.

use loopgate_api::ids::RepoFullName;
use serde::Deserialize;

use super::graphql::PullQuery;
use super::{CodeHost, GraphQlError, PullNumber};

const QUERY: PullQuery = PullQuery {
    name: "PullRequestReviews",
    variables: "",
    fields: "reviewDecision reviews(first: 100) { nodes { state submittedAt author { login } } }",
};

/// A review with its verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerVerdict {
    /// Login of the author; `unknown` when the account was deleted.
    pub author: String,
    /// `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`, `PENDING` or `DISMISSED`.
    pub state: String,
    /// Time of submission, ISO 8601; `None` while the review is pending.
    pub submitted_at: Option<String>,
}

/// A summary of the reviews of a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewerVerdicts {
    /// The host's `reviewDecision`, such as `APPROVED`.
    pub decision: Option<String>,
    /// The latest review of each author, in the order of the authors' first reviews.
    pub latest: Vec<ReviewerVerdict>,
    /// Number of authors whose latest verdict is an approval.
    pub approvals: usize,
    /// Number of authors whose latest verdict requests changes.
    pub changes_requested: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReviewedPull {
    review_decision: Option<String>,
    reviews: Option<ReviewNodes>,
}

#[derive(Deserialize)]
struct ReviewNodes {
    nodes: Option<Vec<Option<ReviewNode>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReviewNode {
    state: String,
    /// Absent while the review is pending.
    pub(super) submitted_at: Option<String>,
    author: Option<super::comments::Author>,
    pub(super) viewer_did_author: Option<bool>,
}

impl CodeHost {
    /// Returns a summary of the first hundred reviews of a pull request.
    ///
    /// # Errors
    /// Fails with [`GraphQlError`], for example when the pull request does not exist.
    pub async fn pull_request_reviews(
        &self,
        repository: &RepoFullName,
        number: PullNumber,
    ) -> Result<ReviewerVerdicts, GraphQlError> {
        let pull: ReviewedPull = self.query_pull_request(repository, number, &QUERY, []).await?;
        Ok(pull.into())
    }
}

impl From<ReviewedPull> for ReviewerVerdicts {
    fn from(pull: ReviewedPull) -> Self {
        let nodes = pull.reviews.and_then(|reviews| reviews.nodes).unwrap_or_default();
        let all: Vec<ReviewerVerdict> = nodes.into_iter().flatten().map(ReviewerVerdict::from).collect();
        let decision = pull.review_decision.filter(|decision| !decision.is_empty());
        summarize(decision, &all)
    }
}

impl From<ReviewNode> for ReviewerVerdict {
    fn from(node: ReviewNode) -> Self {
        let author = super::comments::login(node.author).unwrap_or_else(|| "unknown".to_owned());
        Self { author, state: node.state, submitted_at: node.submitted_at }
    }
}

pub(super) fn summarize(decision: Option<String>, all: &[ReviewerVerdict]) -> ReviewerVerdicts {
    let latest = latest_of_each(all.iter());
    let verdicts = latest_verdicts(all);
    let count = |state: &str| verdicts.iter().filter(|review| review.state == state).count();
    ReviewerVerdicts {
        decision,
        approvals: count("APPROVED"),
        changes_requested: count("CHANGES_REQUESTED"),
        latest,
    }
}

/// Returns the latest verdict of each author. A later comment does not change it.
pub(super) fn latest_verdicts(all: &[ReviewerVerdict]) -> Vec<ReviewerVerdict> {
    latest_of_each(
        all.iter()
            .filter(|review| matches!(review.state.as_str(), "APPROVED" | "CHANGES_REQUESTED" | "DISMISSED")),
    )
}

/// Returns the latest review of each author, or the first of several with the same time.
fn latest_of_each<'a>(reviews: impl Iterator<Item = &'a ReviewerVerdict>) -> Vec<ReviewerVerdict> {
    let mut latest: Vec<ReviewerVerdict> = Vec::new();
    for review in reviews {
        match latest.iter_mut().find(|entry| entry.author == review.author) {
            Some(entry) if review.submitted_at > entry.submitted_at => *entry = review.clone(),
            Some(_) => {}
            None => latest.push(review.clone()),
        }
    }
    latest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn review(author: &str, state: &str, minute: u32) -> ReviewerVerdict {
        let submitted_at = Some(format!("2030-05-01T10:{minute:02}:00Z"));
        ReviewerVerdict { author: author.into(), state: state.into(), submitted_at }
    }

    #[test]
    fn last_verdict_of_each_author_counts() {
        let all = [
            review("ann", "CHANGES_REQUESTED", 1),
            review("bob", "APPROVED", 2),
            review("ann", "APPROVED", 3),
            review("bob", "COMMENTED", 4),
            review("cy", "COMMENTED", 5),
            review("dee", "APPROVED", 6),
            review("dee", "DISMISSED", 7),
        ];
        let summary = summarize(None, &all);
        let states: Vec<_> = summary.latest.iter().map(|r| (r.author.as_str(), r.state.as_str())).collect();
        assert_eq!(
            states,
            [("ann", "APPROVED"), ("bob", "COMMENTED"), ("cy", "COMMENTED"), ("dee", "DISMISSED")]
        );
        assert_eq!((summary.approvals, summary.changes_requested), (2, 0));
    }

    #[test]
    fn empty_decision_is_none() {
        let pull = |text: &str| serde_json::from_str::<ReviewedPull>(text).unwrap();
        let summary = ReviewerVerdicts::from(pull(r#"{"reviewDecision":"","reviews":{"nodes":[null]}}"#));
        assert_eq!(summary, ReviewerVerdicts::default());
        let deleted =
            r#"{"reviewDecision":"APPROVED","reviews":{"nodes":[{"state":"APPROVED","author":null}]}}"#;
        let summary = ReviewerVerdicts::from(pull(deleted));
        assert_eq!((summary.latest[0].author.as_str(), summary.approvals), ("unknown", 1));
    }

    proptest! {
        #[test]
        fn every_author_has_one_entry(
            rows in prop::collection::vec((0u8..5, 0usize..4, 0u32..60), 0..30),
        ) {
            let states = ["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED"];
            let all: Vec<_> =
                rows.iter().map(|(who, state, minute)| review(&who.to_string(), states[*state], *minute)).collect();
            let summary = summarize(None, &all);
            let authors: std::collections::BTreeSet<_> = all.iter().map(|review| &review.author).collect();
            prop_assert_eq!(summary.latest.len(), authors.len());
            prop_assert!(summary.approvals + summary.changes_requested <= authors.len());
        }
    }
}
