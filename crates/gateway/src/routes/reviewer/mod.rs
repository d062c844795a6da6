//! `/api/gateway/reviewer/`: reviews of a ticket's worktree.

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

/// The repository, for routes whose body may name it instead.
#[derive(IntoParams)]
#[allow(dead_code, reason = "describes the query in the OpenAPI document; it is read member by member")]
#[into_params(parameter_in = Query)]
struct OptionalRepositoryQuery {
    /// Path of the repository
    #[param(required = false, example = "~/src/shop")]
    repo: String,
}

/// The repository of a request, and the worktree of its ticket, which may not be there yet. Blocks on the disk.
fn locate(app: &App, repo: &str, ticket: &TicketId) -> Result<(SandboxedPath, SandboxedPath), HttpError> {
    let repository = app.sandbox.check(repo).map_err(|_| HttpError::directory_not_allowed())?;
    let worktree = match ticket_worktree(app, &repository, ticket)? {
        Some(worktree) => worktree,
        None => {
            let place = app.worktree_layout.for_ticket(&repository, ticket);
            place.map_err(|_| HttpError::directory_not_allowed())?
        }
    };
    Ok((repository, worktree))
}

/// The worktree of a ticket. Blocks on the disk.
///
/// # Errors
/// 404 when there is none.
fn existing_worktree(app: &App, repo: &str, ticket: &TicketId) -> Result<SandboxedPath, HttpError> {
    let (_, worktree) = locate(app, repo, ticket)?;
    if worktree.canonical().is_dir() {
        Ok(worktree)
    } else {
        Err(HttpError::not_found("Work directory not found"))
    }
}

/// The work directory of a ticket, where the files of its reviews lie; it may not be there yet. Blocks on the
/// disk.
fn review_directory(app: &App, repo: &str, ticket: &TicketId) -> Result<ReviewDirectory, HttpError> {
    let (_, worktree) = locate(app, repo, ticket)?;
    Ok(ReviewDirectory::of(&app.sandbox, worktree.as_path())?)
}

/// A gateway may run without agents; it then reviews nothing.
fn reviews_of<'a>(app: &'a App, method: &http::Method, path: &str) -> Result<&'a Reviews, HttpError> {
    app.reviews.as_ref().ok_or_else(|| HttpError::not_implemented(method, path))
}

/// The providers whose reviews a query is about: the one that it names, or both that always review.
///
/// # Errors
/// 400 for a provider that is none: its name would become part of a file's name.
fn providers_of(app: &App, query: &QueryMembers) -> Result<Vec<ProviderId>, HttpError> {
    match query.get("provider").filter(|name| !name.is_empty()) {
        None => Ok(vec![ProviderId::ASSISTANT, ProviderId::REVIEWER]),
        Some(name) => Ok(vec![super::agents::known_provider(app, name)?]),
    }
}

/// A text that becomes an argument of a program: it must not be read as an option.
///
/// # Errors
/// 400 when it could be.
fn argument(name: &str, text: Option<String>) -> Result<Option<String>, HttpError> {
    match text {
        Some(text) if text.starts_with('-') || text.chars().any(char::is_control) => {
            Err(HttpError::bad_request(format!("{name} contains invalid characters")))
        }
        text => Ok(text),
    }
}

/// A body, refused in the words of the routes that work on the text of a review.
fn body_of<T>(body: Result<JsonBody<T>, HttpError>) -> Result<T, HttpError> {
    body.map(|JsonBody(body)| body).map_err(|error| match error.body.code.as_str() {
        INVALID_JSON_BODY => {
            HttpError::bad_request("Invalid or empty JSON body").with_code(INVALID_JSON_BODY)
        }
        _ => error,
    })
}
