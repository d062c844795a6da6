//! The standing of a pull request: state, reviews, checks, comments, and what the account may do with it.

use std::time::Duration;

use loopgate_api::ids::RepoFullName;
use loopgate_api::pull_request::{
    CheckOutcome, MergeMethod, MergeObstacle, PullRequestCheck, PullRequestReviewer, PullRequestStanding,
    PullRequestState, PullRequestVerdict, ReviewDecision,
};
use moka::future::Cache;
use serde::Deserialize;

use super::comments::{Author, login};
use super::graphql::PullQuery;
use super::reviews::{ReviewNode, ReviewerVerdict, latest_verdicts, summarize};
use super::{CodeHost, GraphQlError, PullNumber};

/// How long a standing is cached: the tabs and machines of an organization that show the same pull request share one
/// query, of which the code host permits a limited number per hour.
const TIME_TO_LIVE: Duration = Duration::from_secs(5);
/// Maximum number of pull requests in the cache.
const MAX_CACHED: u64 = 1000;

// The newest comments suffice for the time of the newest one of another account.
const QUERY: PullQuery = PullQuery {
    name: "PullRequestStanding",
    variables: "",
    fields: "state isDraft title url headRefName headRefOid baseRefName mergeable mergeStateStatus reviewDecision \
        viewerCanUpdateBranch closedAt mergedBy { login } \
        baseRepository { viewerPermission viewerDefaultMergeMethod \
        mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed } \
        comments(last: 50) { nodes { createdAt viewerDidAuthor } } \
        reviews(last: 50) { nodes { state submittedAt viewerDidAuthor author { login } } } \
        reviewThreads(last: 100) { nodes { isResolved \
        comments(last: 10) { nodes { createdAt viewerDidAuthor } } } } \
        commits(last: 1) { nodes { commit { statusCheckRollup { \
        contexts(first: 100) { pageInfo { hasNextPage } nodes { __typename \
        ... on CheckRun { name status conclusion detailsUrl } \
        ... on StatusContext { context state targetUrl } } } } } } }",
};

/// Standings that were read recently. Concurrent callers share one query.
pub(super) type StandingCache = Cache<(String, PullNumber), PullRequestStanding>;

pub(super) fn cache() -> StandingCache {
    Cache::builder().max_capacity(MAX_CACHED).time_to_live(TIME_TO_LIVE).build()
}

/// The code host ignores the case of names.
fn key(repository: &RepoFullName, number: PullNumber) -> (String, PullNumber) {
    (repository.as_str().to_ascii_lowercase(), number)
}

impl CodeHost {
    /// Returns the standing of a pull request, at most five seconds old.
    ///
    /// # Errors
    /// Fails with [`GraphQlError`], for example when the pull request does not exist. Failures are not cached.
    pub async fn pull_request_standing(
        &self,
        repository: &RepoFullName,
        number: PullNumber,
    ) -> Result<PullRequestStanding, GraphQlError> {
        let query = async {
            let pull: StandingNode = self.query_pull_request(repository, number, &QUERY, []).await?;
            PullRequestStanding::try_from(pull)
        };
        let read = self.standings.try_get_with(key(repository, number), query).await;
        read.map_err(|error: std::sync::Arc<GraphQlError>| *error)
    }

