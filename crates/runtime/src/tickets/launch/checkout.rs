//! The worktree of a ticket: made where it is missing, around what is in its place.

use std::path::Path;

use loopgate_api::ids::BranchName;
use loopgate_home::SandboxedPath;
use loopgate_tools::git::PreservedState;

use super::{TicketLaunchError, TicketLaunchRequest, TicketLauncher, blocking, branch_of, failed};
use crate::workspace::worktree::LOOP_BRANCHES;

impl TicketLauncher {
    /// Makes the worktree; answers what it begins at, or `None` when it was there.
    pub(super) async fn make_worktree(
        &self,
        request: &TicketLaunchRequest,
        worktree: &SandboxedPath,
    ) -> Result<Option<String>, TicketLaunchError> {
        let (repository, place) = (request.repository.as_path(), worktree.as_path());
        let preserved = PreservedState::of(place);
        let base = if place.join(".git").exists() {
            self.is_no_loops(place).await?;
            None
        } else {
            if let Err(error) = self.git.fetch(repository).await {
                tracing::info!(%error, "the remote could not be asked before a launch");
            }
            let (name, commit) = self.base_of(repository, request.base_branch.as_ref()).await?;
            let branch: BranchName = branch_of(&request.ticket).parse().map_err(failed)?;
            let moved = preserved.clone();
            blocking(move || moved.preserve().map_err(failed)).await?;
            let added = self.git.worktree_add(repository, place, &branch, &commit).await;
            if let Err(error) = added {
                blocking(move || preserved.restore().map_err(failed)).await?;
                return Err(failed(error));
            }
            Some(name)
        };
        // Also what a launch that was cut off has left there.
        blocking(move || preserved.restore().map_err(failed)).await?;
        if let Err(error) = self.git.hide_state_dir(place).await {
            tracing::info!(%error, "the files of a launch could not be hidden from git");
        }
        Ok(base)
    }

    /// A ticket may be called what a loop's worktree is called; the two never share one.
    async fn is_no_loops(&self, place: &Path) -> Result<(), TicketLaunchError> {
        let branch = self.git.current_branch(place).await.map_err(failed)?;
        match branch.filter(|branch| branch.starts_with(LOOP_BRANCHES)) {
            Some(branch) => Err(failed(format!("a loop's worktree, on {branch}, lies in its place"))),
            None => Ok(()),
        }
    }

    /// Name and commit of what the work begins at: the branch that is asked for, the remote's
    /// default one, what is checked out.
    async fn base_of(
        &self,
        repository: &Path,
        wanted: Option<&BranchName>,
    ) -> Result<(String, String), TicketLaunchError> {
        let mut names = Vec::new();
        names.extend(wanted.into_iter().flat_map(|wanted| [wanted.to_string(), format!("origin/{wanted}")]));
        let default = self.git.default_branch(repository).await.map_err(failed)?;
        names.extend(default.map(|branch| format!("origin/{branch}")));
        names.push("HEAD".to_owned());
        for name in names {
            if let Some(commit) = self.git.commit_of(repository, &name).await.map_err(failed)? {
                return Ok((name, commit));
            }
        }
        Err(TicketLaunchError::Failed("the repository has no commit".to_owned()))
    }
}
