//! Verdicts on a pull request.

use loopgate_api::ids::RepoFullName;
use serde::Deserialize;

use super::graphql::PullQuestion;
use super::{CodeHost, GraphQlError, PullNumber};

const QUESTION: PullQuestion = PullQuestion {
    name: "PullRequestReviews",
    variables: "",
    fields: "reviewDecision reviews(first: 100) { nodes { state submittedAt author { login } } }",
};

/// A verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerVerdict {
    /// Login; `unknown` when the account is gone.
    pub author: String,
    /// `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`, `PENDING` or `DISMISSED`.
    pub state: String,
    /// ISO 8601; absent while it is being written.
    pub submitted_at: Option<String>,
}

/// What a pull request's reviewers think.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewerVerdicts {
    /// The host's conclusion.
    pub decision: Option<String>,
    /// The latest one of each author, in the order of their first.
    pub latest: Vec<ReviewerVerdict>,
    /// Authors whose last review approves it.
    pub approvals: usize,
    /// Authors whose last review requests changes.
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
struct ReviewNode {
    state: String,
    submitted_at: Option<String>,
    author: Option<super::comments::Author>,
}

impl CodeHost {
    /// The first hundred verdicts on a pull request, summed up.
    ///
    /// # Errors
    /// [`GraphQlError`]
    pub async fn pull_request_reviews(
        &self,
        repository: &RepoFullName,
        number: PullNumber,
    ) -> Result<ReviewerVerdicts, GraphQlError> {
        let pull: ReviewedPull = self.graph_of_pull(repository, number, &QUESTION, []).await?;
        Ok(pull.into())
    }
}

impl From<ReviewedPull> for ReviewerVerdicts {
    fn from(pull: ReviewedPull) -> Self {
        let nodes = pull.reviews.and_then(|reviews| reviews.nodes).unwrap_or_default();
        let all: Vec<ReviewerVerdict> = nodes.into_iter().flatten().map(ReviewerVerdict::from).collect();
        let decision = pull.review_decision.filter(|decision| !decision.is_empty());
        sum_up(decision, &all)
    }
}

impl From<ReviewNode> for ReviewerVerdict {
    fn from(node: ReviewNode) -> Self {
        let author = super::comments::login(node.author).unwrap_or_else(|| "unknown".to_owned());
        Self { author, state: node.state, submitted_at: node.submitted_at }
    }
}

fn sum_up(decision: Option<String>, all: &[ReviewerVerdict]) -> ReviewerVerdicts {
    let latest = latest_of_each(all.iter());
    // A comment takes no verdict back.
    let verdicts =
        latest_of_each(all.iter().filter(|review| {
            matches!(review.state.as_str(), "APPROVED" | "CHANGES_REQUESTED" | "DISMISSED")
        }));
    let count = |state: &str| verdicts.iter().filter(|review| review.state == state).count();
    ReviewerVerdicts {
        decision,
        approvals: count("APPROVED"),
        changes_requested: count("CHANGES_REQUESTED"),
        latest,
    }
}

/// The latest of each author; of two at the same time the first.
fn latest_of_each<'a>(reviews: impl Iterator<Item = &'a ReviewerVerdict>) -> Vec<ReviewerVerdict> {
    let mut latest: Vec<ReviewerVerdict> = Vec::new();
    for review in reviews {
        match latest.iter_mut().find(|known| known.author == review.author) {
            Some(known) if review.submitted_at > known.submitted_at => *known = review.clone(),
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
        let summed = sum_up(None, &all);
        let states: Vec<_> = summed.latest.iter().map(|r| (r.author.as_str(), r.state.as_str())).collect();
        assert_eq!(
            states,
            [("ann", "APPROVED"), ("bob", "COMMENTED"), ("cy", "COMMENTED"), ("dee", "DISMISSED")]
        );
        assert_eq!((summed.approvals, summed.changes_requested), (2, 0));
    }

    #[test]
    fn empty_conclusion_is_none() {
        let pull = |text: &str| serde_json::from_str::<ReviewedPull>(text).unwrap();
        let summed = ReviewerVerdicts::from(pull(r#"{"reviewDecision":"","reviews":{"nodes":[null]}}"#));
        assert_eq!(summed, ReviewerVerdicts::default());
        let gone =
            r#"{"reviewDecision":"APPROVED","reviews":{"nodes":[{"state":"APPROVED","author":null}]}}"#;
        let summed = ReviewerVerdicts::from(pull(gone));
        assert_eq!((summed.latest[0].author.as_str(), summed.approvals), ("unknown", 1));
    }

    proptest! {
        #[test]
        fn every_author_has_one_entry(
            rows in prop::collection::vec((0u8..5, 0usize..4, 0u32..60), 0..30),
        ) {
            let states = ["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED"];
            let all: Vec<_> =
                rows.iter().map(|(who, state, minute)| review(&who.to_string(), states[*state], *minute)).collect();
            let summed = sum_up(None, &all);
            let authors: std::collections::BTreeSet<_> = all.iter().map(|review| &review.author).collect();
            prop_assert_eq!(summed.latest.len(), authors.len());
            prop_assert!(summed.approvals + summed.changes_requested <= authors.len());
        }
    }
}