    /// Removes the standing of a pull request from the cache, because it may have changed.
    pub async fn forget_standing(&self, repository: &RepoFullName, number: PullNumber) {
        self.standings.invalidate(&key(repository, number)).await;
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StandingNode {
    state: String,
    #[serde(default)]
    is_draft: bool,
    title: String,
    url: String,
    head_ref_name: String,
    head_ref_oid: String,
    base_ref_name: String,
    mergeable: Option<String>,
    merge_state_status: Option<String>,
    review_decision: Option<String>,
    viewer_can_update_branch: Option<bool>,
    closed_at: Option<String>,
    merged_by: Option<Author>,
    base_repository: Option<BaseRepository>,
    #[serde(default)]
    comments: Nodes<SaidAt>,
    #[serde(default)]
    reviews: Nodes<ReviewNode>,
    #[serde(default)]
    review_threads: Nodes<ThreadNode>,
    #[serde(default)]
    commits: Nodes<CommitNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BaseRepository {
    viewer_permission: Option<String>,
    viewer_default_merge_method: Option<String>,
    merge_commit_allowed: Option<bool>,
    squash_merge_allowed: Option<bool>,
    rebase_merge_allowed: Option<bool>,
}

/// A connection, of which the code host may send `null` or nodes that are `null`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", from = "Option<RawNodes<T>>", bound = "T: Deserialize<'de>")]
struct Nodes<T> {
    nodes: Vec<T>,
    has_next_page: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: Deserialize<'de>")]
struct RawNodes<T> {
    nodes: Option<Vec<Option<T>>>,
    page_info: Option<NextPage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NextPage {
    has_next_page: bool,
}

impl<T> From<Option<RawNodes<T>>> for Nodes<T> {
    fn from(raw: Option<RawNodes<T>>) -> Self {
        let Some(raw) = raw else { return Self::default() };
        Self {
            nodes: raw.nodes.unwrap_or_default().into_iter().flatten().collect(),
            has_next_page: raw.page_info.is_some_and(|page| page.has_next_page),
        }
    }
}

// Not derived: a derived one would require `T: Default`.
impl<T> Default for Nodes<T> {
    fn default() -> Self {
        Self { nodes: Vec::new(), has_next_page: false }
    }
}

/// Time and author of a comment.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SaidAt {
    created_at: Option<String>,
    viewer_did_author: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadNode {
    is_resolved: Option<bool>,
    #[serde(default)]
    comments: Nodes<SaidAt>,
}

#[derive(Deserialize)]
struct CommitNode {
    commit: CheckedCommit,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CheckedCommit {
    status_check_rollup: Option<Rollup>,
}

#[derive(Deserialize)]
struct Rollup {
    #[serde(default)]
    contexts: Nodes<CheckNode>,
}

#[derive(Deserialize)]
#[serde(tag = "__typename", rename_all_fields = "camelCase")]
enum CheckNode {
    CheckRun { name: String, status: String, conclusion: Option<String>, details_url: Option<String> },
    StatusContext { context: String, state: String, target_url: Option<String> },
}

impl TryFrom<StandingNode> for PullRequestStanding {
    type Error = GraphQlError;

    fn try_from(pull: StandingNode) -> Result<Self, GraphQlError> {
        let state = match pull.state.as_str() {
            "OPEN" => PullRequestState::Open,
            "MERGED" => PullRequestState::Merged,
            "CLOSED" => PullRequestState::Closed,
            _ => return Err(GraphQlError::Unreadable),
        };
        let merge_methods = merge_methods(pull.base_repository.as_ref());
        let merge_obstacle = obstacle(&pull, state, &merge_methods);
        let threads = &pull.review_threads.nodes;
        let comments = pull.comments.nodes.iter();
        let comments = comments.chain(threads.iter().flat_map(|thread| &thread.comments.nodes));
        let comments = comments.map(|comment| (&comment.created_at, comment.viewer_did_author));
        let reviews = pull.reviews.nodes.iter();
        let reviews = reviews.map(|review| (&review.submitted_at, review.viewer_did_author));
        let of_others = comments.chain(reviews).filter(|(_, is_own)| *is_own != Some(true));
        // All times have the same format, so that their texts are in the order of time.
        let last_comment_at = of_others.filter_map(|(at, _)| at.as_ref()).max().cloned();
        let unresolved = threads.iter().filter(|thread| thread.is_resolved == Some(false)).count();
        let rollup =
            pull.commits.nodes.into_iter().next_back().and_then(|node| node.commit.status_check_rollup);
        let contexts = rollup.map(|rollup| rollup.contexts).unwrap_or_default();
        let reviewers = reviewers(pull.reviews.nodes);
        Ok(Self {
            state,
            is_draft: pull.is_draft,
            title: pull.title,
            url: pull.url,
            head_branch: pull.head_ref_name,
            head_sha: pull.head_ref_oid,
            base_branch: pull.base_ref_name,
            has_conflicts: pull.mergeable.as_deref() == Some("CONFLICTING"),
            review_decision: match pull.review_decision.as_deref() {
                Some("APPROVED") => Some(ReviewDecision::Approved),
                Some("CHANGES_REQUESTED") => Some(ReviewDecision::ChangesRequested),
                Some("REVIEW_REQUIRED") => Some(ReviewDecision::ReviewRequired),
                _ => None,
            },
            reviewers,
            checks_truncated: contexts.has_next_page,
            checks: contexts.nodes.into_iter().map(PullRequestCheck::from).collect(),
            unresolved_threads: unresolved as u64,
            last_comment_at,
            settled_at: pull.closed_at,
            merged_by: login(pull.merged_by),
            merge_obstacle,
            merge_methods,
            can_update_branch: state == PullRequestState::Open && pull.viewer_can_update_branch == Some(true),
        })
    }
}

/// Returns the authors of reviews with their latest verdicts. An author who has only commented has commented.
fn reviewers(reviews: Vec<ReviewNode>) -> Vec<PullRequestReviewer> {
    let reviews: Vec<_> = reviews.into_iter().map(ReviewerVerdict::from).collect();
    let latest = summarize(None, &reviews).latest;
    let verdicts = latest_verdicts(&reviews);
    let verdict_of = |review: ReviewerVerdict| {
        verdicts.iter().find(|verdict| verdict.author == review.author).cloned().unwrap_or(review)
    };
    let reviewer = |ReviewerVerdict { author, state, submitted_at }| {
        let verdict = match state.as_str() {
            "APPROVED" => PullRequestVerdict::Approved,
            "CHANGES_REQUESTED" => PullRequestVerdict::ChangesRequested,
            "COMMENTED" => PullRequestVerdict::Commented,
            "DISMISSED" => PullRequestVerdict::Dismissed,
            // Pending: only its author can see it.
            _ => return None,
        };
        Some(PullRequestReviewer { login: author, verdict, at: submitted_at })
    };
    latest.into_iter().map(verdict_of).filter_map(reviewer).collect()
}

fn obstacle(pull: &StandingNode, state: PullRequestState, methods: &[MergeMethod]) -> Option<MergeObstacle> {
    let permission = pull.base_repository.as_ref().and_then(|base| base.viewer_permission.as_deref());
    let (mergeable, status) = (pull.mergeable.as_deref(), pull.merge_state_status.as_deref());
    if state != PullRequestState::Open {
        Some(MergeObstacle::NotOpen)
    } else if !matches!(permission, Some("ADMIN" | "MAINTAIN" | "WRITE")) {
        Some(MergeObstacle::Permission)
    } else if pull.is_draft || status == Some("DRAFT") {
        Some(MergeObstacle::Draft)
    } else if mergeable == Some("CONFLICTING") || status == Some("DIRTY") {
        Some(MergeObstacle::Conflicts)
    } else if status == Some("BEHIND") {
        Some(MergeObstacle::Behind)
    } else if status == Some("BLOCKED") || methods.is_empty() {
        Some(MergeObstacle::Blocked)
    } else if mergeable != Some("MERGEABLE") || status == Some("UNKNOWN") {
        Some(MergeObstacle::Unknown)
    } else {
        None
    }
}

/// Returns the methods that the repository allows, the account's usual one first.
fn merge_methods(base: Option<&BaseRepository>) -> Vec<MergeMethod> {
    let Some(base) = base else { return Vec::new() };
    let is_allowed = |method: &MergeMethod| match method {
        MergeMethod::Merge => base.merge_commit_allowed == Some(true),
        MergeMethod::Squash => base.squash_merge_allowed == Some(true),
        MergeMethod::Rebase => base.rebase_merge_allowed == Some(true),
    };
    let mut methods: Vec<_> = MergeMethod::ALL.into_iter().filter(is_allowed).collect();
    let usual = base.viewer_default_merge_method.as_deref().unwrap_or_default();
    methods.sort_by_key(|method| !method.as_str().eq_ignore_ascii_case(usual));
    methods
}

impl From<CheckNode> for PullRequestCheck {
    fn from(node: CheckNode) -> Self {
        let (name, status, conclusion, url) = match node {
            CheckNode::CheckRun { name, status, conclusion, details_url } => {
                (name, status, conclusion, details_url)
            }
            CheckNode::StatusContext { context, state, target_url } => {
                let conclusion = (!matches!(state.as_str(), "PENDING" | "EXPECTED")).then(|| state.clone());
                (context, state, conclusion, target_url)
            }
        };
        let conclusion = conclusion.filter(|conclusion| !conclusion.is_empty());
        // As `gh pr checks` groups them.
        let outcome = match conclusion.as_deref() {
            Some("SUCCESS") => CheckOutcome::Passed,
            Some("SKIPPED" | "NEUTRAL") => CheckOutcome::Skipped,
            Some("FAILURE" | "ERROR" | "CANCELLED" | "TIMED_OUT" | "ACTION_REQUIRED" | "STARTUP_FAILURE") => {
                CheckOutcome::Failed
            }
            _ => CheckOutcome::Pending,
        };
        // Any app of the repository sets this URL, and pages link to it.
        let url = url.filter(|url| ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme)));
        Self { name, status, conclusion, outcome, url }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn node(members: Value) -> Value {
        let mut node = json!({
            "state": "OPEN", "isDraft": false, "title": "T", "url": "https://github.com/acme/shop/pull/7",
            "headRefName": "dark", "headRefOid": "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "baseRefName": "main",
            "mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN", "reviewDecision": "", "viewerCanUpdateBranch": true,
            "baseRepository": {"viewerPermission": "WRITE", "viewerDefaultMergeMethod": "SQUASH",
                "mergeCommitAllowed": true, "squashMergeAllowed": true, "rebaseMergeAllowed": false},
        });
        node.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        node
    }

    fn standing(members: Value) -> PullRequestStanding {
        serde_json::from_value::<StandingNode>(node(members)).unwrap().try_into().unwrap()
    }

    #[test]
    fn usual_method_comes_first_and_forbidden_ones_are_left_out() {
        let open = standing(json!({}));
        assert_eq!(open.merge_methods, [MergeMethod::Squash, MergeMethod::Merge]);
        assert_eq!((open.merge_obstacle, open.can_update_branch), (None, true));
        assert_eq!((open.review_decision, open.checks.len(), open.last_comment_at), (None, 0, None));
    }

    #[test]
    fn obstacle_names_the_first_reason() {
        for (members, obstacle) in [
            (json!({"state": "MERGED"}), MergeObstacle::NotOpen),
            (json!({"state": "CLOSED", "isDraft": true}), MergeObstacle::NotOpen),
            (json!({"baseRepository": {"viewerPermission": "READ"}}), MergeObstacle::Permission),
            (json!({"baseRepository": null}), MergeObstacle::Permission),
            (json!({"isDraft": true, "mergeStateStatus": "BLOCKED"}), MergeObstacle::Draft),
            (json!({"mergeable": "CONFLICTING", "mergeStateStatus": "DIRTY"}), MergeObstacle::Conflicts),
            (json!({"mergeStateStatus": "BEHIND"}), MergeObstacle::Behind),
            (json!({"mergeStateStatus": "BLOCKED"}), MergeObstacle::Blocked),
            (json!({"baseRepository": {"viewerPermission": "ADMIN"}}), MergeObstacle::Blocked),
            (json!({"mergeable": "UNKNOWN", "mergeStateStatus": "UNKNOWN"}), MergeObstacle::Unknown),
        ] {
            assert_eq!(standing(members.clone()).merge_obstacle, Some(obstacle), "{members}");
        }
        for status in ["CLEAN", "UNSTABLE", "HAS_HOOKS"] {
            assert_eq!(standing(json!({"mergeStateStatus": status})).merge_obstacle, None, "{status}");
        }
    }

    #[test]
    fn checks_of_both_kinds_have_an_outcome() {
        use CheckOutcome::{Failed, Passed, Pending, Skipped};
        let contexts = json!({"pageInfo": {"hasNextPage": true}, "nodes": [
            {"__typename": "CheckRun", "name": "a", "status": "COMPLETED", "conclusion": "SUCCESS", "detailsUrl": "https://ci/1"},
            {"__typename": "CheckRun", "name": "b", "status": "IN_PROGRESS", "conclusion": null, "detailsUrl": null},
            {"__typename": "CheckRun", "name": "c", "status": "COMPLETED", "conclusion": "TIMED_OUT", "detailsUrl": "javascript:x"},
            {"__typename": "StatusContext", "context": "d", "state": "ERROR", "targetUrl": "https://ci/4"},
            {"__typename": "StatusContext", "context": "e", "state": "EXPECTED", "targetUrl": null},
            {"__typename": "CheckRun", "name": "f", "status": "COMPLETED", "conclusion": "NEUTRAL", "detailsUrl": null},
            null,
        ]});
        let commits = json!({"nodes": [{"commit": {"statusCheckRollup": {"contexts": contexts}}}]});
        let standing = standing(json!({"commits": commits}));
        let outcomes: Vec<_> =
            standing.checks.iter().map(|check| (check.name.as_str(), check.outcome)).collect();
        let expected =
            [("a", Passed), ("b", Pending), ("c", Failed), ("d", Failed), ("e", Pending), ("f", Skipped)];
        assert_eq!(outcomes, expected);
        assert!(standing.checks_truncated);
        assert_eq!(standing.checks[2].url, None, "pages link to HTTP(S) only");
        assert_eq!(standing.checks[3].conclusion.as_deref(), Some("ERROR"));
    }

    #[test]
    fn newest_comment_of_another_account_counts() {
        let said = |minute: u32, own: bool| json!({"createdAt": format!("2030-05-01T10:{minute:02}:00Z"), "viewerDidAuthor": own});
        let review =
            json!({"state": "COMMENTED", "submittedAt": "2030-05-01T10:20:00Z", "viewerDidAuthor": false});
        let pending = json!({"state": "PENDING", "submittedAt": null, "viewerDidAuthor": true});
        let threads = json!({"nodes": [
            {"isResolved": false, "comments": {"nodes": [said(10, false), said(40, true)]}},
            {"isResolved": true, "comments": {"nodes": [said(30, false)]}},
        ]});
        let standing = standing(json!({
            "comments": {"nodes": [said(5, false), said(50, true)]},
            "reviews": {"nodes": [review, pending]},
            "reviewThreads": threads,
        }));
        assert_eq!(standing.last_comment_at.as_deref(), Some("2030-05-01T10:30:00Z"));
        assert_eq!(standing.unresolved_threads, 1);
    }

    #[test]
    fn comment_of_a_reviewer_does_not_change_the_verdict() {
        let review = |login: &str, state: &str, minute: u32| json!({"state": state, "submittedAt": format!("2030-05-01T10:{minute:02}:00Z"), "author": {"login": login}});
        let standing = standing(
            json!({"state": "MERGED", "closedAt": "2030-05-02T08:00:00Z", "mergedBy": {"login": "kim"},
                "reviews": {"nodes": [
                    review("ann", "CHANGES_REQUESTED", 1), review("bob", "COMMENTED", 2), review("ann", "APPROVED", 3),
                    review("ann", "COMMENTED", 4), {"state": "PENDING", "submittedAt": null, "author": {"login": "me"}},
                ]},
            }),
        );
        let reviewers: Vec<_> =
            standing.reviewers.iter().map(|own| (own.login.as_str(), own.verdict)).collect();
        assert_eq!(
            reviewers,
            [("ann", PullRequestVerdict::Approved), ("bob", PullRequestVerdict::Commented)]
        );
        assert_eq!(standing.reported().settled_at.as_deref(), Some("2030-05-02T08:00:00Z"));
        assert_eq!(standing.merged_by.as_deref(), Some("kim"));
    }

    #[test]
    fn unknown_state_is_an_error() {
        let node: StandingNode = serde_json::from_value(node(json!({"state": "QUEUED"}))).unwrap();
        assert_eq!(PullRequestStanding::try_from(node), Err(GraphQlError::Unreadable));
    }

    proptest! {
        #[test]
        fn merged_or_closed_pull_request_is_never_mergeable(
            state in prop::sample::select(vec!["MERGED", "CLOSED"]),
            mergeable in prop::sample::select(vec!["MERGEABLE", "CONFLICTING", "UNKNOWN"]),
            status in "[A-Z_]{0,10}",
            draft: bool,
        ) {
            let standing = standing(json!({"state": state, "mergeable": mergeable, "mergeStateStatus": status, "isDraft": draft}));
            prop_assert_eq!(standing.merge_obstacle, Some(MergeObstacle::NotOpen));
            prop_assert!(!standing.can_update_branch);
        }
    }
}
