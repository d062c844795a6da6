//! `POST /api/gateway/reviewer/chat/{ticketId}`: sends a message to the reviewer about a ticket.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::Method;
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::error::ErrorBody;
use loopgate_review::{ReviewDirectory, ReviewerChatRequest};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{argument, locate, reviews_of};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::extract::{JsonBody, RequestOrigin, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::agents_of;
use crate::routes::chats::attachments::AttachmentPaths;
use crate::routes::chats::stream;

const PATH: &str = "/api/gateway/reviewer/chat/{ticketId}";
/// `chatContextId` of a chat that resumes the session of the review.
const REVIEW_CONTEXT: &str = "review";

/// A message to the reviewer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "prompt": "Is the second finding new?", "chatContextId": "review"}))]
struct ReviewerMessage {
    /// Complete prompt, including any context.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    prompt: Option<String>,
    /// Path of the repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Model of the provider; its default when it is missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    model: Option<String>,
    /// `review` resumes the session of the review; other values select a separate session.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    chat_context_id: Option<String>,
    /// Absolute paths of files that belong to the message, such as uploaded images: at most 10 files of at
    /// most 10 MiB.
    #[schema(value_type = Option<Vec<String>>)]
    #[serde(default)]
    attachments: AttachmentPaths,
}

/// Send a message to the reviewer about a ticket
///
/// The reviewer works read-only in the ticket's worktree, or in the repository when there is none. Only the
/// session is stored; clients store the messages. The response continues when the client disconnects.
#[utoipa::path(post, path = "/api/gateway/reviewer/chat/{ticketId}", operation_id = "reviewer_chat", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "pr-7")),
    request_body = ReviewerMessage,
    responses(
        (status = 200, body = ChatEvent, content_type = "application/x-ndjson", description = "One JSON event per line; the last one is `done`"),
        (status = 400, body = ErrorBody, description = "Prompt or repository path missing",
            example = json!({"error": "prompt and repoPath are required", "code": "missing_field"})),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The session cannot be stored",
            example = json!(ErrorBody::new(500, "Failed to start the chat: no space left"))),
    ))]
async fn chat(
    State(app): State<App>,
    Extension(requester): Extension<RequestOrigin>,
    TicketPath(ticket): TicketPath,
    JsonBody(body): JsonBody<ReviewerMessage>,
) -> Result<Response, HttpError> {
    let (Some(prompt), Some(repo)) = (body.prompt, body.repo_path) else {
        return Err(HttpError::missing_field("prompt and repoPath are required"));
    };
    let provider = agents_of(&app, PATH)?.providers.reviewer();
    let model = argument("model", body.model)?;
    let (cwd, worktree, directory, attachments) = {
        let app = app.clone();
        spawn_blocking(move || {
            let (repository, worktree) = locate(&app, &repo, &ticket)?;
            let directory = ReviewDirectory::of(&app.sandbox, worktree.as_path())?;
            let path = worktree.as_path().to_owned();
            let cwd = if worktree.canonical().is_dir() { worktree } else { repository };
            Ok::<_, HttpError>((cwd, path, directory, body.attachments.check(&app.sandbox)?))
        })
        .await??
    };
    let about_review = body.chat_context_id.as_deref() == Some(REVIEW_CONTEXT);
    let request =
        ReviewerChatRequest { provider, cwd, worktree, directory, prompt, model, about_review, attachments };
    let answer = reviews_of(&app, &Method::POST, PATH)?.chat(request).await;
    let answer = answer.map_err(|error| HttpError::operation("Failed to start the chat", &error))?;
    Ok(stream::answer(&app, requester, answer))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(chat),
        &[
            Source::Path(At::Body("repoPath")),
            Source::Path(At::Body("attachments.*")),
            Source::Ticket(At::Segment("ticketId")),
        ],
    )
}
