//! `POST /api/gateway/git/pr`: opens a pull request for the current branch.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_tools::code_host::{OpenPullRequestError, OpenResult, Proposal};
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

/// The pull request to open.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "title": "Add a dark theme", "body": "Follows the system's setting.", "ticketUrl": "https://tickets.example.com/AB-1"}))]
struct OpenPullRequest {
    /// Path of the clone, whose current branch is pushed first.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    title: Option<String>,
    /// Description in Markdown.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    body: Option<String>,
    /// URL of the ticket, appended to the description.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    ticket_url: Option<String>,
}

/// The branch's pull request, whether new or existing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "url": "https://github.com/acme/shop/pull/42", "number": 42, "message": "Created PR #42"}))]
#[schema(as = OpenedAnswer)]
pub(crate) struct OpenPullRequestResponse {
    success: bool,
    /// URL of the pull request; absent when the code host did not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Number of the pull request; absent when the code host did not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    message: String,
}

/// Open a pull request
///
/// Pushes the current branch and opens a pull request against the default branch. An existing pull request of
/// the branch is returned instead.
#[utoipa::path(post, path = "/api/gateway/git/pr", operation_id = "open_pull_request", tag = "pull requests",
    request_body = OpenPullRequest,
    responses(
        (status = 200, body = OpenPullRequestResponse, description = "The pull request exists"),
        (status = 400, body = ErrorBody, description = "A member is missing, or HEAD is detached", example = json!(ErrorBody::missing_field("title is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The directory does not exist", example = json!(ErrorBody::new(404, "repository not found"))),
        (status = 500, body = ErrorBody, description = "git or the code host failed", example = json!(ErrorBody::new(500, "Repository not found or no access."))),
    ))]
async fn open(
    State(app): State<App>,
    JsonBody(body): JsonBody<OpenPullRequest>,
) -> JsonResult<OpenPullRequestResponse> {
    let path = body.repo_path.ok_or_else(|| HttpError::missing_field("repoPath is required"))?;
    let title = body.title.ok_or_else(|| HttpError::missing_field("title is required"))?;
    let text = full_text(&body.body.unwrap_or_default(), body.ticket_url.as_deref());
    let LocalClone { directory, .. } = LocalClone::open(&app, &path).await?;
    let proposal = Proposal { title, body: text };
    let result = app.code_host.open_pull_request(&app.git, &directory, proposal).await;
    match result {
        Ok(opened) => Ok(Json(opened.into())),
        // The caller can fix this one, by checking out a branch.
        Err(error @ OpenPullRequestError::Detached) => Err(HttpError::bad_request(error.user_message())),
        Err(error) => {
            tracing::warn!(%error, "failed to open pull request");
            Err(HttpError::failed(error.user_message()))
        }
    }
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(open), &[Source::Path(At::Body("repoPath"))])
}

/// Returns the description, with the ticket's URL below a horizontal rule.
fn full_text(body: &str, ticket_url: Option<&str>) -> String {
    match ticket_url {
        // Trimmed for an empty description, which would otherwise leave blank lines at the start.
        Some(url) => format!("{body}\n\n---\nTicket: {url}").trim().to_owned(),
        None => body.to_owned(),
    }
}

impl From<OpenResult> for OpenPullRequestResponse {
    fn from(opened: OpenResult) -> Self {
        let (url, number) = opened.pull.map(|pull| (pull.url, pull.number)).unzip();
        let number_text = number.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
        let message = match opened.existed {
            true => format!("PR #{number_text} already exists"),
            false => format!("Created PR #{number_text}"),
        };
        Self { success: true, url, number, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticket_url_is_appended_to_the_description() {
        assert_eq!(full_text("Why.", None), "Why.");
        assert_eq!(full_text("Why.", Some("https://t/1")), "Why.\n\n---\nTicket: https://t/1");
        assert_eq!(full_text("", Some("https://t/1")), "---\nTicket: https://t/1");
    }

    #[test]
    fn message_says_unknown_when_the_number_is_missing() {
        let answer = OpenPullRequestResponse::from(OpenResult { pull: None, existed: false });
        let json = serde_json::to_string(&answer).unwrap();
        assert_eq!(json, r##"{"success":true,"message":"Created PR #unknown"}"##);
    }
}
