//! `/api/gateway/reviewer/`: reviews of the worktree of a ticket, and the discussion of their findings.

pub(crate) mod argue;
pub(crate) mod available;
pub(crate) mod chat;
pub(crate) mod duplicates;
pub(crate) mod extraction;
pub(crate) mod finding_chat;
pub(crate) mod findings;
pub(crate) mod review;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod verdict;

use loopgate_api::error::INVALID_JSON_BODY;
use loopgate_api::ids::TicketId;
use loopgate_api::provider::ProviderId;
use loopgate_home::SandboxedPath;
use loopgate_review::{ReviewDirectory, Reviews};
use utoipa::IntoParams;

use crate::app::App;
use crate::error::HttpError;
use crate::extract::{JsonBody, QueryMembers};
use crate::routes::directory::ticket_worktree;

/// Query of routes whose body can name the repository instead.
#[derive(IntoParams)]
#[allow(dead_code, reason = "describes the query in the OpenAPI document; it is read member by member")]
#[into_params(parameter_in = Query)]
struct OptionalRepositoryQuery {
    /// Path of the repository
    #[param(required = false, example = "~/src/shop")]
    repo: String,
}

/// Resolves the repository and the ticket's worktree, which may not exist yet. Performs blocking I/O.
///
/// # Errors
/// 403 when either is outside the sandbox.
fn locate(app: &App, repo: &str, ticket: &TicketId) -> Result<(SandboxedPath, SandboxedPath), HttpError> {
    let repository = app.sandbox.check(repo).map_err(|_| HttpError::directory_not_allowed())?;
    let worktree = match ticket_worktree(app, &repository, ticket)? {
        Some(worktree) => worktree,
        None => {
            let location = app.worktree_layout.for_ticket(&repository, ticket);
            location.map_err(|_| HttpError::directory_not_allowed())?
        }
    };
    Ok((repository, worktree))
}

/// Resolves the existing worktree of a ticket. Performs blocking I/O.
///
/// # Errors
/// 403 when it is outside the sandbox; 404 when it does not exist.
fn existing_worktree(app: &App, repo: &str, ticket: &TicketId) -> Result<SandboxedPath, HttpError> {
    let (_, worktree) = locate(app, repo, ticket)?;
    if worktree.canonical().is_dir() {
        Ok(worktree)
    } else {
        Err(HttpError::not_found("Work directory not found"))
    }
}

/// Resolves the work directory with the review files of a ticket, which may not exist yet. Performs blocking
/// I/O.
fn review_directory(app: &App, repo: &str, ticket: &TicketId) -> Result<ReviewDirectory, HttpError> {
    let (_, worktree) = locate(app, repo, ticket)?;
    Ok(ReviewDirectory::of(&app.sandbox, worktree.as_path())?)
}

/// Returns the review service.
///
/// # Errors
/// 501 when the gateway runs without agents.
fn reviews_of<'a>(app: &'a App, method: &http::Method, path: &str) -> Result<&'a Reviews, HttpError> {
    app.reviews.as_ref().ok_or_else(|| HttpError::not_implemented(method, path))
}

/// Returns the providers whose reviews a query selects: the one it names, or the assistant and the reviewer.
///
/// # Errors
/// 400 for an unregistered provider, because the name becomes part of a file name.
fn providers_of(app: &App, query: &QueryMembers) -> Result<Vec<ProviderId>, HttpError> {
    match query.get("provider").filter(|name| !name.is_empty()) {
        None => Ok(vec![ProviderId::ASSISTANT, ProviderId::REVIEWER]),
        Some(name) => Ok(vec![super::agents::parse_provider(app, name)?]),
    }
}

/// Validates a text that becomes a command-line argument.
///
/// # Errors
/// 400 for a text that starts with `-`, which the program would parse as an option, or that contains control
/// characters.
fn argument(name: &str, text: Option<String>) -> Result<Option<String>, HttpError> {
    match text {
        Some(text) if text.starts_with('-') || text.chars().any(char::is_control) => {
            Err(HttpError::bad_request(format!("{name} contains invalid characters")))
        }
        text => Ok(text),
    }
}

/// Unwraps a body. Malformed JSON has a different message on the routes that process review texts.
fn unwrap_body<T>(body: Result<JsonBody<T>, HttpError>) -> Result<T, HttpError> {
    body.map(|JsonBody(body)| body).map_err(|error| match error.body.code.as_str() {
        INVALID_JSON_BODY => {
            HttpError::bad_request("Invalid or empty JSON body").with_code(INVALID_JSON_BODY)
        }
        _ => error,
    })
}
