//! The worktree of a ticket: created if missing, while the state directory at its path is preserved.

use std::path::Path;

use loopgate_api::ids::BranchName;
use loopgate_home::SandboxedPath;
use loopgate_tools::git::{PreservedState, is_loop_branch};

use super::{TicketLaunchError, TicketLaunchRequest, TicketLauncher, blocking, branches_of, failed};
use crate::workspace::worktree::complete;

impl TicketLauncher {
    /// Creates the worktree; returns the name of its start commit, or `None` when it already exists.
    pub(super) async fn create_worktree(
        &self,
        request: &TicketLaunchRequest,
        worktree: &SandboxedPath,
    ) -> Result<Option<String>, TicketLaunchError> {
        let (repository, place) = (request.repository.as_path(), worktree.as_path());
        let preserved = PreservedState::of(place);
        let base = if place.join(".git").exists() {
            self.check_not_of_loop(place).await?;
            None
        } else {
            if let Err(error) = self.git.fetch(repository).await {
                tracing::info!(%error, "cannot fetch the remote before a launch");
            }
            let (name, commit) = self.base_of(repository, request.base_branch.as_ref()).await?;
            let branch = self.new_branch(request).await?;
            // Git creates a worktree only in an empty directory, so existing state is moved aside.
            let moved = preserved.clone();
            blocking(move || moved.preserve().map_err(failed)).await?;
            let added = self.git.worktree_add(repository, place, &branch, &commit).await;
            if let Err(error) = added {
                blocking(move || preserved.restore().map_err(failed)).await?;
                return Err(failed(error));
            }
            complete(&self.git, place).await;
            Some(name)
        };
        // Also restores the state that an interrupted launch had moved aside.
        blocking(move || preserved.restore().map_err(failed)).await?;
        if let Err(error) = self.git.hide_state_dir(place).await {
            tracing::info!(%error, "cannot hide the state directory from git");
        }
        Ok(base)
    }

    /// Returns the name of the ticket's branch. A name that git cannot create is replaced by one without a directory.
    async fn new_branch(&self, request: &TicketLaunchRequest) -> Result<BranchName, TicketLaunchError> {
        let repository = request.repository.as_path();
        let mut reasons = Vec::new();
        for name in branches_of(&request.ticket) {
            let branch: BranchName = name.parse().map_err(failed)?;
            match self.git.conflicting_branch(repository, &branch).await.map_err(failed)? {
                None => return Ok(branch),
                Some(other) => reasons.push(format!("{branch}, because of branch {other}")),
            }
        }
        Err(failed(format!(
            "git can create neither {}; rename or delete one of these branches",
            reasons.join(", nor ")
        )))
    }

    /// Returns the branch of a worktree; the usual name while it has none.
    pub(super) async fn branch_at(&self, request: &TicketLaunchRequest, worktree: &SandboxedPath) -> String {
        let branch = self.git.current_branch(worktree.as_path()).await.ok().flatten();
        let own = branch.filter(|branch| branches_of(&request.ticket).contains(branch));
        own.unwrap_or_else(|| branches_of(&request.ticket)[0].clone())
    }

    /// Fails when the worktree belongs to a loop: its directory may have the same name, but is never shared
    /// with a ticket.
    async fn check_not_of_loop(&self, place: &Path) -> Result<(), TicketLaunchError> {
        let branch = self.git.current_branch(place).await.map_err(failed)?;
        match branch.filter(|branch| is_loop_branch(branch)) {
            Some(branch) => Err(failed(format!("a loop's worktree, on {branch}, is at its path"))),
            None => Ok(()),
        }
    }

    /// Returns name and commit of the start of the work: the requested branch, the remote's default branch,
    /// or HEAD.
    async fn base_of(
        &self,
        repository: &Path,
        requested: Option<&BranchName>,
    ) -> Result<(String, String), TicketLaunchError> {
        let mut names = Vec::new();
        let remote = self.git.remotes(repository).await.map_err(failed)?.base;
        names.extend(
            requested
                .into_iter()
                .flat_map(|requested| [requested.to_string(), format!("{remote}/{requested}")]),
        );
        let default = self.git.default_branch(repository).await.map_err(failed)?;
        names.extend(default.map(|branch| format!("{remote}/{branch}")));
        names.push("HEAD".to_owned());
        for name in names {
            if let Some(commit) = self.git.commit_of(repository, &name).await.map_err(failed)? {
                return Ok((name, commit));
            }
        }
        Err(TicketLaunchError::Failed("the repository has no commit".to_owned()))
    }
}
