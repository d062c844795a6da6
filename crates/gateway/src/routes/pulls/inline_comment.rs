//! `POST /api/gateway/git/pr/inline-comment`: a remark on a line of a pull request.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_tools::code_host::{InlineComment, Placement, PullNumber};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::clone::NamedClone;
use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonMembers;
use crate::route::Endpoint;

/// A remark to make.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; it is read member by member")]
#[schema(example = json!({"repoPath": "~/src/shop", "prNumber": 1, "body": "Why this colour?", "path": "README.md", "line": 1}))]
struct CommentOnLine {
    /// Path of the clone.
    repo_path: String,
    /// Number of the pull request.
    pr_number: u64,
    /// Markdown.
    body: String,
    /// File in the pull request.
    path: Option<String>,
    /// Line in the newer version.
    line: Option<u64>,
    /// The commit that was looked at.
    commit_sha: Option<String>,
}

/// That it was made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "output": "https://github.com/acme/shop/pull/42#discussion_r1001", "placement": "line"}))]
pub(crate) struct PlacedAnswer {
    success: bool,
    /// What the code-host program printed.
    output: String,
    /// `line`, `file` or `conversation`.
    #[schema(value_type = String)]
    placement: Placement,
}

/// Comment on a line of a pull request
///
/// Where the code host refuses the line, the remark goes to the file, and else to the conversation.
#[utoipa::path(post, path = "/api/gateway/git/pr/inline-comment", operation_id = "comment_on_line", tag = "pull requests",
    request_body = CommentOnLine,
    responses(
        (status = 200, body = PlacedAnswer, description = "It was made"),
        (status = 400, body = ErrorBody, description = "A member is missing", example = json!(ErrorBody::new(400, "prNumber is required"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::new(403, "directory not allowed"))),
        (status = 404, body = ErrorBody, description = "No such directory", example = json!(ErrorBody::new(404, "repository not found"))),
        (status = 500, body = ErrorBody, description = "The code host said no", example = json!(ErrorBody::new(500, "Could not determine repository"))),
    ))]
async fn inline_comment(State(app): State<App>, body: JsonMembers) -> JsonResult<PlacedAnswer> {
    let missing = |text: &str| HttpError::bad_request(text);
    let path = body.words("repoPath").ok_or_else(|| missing("repoPath is required"))?;
    let number = body.count("prNumber").and_then(PullNumber::new);
    let number = number.ok_or_else(|| missing("prNumber is required"))?;
    let text = body.words("body").ok_or_else(|| missing("body is required"))?;
    let comment = InlineComment {
        number,
        body: text.to_owned(),
        path: body.words("path").map(ToOwned::to_owned),
        line: body.count("line"),
        commit: body.words("commitSha").map(ToOwned::to_owned),
    };
    let clone = NamedClone::at(&app, path).await?;
    let repository = clone.repository("Could not determine repository")?;
    let placed = app.code_host.comment_inline(&clone.directory, &repository, comment).await?;
    Ok(Json(PlacedAnswer { success: true, output: placed.output, placement: placed.placement }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(inline_comment), &[Source::Path(At::Body("repoPath"))])
}
