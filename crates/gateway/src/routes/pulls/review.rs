//! `POST /api/gateway/git/pr/review`: posts a review with comments on lines to a pull request.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::review_comments::CommentSide;
use loopgate_tools::code_host::{NewReview, NewReviewComment, PullNumber};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::clone::LocalClone;
use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::route::Endpoint;

/// Largest number of comments in a review.
const MAX_COMMENTS: usize = 200;

/// The review to post.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "prNumber": 1, "comments": [{"path": "README.md", "lines": {"side": "new", "from": 1, "to": 1}, "body": "Why this name?"}]}))]
struct NewPullRequestReview {
    /// Path of the clone.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Number of the pull request.
    #[schema(value_type = u64, required)]
    #[serde(default, deserialize_with = "lenient::positive")]
    pr_number: Option<u64>,
    /// Text of the review in Markdown. Required without comments.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    body: Option<String>,
    /// Hash of the reviewed commit.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    commit_sha: Option<String>,
    /// At most 200 comments.
    #[serde(default, deserialize_with = "lenient::elements")]
    comments: Vec<ReviewedPlace>,
}

/// A comment of a review.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"path": "README.md", "lines": {"side": "new", "from": 1, "to": 1}, "body": "Why this name?"}))]
struct ReviewedPlace {
    /// Path of the file in the repository.
    path: String,
    /// The lines; absent for a comment on the file.
    #[serde(default)]
    lines: Option<ReviewedLines>,
    /// Text of the comment in Markdown.
    body: String,
}

/// Lines of a file on one side of the change.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"side": "new", "from": 1, "to": 1}))]
struct ReviewedLines {
    side: CommentSide,
    /// First line, from 1.
    from: u64,
    /// Last line.
    to: u64,
}

/// The review that was posted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "onLines": true}))]
pub(crate) struct PostedReview {
    success: bool,
    /// Whether the comments are on their lines. Otherwise the code host rejected a line, and all are in the text.
    on_lines: bool,
}

/// Post a review with comments on lines
///
/// One request to the code host posts the review with all comments. It neither approves nor requests changes.
#[utoipa::path(post, path = "/api/gateway/git/pr/review", operation_id = "post_review", tag = "pull requests",
    request_body = NewPullRequestReview,
    responses(
        (status = 200, body = PostedReview, description = "The review was posted"),
        (status = 400, body = ErrorBody, description = "A required member is missing", example = json!(ErrorBody::missing_field("prNumber is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The directory does not exist", example = json!(ErrorBody::new(404, "repository not found"))),
        (status = 500, body = ErrorBody, description = "The code-host request failed", example = json!(ErrorBody::new(500, "Could not determine repository"))),
    ))]
async fn review(
    State(app): State<App>,
    JsonBody(body): JsonBody<NewPullRequestReview>,
) -> JsonResult<PostedReview> {
    let missing = |text: &str| HttpError::missing_field(text);
    let path = body.repo_path.ok_or_else(|| missing("repoPath is required"))?;
    let number = body.pr_number.and_then(PullNumber::new);
    let number = number.ok_or_else(|| missing("prNumber is required"))?;
    if body.body.is_none() && body.comments.is_empty() {
        return Err(missing("body or comments are required"));
    }
    if body.comments.len() > MAX_COMMENTS {
        return Err(HttpError::bad_request(format!("comments must be at most {MAX_COMMENTS} comments")));
    }
    let comment = |place: ReviewedPlace| NewReviewComment {
        path: place.path,
        lines: place.lines.map(|lines| (lines.side, lines.from, lines.to)),
        body: place.body,
    };
    let review = NewReview {
        number,
        commit: body.commit_sha,
        body: body.body.unwrap_or_default(),
        comments: body.comments.into_iter().map(comment).collect(),
    };
    let clone = LocalClone::open(&app, &path).await?;
    let repository = clone.repository("Could not determine repository")?;
    let on_lines = app.code_host.post_review(&clone.directory, &repository, review).await?;
    Ok(Json(PostedReview { success: true, on_lines }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(review), &[Source::Path(At::Body("repoPath"))])
}
