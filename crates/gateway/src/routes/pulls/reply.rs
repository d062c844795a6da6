//! `POST /api/gateway/git/pr/reply`: comments on a pull request, replies to a comment, or requests changes.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_tools::code_host::{CommentResult, PullNumber, PullRequestReply};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::clone::LocalClone;
use super::report_changes;
use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::route::Endpoint;

/// The comment to post.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "prNumber": 1, "body": "It is the colour of the logo."}))]
struct ReplyToPullRequest {
    /// Path of the clone.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Number of the pull request.
    #[schema(value_type = u64, required)]
    #[serde(default, deserialize_with = "lenient::positive")]
    pr_number: Option<u64>,
    /// Text of the comment in Markdown.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    body: Option<String>,
    /// Numeric id of the line comment to reply to; absent for a new comment.
    #[serde(default, deserialize_with = "lenient::positive")]
    comment_id: Option<u64>,
    /// Whether to submit a review that requests changes.
    #[serde(default, deserialize_with = "lenient::any")]
    request_changes: Option<bool>,
}

/// The comment that was posted.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "message": "Comment posted successfully", "output": "https://github.com/acme/shop/pull/42#issuecomment-2001"}))]
#[schema(as = SaidAnswer)]
pub(crate) struct ReplyResponse {
    success: bool,
    message: &'static str,
    /// Output of the code-host program.
    output: String,
}

/// Comment on a pull request, reply to a comment, or request changes
#[utoipa::path(post, path = "/api/gateway/git/pr/reply", operation_id = "reply_to_pull_request", tag = "pull requests",
    request_body = ReplyToPullRequest,
    responses(
        (status = 200, body = ReplyResponse, description = "The comment was posted"),
        (status = 400, body = ErrorBody, description = "A required member is missing", example = json!(ErrorBody::missing_field("Missing 'body' in request body"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The directory does not exist", example = json!(ErrorBody::new(404, "repository not found"))),
        (status = 500, body = ErrorBody, description = "The code-host request failed", example = json!(ErrorBody::new(500, "Network error. Check your connection."))),
    ))]
async fn reply(
    State(app): State<App>,
    JsonBody(body): JsonBody<ReplyToPullRequest>,
) -> JsonResult<ReplyResponse> {
    let missing = |text: &str| HttpError::missing_field(text);
    let path = body.repo_path.ok_or_else(|| missing("Missing 'repoPath' in request body"))?;
    let text = body.body.ok_or_else(|| missing("Missing 'body' in request body"))?;
    let number = body.pr_number.and_then(PullNumber::new);
    let reply = PullRequestReply {
        number: number.ok_or_else(|| missing("prNumber is required"))?,
        body: text,
        reply_to: body.comment_id,
        request_changes: body.request_changes == Some(true),
    };
    let clone = LocalClone::open(&app, &path).await?;
    let result = app.code_host.reply(&clone.directory, clone.origin.as_ref(), reply).await?;
    report_changes(&app);
    let (message, output) = match result {
        CommentResult::ChangesRequested(output) => ("Changes requested", output),
        CommentResult::Replied(output) => ("Reply posted successfully", output),
        CommentResult::Commented(output) => ("Comment posted successfully", output),
    };
    Ok(Json(ReplyResponse { success: true, message, output }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(reply), &[Source::Path(At::Body("repoPath"))])
        .with_action_members(&["requestChanges"])
}
