//! Threads and reviews of the signed-in account on a pull request, the lines that can have comments, and the posting of a
//! review about them.

use loopgate_api::ids::RepoFullName;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{ApiRequest, CodeHostApiError, RateLimitWait};
use super::new_review::{as_text, on_lines};
use super::{CodeHost, CodeHostError, NewReview, PullNumber};

/// Threads and files that the code host returns at a time, its maximum.
const PAGE: usize = 100;
/// Pages of threads, and of files, of which the code host returns at most 3,000.
const MAX_PAGES: usize = 30;

const THREADS: &str = "query ReviewThreads($owner: String!, $name: String!, $number: Int!, $threads: String, \
    $reviews: String) { repository(owner: $owner, name: $name) { pullRequest(number: $number) { \
    reviewThreads(first: 100, after: $threads) { pageInfo { hasNextPage endCursor } nodes { id isResolved isOutdated \
    comments(first: 50) { nodes { body viewerDidAuthor path line originalLine } } } } \
    reviews(first: 100, after: $reviews) { pageInfo { hasNextPage endCursor } nodes { body viewerDidAuthor } } } } }";
const RESOLVE: &str = "mutation ResolveThread($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { \
    thread { isResolved } } }";

/// What the signed-in account has posted on a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnReviews {
    /// Threads that a comment of the account began.
    pub threads: Vec<OwnThread>,
    /// Texts of its reviews.
    pub reviews: Vec<String>,
}

/// A thread on a line or file that a comment of the signed-in account began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnThread {
    /// Node id.
    pub id: String,
    /// Path of the file.
    pub path: String,
    /// Line when the comment was written; `None` for a comment on the file.
    pub line: Option<u64>,
    /// Whether the thread is resolved.
    pub is_resolved: bool,
    /// Whether a later commit changed the line.
    pub is_outdated: bool,
    /// Whether one of its first comments is of another account.
    pub is_answered: bool,
    /// Text of the first comment.
    pub text: String,
}

/// The part of a file in the diff of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PullRequestPatch {
    /// Path relative to the root of the repository.
    pub filename: String,
    /// Hunks; `None` for a binary file and a large difference.
    pub patch: Option<String>,
}

/// How a review was posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewPlacement {
    /// With its comments on their lines.
    OnLines,
    /// With all comments in its text, because the code host rejected a line.
    AsText,
}

