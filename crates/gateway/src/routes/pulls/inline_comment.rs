//! `POST /api/gateway/git/pr/inline-comment`: comments on a line of a pull request.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_tools::code_host::{CommentTarget, InlineComment, PullNumber};
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

/// The comment to post.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "prNumber": 1, "body": "Why this colour?", "path": "README.md", "line": 1}))]
struct CommentOnLine {
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
    /// Path of the file in the repository.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    path: Option<String>,
    /// Line in the new version of the file.
    #[serde(default, deserialize_with = "lenient::positive")]
    line: Option<u64>,
    /// Hash of the reviewed commit. Without it, or without `path`, the comment is posted in the conversation.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    commit_sha: Option<String>,
}

/// The comment that was posted.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "output": "https://github.com/acme/shop/pull/42#discussion_r1001", "placement": "line"}))]
#[schema(as = PlacedAnswer)]
pub(crate) struct InlineCommentResponse {
    success: bool,
    /// Output of the code-host program.
    output: String,
    /// Where the comment was posted: `line`, `file` or `conversation`.
    #[schema(value_type = String)]
    placement: CommentTarget,
}

/// Comment on a line of a pull request
///
/// If the code host rejects the line, for example because the diff does not contain it, the comment is posted
/// on the file, and otherwise in the conversation.
#[utoipa::path(post, path = "/api/gateway/git/pr/inline-comment", operation_id = "comment_on_line", tag = "pull requests",
    request_body = CommentOnLine,
    responses(
        (status = 200, body = InlineCommentResponse, description = "The comment was posted"),
        (status = 400, body = ErrorBody, description = "A required member is missing", example = json!(ErrorBody::missing_field("prNumber is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The directory does not exist", example = json!(ErrorBody::new(404, "repository not found"))),
        (status = 500, body = ErrorBody, description = "The code-host request failed", example = json!(ErrorBody::new(500, "Could not determine repository"))),
    ))]
async fn inline_comment(
    State(app): State<App>,
    JsonBody(body): JsonBody<CommentOnLine>,
) -> JsonResult<InlineCommentResponse> {
    let missing = |text: &str| HttpError::missing_field(text);
    let path = body.repo_path.ok_or_else(|| missing("repoPath is required"))?;
    let number = body.pr_number.and_then(PullNumber::new);
    let number = number.ok_or_else(|| missing("prNumber is required"))?;
    let text = body.body.ok_or_else(|| missing("body is required"))?;
    let comment =
        InlineComment { number, body: text, path: body.path, line: body.line, commit: body.commit_sha };
    let clone = LocalClone::open(&app, &path).await?;
    let repository = clone.repository("Could not determine repository")?;
    let placed = app.code_host.comment_inline(&clone.directory, &repository, comment).await?;
    Ok(Json(InlineCommentResponse { success: true, output: placed.output, placement: placed.placement }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(inline_comment), &[Source::Path(At::Body("repoPath"))])
}
