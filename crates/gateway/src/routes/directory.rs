//! Directories that requests name, in the sandbox.

use std::path::PathBuf;

use loopgate_api::ids::TicketId;
use loopgate_home::SandboxedPath;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::lenient;

/// Members of a body that is about the worktree of a ticket.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"ticketId": "AB-1", "repoPath": "~/src/shop"}))]
pub(crate) struct TicketMembers {
    /// The ticket.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    ticket_id: Option<String>,
    /// The clone that it belongs to, inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
}

impl TicketMembers {
    /// Both members.
    ///
    /// # Errors
    /// 400 `missing_field` when one is missing.
    pub(crate) fn required(self) -> Result<TicketReference, HttpError> {
        match (self.ticket_id, self.repo_path) {
            (Some(ticket), Some(repo)) => Ok(TicketReference { ticket: TicketId::new(ticket), repo }),
            _ => Err(HttpError::missing_field("ticketId and repoPath are required")),
        }
    }
}

/// A ticket and the path of its repository, as a request names them.
#[derive(Debug)]
pub(crate) struct TicketReference {
    pub(crate) ticket: TicketId,
    pub(crate) repo: String,
}

impl TicketReference {
    /// The repository, and the worktree that it has for the ticket.
    ///
    /// # Errors
    /// 403 when one of them is outside the sandbox.
    pub(crate) async fn resolve(
        &self,
        app: &App,
    ) -> Result<(SandboxedPath, Option<SandboxedPath>), HttpError> {
        let (app, ticket, repo) = (app.clone(), self.ticket.clone(), self.repo.clone());
        let resolving = spawn_blocking(move || {
            let repository = app.sandbox.check(repo)?;
            let worktree = ticket_worktree(&app, &repository, &ticket)?;
            Ok((repository, worktree))
        });
        resolving.await?
    }

    /// As [`Self::resolve`], with a worktree that has to exist.
    ///
    /// # Errors
    /// Also 404 when there is none.
    pub(crate) async fn existing(&self, app: &App) -> Result<(SandboxedPath, SandboxedPath), HttpError> {
        let (repository, worktree) = self.resolve(app).await?;
        Ok((repository, worktree.ok_or_else(|| HttpError::not_found("Work directory not found"))?))
    }
}

/// A directory that a caller names, when it is allowed and exists. `missing` makes the error for its path.
pub(crate) async fn existing_directory(
    app: &App,
    named: &str,
    missing: impl FnOnce(PathBuf) -> HttpError,
) -> Result<SandboxedPath, HttpError> {
    let (app, named) = (app.clone(), named.to_owned());
    let looked = spawn_blocking(move || {
        let place = app.sandbox.check(named).ok()?;
        let there = place.canonical().is_dir();
        Some((place, there))
    });
    match looked.await? {
        Some((place, true)) => Ok(place),
        Some((place, false)) => Err(missing(place.as_path().to_owned())),
        None => Err(HttpError::directory_not_allowed()),
    }
}

/// Where the work on a ticket lies, when there is some. Blocks on the disk.
///
/// # Errors
/// 403 when there is none, and the place where it would be made is outside the sandbox: whether
/// something is there must not be revealed.
pub(crate) fn ticket_worktree(
    app: &App,
    repository: &SandboxedPath,
    ticket: &TicketId,
) -> Result<Option<SandboxedPath>, HttpError> {
    match app.worktree_layout.work_on_ticket(repository, ticket) {
        None if app.worktree_layout.for_ticket(repository, ticket).is_err() => {
            Err(HttpError::directory_not_allowed())
        }
        found => Ok(found),
    }
}
