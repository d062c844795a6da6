//! Launches the loop script of a ticket: its worktree, its requirements, and at most one script at a time.
//!
//! The script outlives the request and this process. It has no job record: the pid and the start time in the
//! work directory show whether it is running.

mod checkout;
mod files;
mod lock;
mod prd;
mod script;

use std::path::PathBuf;
use std::sync::Arc;

use loopgate_api::ids::{BranchName, LoopId, TicketId};
use loopgate_api::names::PRD_MD;
use loopgate_home::{Sandbox, SandboxedPath};
use loopgate_tools::git::Git;
use loopgate_tools::programs::Programs;
use serde_json::Value;
use thiserror::Error;
use uuid::Uuid;

pub(crate) use self::files::{get as get_of_work_dir, merge_metadata as merge_launch_metadata};
pub use self::prd::TicketText;
use crate::jobs::reservations::Reservations;
use crate::stop::Stopper;
use crate::tasks::Tasks;
use crate::workspace::worktree_layout::WorktreeLayout;
use loopgate_tools::environment::ProcessEnvironment;
use loopgate_tools::shim::ProcessRegistry;
use loopgate_tools::shim::Shims;

/// Parameters of a launch.
#[derive(Debug, Clone)]
pub struct TicketLaunchRequest {
    pub repository: SandboxedPath,
    pub ticket: TicketId,
    /// Branch to start from; `None` means the remote's default branch.
    pub base_branch: Option<BranchName>,
    /// Text for the requirements file; `None` writes no file.
    pub text: Option<TicketText>,
    /// Id of the ticket in its tracker.
    pub issue_id: Option<String>,
}

/// Result of a launch.
#[derive(Debug, Clone)]
pub struct TicketLaunch {
    pub worktree: PathBuf,
    pub branch: String,
    /// Pid of the script; `None` when there is no script.
    pub pid: Option<u32>,
    /// Name of the commit from which the work started.
    pub base_branch: Option<String>,
    /// Ticket that this one belongs to.
    pub parent_ticket_id: Option<String>,
    /// Whether the script was already running.
    pub already_running: bool,
}

/// Error of a launch.
#[derive(Debug, Error)]
pub enum TicketLaunchError {
    /// The worktree would be outside the sandbox.
    #[error("directory not allowed")]
    NotAllowed,
    /// Another launch of this ticket is in progress, or a loop works in its worktree.
    #[error("Launch already in progress")]
    InProgress,
    /// The script did not start.
    #[error("failed to launch work loop: process did not start")]
    NotStarted,
    /// Any other failure, with its cause.
    #[error("Failed to launch Orchestrator: {0}")]
    Failed(String),
}

fn failed(error: impl std::fmt::Display) -> TicketLaunchError {
    TicketLaunchError::Failed(error.to_string())
}

/// Launches the loop scripts of tickets.
pub struct TicketLauncher {
    pub(crate) layout: WorktreeLayout,
    pub(crate) git: Git,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) reservations: Reservations,
    pub(crate) processes: ProcessRegistry,
    pub(crate) stopper: Arc<Stopper>,
    pub(crate) shims: Shims,
    pub(crate) programs: Arc<Programs>,
    pub(crate) environment: ProcessEnvironment,
    pub(crate) tasks: Tasks,
}

impl TicketLauncher {
    /// Creates the ticket's worktree if it is missing, and starts the script in it. Runs to completion even
    /// when the future is dropped.
    ///
    /// # Errors
    /// Fails with [`TicketLaunchError`] when the script cannot be launched.
    pub async fn launch(
        self: &Arc<Self>,
        request: TicketLaunchRequest,
    ) -> Result<TicketLaunch, TicketLaunchError> {
        let launcher = self.clone();
        let launching = self.tasks.spawn(async move { launcher.launch_here(request).await });
        launching.await.map_err(failed)?
    }