#[derive(Deserialize)]
struct ThreadsAnswer {
    repository: Option<ThreadsRepository>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadsRepository {
    pull_request: Option<ThreadsPull>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadsPull {
    review_threads: ForwardPage<OwnThreadNode>,
    reviews: ForwardPage<OwnNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ForwardPage<T> {
    page_info: ForwardPageInfo,
    nodes: Vec<Option<T>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ForwardPageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnThreadNode {
    id: String,
    is_resolved: bool,
    is_outdated: bool,
    comments: ThreadComments,
}

#[derive(Deserialize)]
struct ThreadComments {
    nodes: Vec<Option<OwnNode>>,
}

/// A comment or a review.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnNode {
    #[serde(default)]
    body: String,
    viewer_did_author: bool,
    path: Option<String>,
    line: Option<u64>,
    original_line: Option<u64>,
}

/// Position in a list that is read forwards; `None` at its end.
type NextPage = Option<Option<String>>;

impl<T> ForwardPage<T> {
    fn next(&self) -> NextPage {
        let info = &self.page_info;
        (info.has_next_page && info.end_cursor.is_some()).then(|| info.end_cursor.clone())
    }
}

impl CodeHost {
    /// Returns the threads and reviews of the signed-in account on a pull request.
    ///
    /// # Errors
    /// Fails with [`CodeHostApiError`], also for more pages than are read: an incomplete list would hide what was posted.
    pub async fn own_reviews(
        &self,
        repository: &RepoFullName,
        number: PullNumber,
        wait: &mut RateLimitWait,
    ) -> Result<OwnReviews, CodeHostApiError> {
        let mut own = OwnReviews::default();
        let (mut threads, mut reviews): (NextPage, NextPage) = (Some(None), Some(None));
        for _ in 0..MAX_PAGES {
            let variables = json!({"owner": repository.org(), "name": repository.name(), "number": number.get(),
                "threads": threads.clone().flatten(), "reviews": reviews.clone().flatten()});
            let answer: ThreadsAnswer = self.graphql_api(THREADS, variables, wait).await?;
            let pull = answer.repository.and_then(|repository| repository.pull_request);
            let pull = pull.ok_or(CodeHostError::Unreadable)?;
            // A list that was read to its end is read again from its start, and ignored.
            if threads.is_some() {
                threads = pull.review_threads.next();
                own.threads
                    .extend(pull.review_threads.nodes.into_iter().flatten().filter_map(OwnThread::new));
            }
            if reviews.is_some() {
                reviews = pull.reviews.next();
                let of_account =
                    pull.reviews.nodes.into_iter().flatten().filter(|node| node.viewer_did_author);
                own.reviews.extend(of_account.map(|node| node.body));
            }
            if threads.is_none() && reviews.is_none() {
                return Ok(own);
            }
        }
        Err(CodeHostError::TooMuchOutput.into())
    }

    /// Returns the files of a pull request with their hunks.
    ///
    /// # Errors
    /// Fails with [`CodeHostApiError`].
    pub async fn pull_request_patches(
        &self,
        repository: &RepoFullName,
        number: PullNumber,
        wait: &mut RateLimitWait,
    ) -> Result<Vec<PullRequestPatch>, CodeHostApiError> {
        let mut files = Vec::new();
        for page in 1..=MAX_PAGES {
            let path = format!("repos/{repository}/pulls/{number}/files?per_page={PAGE}&page={page}");
            let request = ApiRequest { method: "GET", path, body: None };
            let more: Vec<PullRequestPatch> = self.api(&request, wait).await?;
            let is_last = more.len() < PAGE;
            files.extend(more);
            if is_last {
                break;
            }
        }
        Ok(files)
    }

    /// Posts a review. If the code host rejects it, for example because a line is not in the diff of the commit, all comments
    /// become part of the review's text.
    ///
    /// # Errors
    /// Fails with [`CodeHostApiError`].
    pub async fn submit_review(
        &self,
        repository: &RepoFullName,
        review: &NewReview,
        wait: &mut RateLimitWait,
    ) -> Result<ReviewPlacement, CodeHostApiError> {
        match self.post_request(&review.request(repository), wait).await {
            Err(CodeHostApiError::Status { status: 422, .. }) if !review.comments.is_empty() => {
                self.post_request(&request(repository, review, as_text(review)), wait).await?;
                Ok(ReviewPlacement::AsText)
            }
            result => result.map(|()| ReviewPlacement::OnLines),
        }
    }

    async fn post_request(
        &self,
        request: &ApiRequest,
        wait: &mut RateLimitWait,
    ) -> Result<(), CodeHostApiError> {
        let created: Value = self.api(request, wait).await?;
        // After a redirect, the HTTP client repeats a POST as a GET, whose response is the existing list.
        if created.is_array() {
            return Err(CodeHostApiError::Status {
                status: 301,
                message: "the repository has moved".to_owned(),
            });
        }
        Ok(())
    }

    /// Resolves a thread.
    ///
    /// # Errors
    /// Fails with [`CodeHostApiError`].
    pub async fn resolve_thread(&self, id: &str, wait: &mut RateLimitWait) -> Result<(), CodeHostApiError> {
        self.graphql_api(RESOLVE, json!({"thread": id}), wait).await.map(|_: Value| ())
    }
}

impl NewReview {
    /// Returns the request that posts the review with its comments on their lines.
    #[must_use]
    pub fn request(&self, repository: &RepoFullName) -> ApiRequest {
        request(repository, self, on_lines(self))
    }
}

fn request(repository: &RepoFullName, review: &NewReview, body: Value) -> ApiRequest {
    let path = format!("repos/{repository}/pulls/{}/reviews", review.number);
    ApiRequest { method: "POST", path, body: Some(body) }
}

impl OwnThread {
    fn new(thread: OwnThreadNode) -> Option<Self> {
        let mut comments = thread.comments.nodes.into_iter().flatten();
        let first = comments.next().filter(|first| first.viewer_did_author)?;
        Some(Self {
            id: thread.id,
            path: first.path.unwrap_or_default(),
            line: first.original_line.or(first.line),
            is_resolved: thread.is_resolved,
            is_outdated: thread.is_outdated,
            is_answered: comments.any(|comment| !comment.viewer_did_author),
            text: first.body,
        })
    }
}
