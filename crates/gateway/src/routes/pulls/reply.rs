//! `POST /api/gateway/git/pr/reply`: something to say about a pull request.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::OperationId;
use loopgate_tools::code_host::{PullNumber, Reply, Said};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{clone_at, failed, origin_of};
use crate::answer::{Answer, Failure};
use crate::app::App;
use crate::extract::JsonMembers;
use crate::router::Route;

/// Something to say.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; it is read member by member")]
struct ReplyToPullRequest {
    /// Path of the clone.
    repo_path: String,
    /// Number of the pull request.
    pr_number: u64,
    /// Markdown.
    body: String,
    /// Number of the comment on a line that is answered.
    comment_id: Option<u64>,
    /// Whether it is a review that asks for changes.
    request_changes: Option<bool>,
}

/// That it was said.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SaidAnswer {
    success: bool,
    message: &'static str,
    /// What the code-host program printed.
    output: String,
}

/// Comment on a pull request, answer a comment, or ask for changes
#[utoipa::path(post, path = "/api/gateway/git/pr/reply", operation_id = "reply_to_pull_request", tag = "pull requests",
    request_body = ReplyToPullRequest,
    responses(
        (status = 200, body = SaidAnswer, description = "It was said"),
        (status = 400, body = ErrorBody, description = "A member is missing"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 404, body = ErrorBody, description = "No such directory"),
        (status = 500, body = ErrorBody, description = "The code host said no"),
    ))]
async fn reply(State(app): State<App>, body: JsonMembers) -> Answer<SaidAnswer> {
    let missing = |text: &str| Failure::bad_request(text);
    let path = body.words("repoPath").ok_or_else(|| missing("Missing 'repoPath' in request body"))?;
    let text = body.words("body").ok_or_else(|| missing("Missing 'body' in request body"))?;
    let number = body.count("prNumber").and_then(PullNumber::new);
    let reply = Reply {
        number: number.ok_or_else(|| missing("prNumber is required"))?,
        body: text.to_owned(),
        answers: body.count("commentId"),
        request_changes: body.flag("requestChanges") == Some(true),
    };
    let clone = clone_at(&app, path).await?;
    let origin = origin_of(&app, clone.canonical()).await;
    let said = app.code_host.reply(clone.canonical(), origin.as_ref(), reply).await;
    let said = said.map_err(|error| {
        tracing::warn!(%error, "nothing was said about a pull request");
        failed(error.sentence())
    })?;
    let (message, output) = match said {
        Said::Demanded(output) => ("Changes requested", output),
        Said::Answered(output) => ("Reply posted successfully", output),
        Said::Commented(output) => ("Comment posted successfully", output),
    };
    Ok(Json(SaidAnswer { success: true, message, output }))
}

pub(crate) fn route() -> Route {
    Route::new(routes!(reply), OperationId::GitPr)
}