    async fn launch_here(
        self: &Arc<Self>,
        request: TicketLaunchRequest,
    ) -> Result<TicketLaunch, TicketLaunchError> {
        let (request, layout) = (Arc::new(request), self.layout.clone());
        let worktree = blocking({
            let request = request.clone();
            move || match layout.ticket_worktree(&request.repository, &request.ticket) {
                Some(worktree) => Ok(worktree),
                None => {
                    let place = layout.for_ticket(&request.repository, &request.ticket);
                    place.map_err(|_| TicketLaunchError::NotAllowed)
                }
            }
        });
        let worktree = worktree.await?;
        if let Some(running) = self.running_at(&worktree, &request).await? {
            return Ok(running);
        }
        // The reservation excludes launches and loops of this process, the lock file those of other
        // processes.
        let reservation = self.reservations.reserve(LoopId(Uuid::new_v4()));
        let reservation = reservation.filter(|reservation| reservation.claim(worktree.as_path()).is_ok());
        let reservation = reservation.ok_or(TicketLaunchError::InProgress)?;
        let (sandbox, place) = (self.sandbox.clone(), worktree.clone());
        let lock =
            blocking(move || lock::acquire(&sandbox, &place)).await?.ok_or(TicketLaunchError::InProgress)?;
        // Another launch may have completed between the check and the lock.
        if let Some(running) = self.running_at(&worktree, &request).await? {
            return Ok(running);
        }
        let base = self.create_worktree(&request, &worktree).await?;
        let branch = self.branch_at(&request, &worktree).await;
        let launch = blocking({
            let (request, worktree) = (request.clone(), worktree.clone());
            move || {
                write_prd(&worktree, &request)?;
                merge_metadata(&worktree, &request, base)?;
                Ok(describe(&worktree, branch))
            }
        });
        let launch = launch.await?;
        let pid = self.start_script(&worktree).await?;
        // Held until the pid files are written, by which the next launch finds the script.
        drop((lock, reservation));
        Ok(TicketLaunch { pid, ..launch })
    }

    /// Returns the launch whose script already runs in the worktree, after updating its requirements file.
    async fn running_at(
        &self,
        worktree: &SandboxedPath,
        request: &Arc<TicketLaunchRequest>,
    ) -> Result<Option<TicketLaunch>, TicketLaunchError> {
        let Some(pid) = self.script_at(worktree).await? else { return Ok(None) };
        let branch = self.branch_at(request, worktree).await;
        let (worktree, request) = (worktree.clone(), request.clone());
        let described = blocking(move || {
            write_prd(&worktree, &request)?;
            Ok(describe(&worktree, branch))
        });
        Ok(Some(TicketLaunch { pid: Some(pid), already_running: true, ..described.await? }))
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TicketLaunchError> + Send + 'static,
) -> Result<T, TicketLaunchError> {
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

/// Returns the names for the branch of a ticket, the preferred one first.
fn branches_of(ticket: &TicketId) -> [String; 2] {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let name: String = ticket.as_str().chars().map(safe).collect();
    [format!("feature/{name}"), format!("feature-{name}")]
}

fn describe(worktree: &SandboxedPath, branch: String) -> TicketLaunch {
    let metadata = files::metadata_of(worktree);
    let text = |name: &str| metadata.get(name).and_then(Value::as_str).map(str::to_owned);
    TicketLaunch {
        worktree: worktree.as_path().to_owned(),
        branch,
        pid: None,
        base_branch: text("baseBranch"),
        parent_ticket_id: text("parentTicketId"),
        already_running: false,
    }
}

fn write_prd(worktree: &SandboxedPath, request: &TicketLaunchRequest) -> Result<(), TicketLaunchError> {
    let Some(text) = &request.text else { return Ok(()) };
    let markdown = text.markdown(worktree.as_path(), &request.repository.base_name());
    files::put(worktree, PRD_MD, markdown.as_bytes()).map_err(failed)
}

fn merge_metadata(
    worktree: &SandboxedPath,
    request: &TicketLaunchRequest,
    base: Option<String>,
) -> Result<(), TicketLaunchError> {
    let title = request.text.as_ref().and_then(|text| text.title.clone());
    let base = base.or_else(|| request.base_branch.as_ref().map(ToString::to_string));
    let facts = [("issueId", request.issue_id.clone()), ("ticketTitle", title), ("baseBranch", base)];
    files::merge_metadata(worktree, facts).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticket_names_its_branch() {
        let names = branches_of(&TicketId::new("SHOP-7_a b/.."));
        assert_eq!(names, ["feature/SHOP-7_a-b---", "feature-SHOP-7_a-b---"]);
    }
}
