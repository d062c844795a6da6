//! Resolution of directories in requests to paths inside the sandbox.

use std::path::PathBuf;

use loopgate_api::ids::TicketId;
use loopgate_home::SandboxedPath;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::lenient;

/// Body members that identify the worktree of a ticket.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"ticketId": "AB-1", "repoPath": "~/src/shop"}))]
pub(crate) struct TicketMembers {
    /// Id of the ticket.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    ticket_id: Option<String>,
    /// Path of the ticket's clone, inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
}

impl TicketMembers {
    /// Returns both members.
    ///
    /// # Errors
    /// 400 `missing_field` when either is missing.
    pub(crate) fn required(self) -> Result<TicketReference, HttpError> {
        match (self.ticket_id, self.repo_path) {
            (Some(ticket), Some(repo)) => Ok(TicketReference { ticket: TicketId::new(ticket), repo }),
            _ => Err(HttpError::missing_field("ticketId and repoPath are required")),
        }
    }
}

/// A ticket and the path of its repository, not yet checked against the sandbox.
#[derive(Debug)]
pub(crate) struct TicketReference {
    pub(crate) ticket: TicketId,
    pub(crate) repo: String,
}

impl TicketReference {
    /// Resolves the repository, and the ticket's worktree if it exists.
    ///
    /// # Errors
    /// 403 when either path is outside the sandbox.
    pub(crate) async fn resolve(
        &self,
        app: &App,
    ) -> Result<(SandboxedPath, Option<SandboxedPath>), HttpError> {
        let (app, ticket, repo) = (app.clone(), self.ticket.clone(), self.repo.clone());
        let resolved = spawn_blocking(move || {
            let repository = app.sandbox.check(repo)?;
            let worktree = ticket_worktree(&app, &repository, &ticket)?;
            Ok((repository, worktree))
        });
        resolved.await?
    }

    /// Like [`Self::resolve`], but requires the worktree to exist.
    ///
    /// # Errors
    /// 403 as for [`Self::resolve`]; 404 when the worktree does not exist.
    pub(crate) async fn existing(&self, app: &App) -> Result<(SandboxedPath, SandboxedPath), HttpError> {
        let (repository, worktree) = self.resolve(app).await?;
        Ok((repository, worktree.ok_or_else(|| HttpError::not_found("Work directory not found"))?))
    }
}

/// Resolves a directory that must exist. `missing` builds the error for a path inside the sandbox without a
/// directory.
///
/// # Errors
/// 403 when the path is outside the sandbox.
pub(crate) async fn existing_directory(
    app: &App,
    path: &str,
    missing: impl FnOnce(PathBuf) -> HttpError,
) -> Result<SandboxedPath, HttpError> {
    let (app, path) = (app.clone(), path.to_owned());
    let checked = spawn_blocking(move || {
        // A denied path is reported as such whether or not it exists, so a 404 reveals nothing outside the
        // sandbox.
        let directory = app.sandbox.check(path).ok()?;
        let exists = directory.canonical().is_dir();
        Some((directory, exists))
    });
    match checked.await? {
        Some((directory, true)) => Ok(directory),
        Some((directory, false)) => Err(missing(directory.as_path().to_owned())),
        None => Err(HttpError::directory_not_allowed()),
    }
}

/// Returns the existing worktree of a ticket. Performs blocking I/O.
///
/// # Errors
/// 403 when the ticket has no worktree and the location of a new one would be outside the sandbox.
pub(crate) fn ticket_worktree(
    app: &App,
    repository: &SandboxedPath,
    ticket: &TicketId,
) -> Result<Option<SandboxedPath>, HttpError> {
    // `Ok(None)` here would disclose that nothing exists at a path outside the sandbox.
    match app.worktree_layout.work_on_ticket(repository, ticket) {
        None if app.worktree_layout.for_ticket(repository, ticket).is_err() => {
            Err(HttpError::directory_not_allowed())
        }
        worktree => Ok(worktree),
    }
}
