//! Writes the inputs of a loop before its process starts: agents, critic gates, staged documents and
//! attachments.

use std::path::PathBuf;

use loopgate_api::command::{Inputs, JudgeSubject, LoopCommand, WorkLocation};
use loopgate_api::event::code;
use loopgate_api::ids::RepoFullName;
use loopgate_api::names::WORK_DIR;
use loopgate_api::redact;
use loopgate_home::SandboxedPath;

use super::Launcher;
use crate::commands::bootstrap;
use crate::error::LoopRequestError;
use crate::launch::attachments;
use crate::launch::staging;
use crate::refusal::Refusal;
use crate::request::LoopRequest;
use crate::workspace::Workspace;
use crate::workspace::peers::PeerWorkspace;
use crate::workspace::repository::LoopRepository;

impl Launcher {
    pub(super) async fn stage(
        &self,
        request: &LoopRequest,
        repository: Option<&LoopRepository>,
        workspace: &Workspace,
    ) -> Result<staging::StagedInputs, Refusal> {
        let unwritable = |cause: String| {
            let error = LoopRequestError::new(500, "Failed to write artifacts to workdir");
            Refusal::with_event(error, code::ARTIFACT_WRITE_FAILED, cause)
        };
        for (worktree, dir) in loop_dirs(workspace) {
            // A symbolic link in the repository could redirect all files of the loop to another directory.
            let inside = self.workspaces.worktrees.layout.allowed(&dir);
            if !inside.is_some_and(|path| path.canonical().starts_with(worktree.canonical())) {
                return Err(unwritable(
                    "the work directory resolves to a path outside the worktree".to_owned(),
                ));
            }
        }
        self.materialize(request, repository, workspace).await?;
        // Only the judges of code receive the state of the clone.
        let judges_code = request.command.spec().inputs == Inputs::JudgeSubject(JudgeSubject::Code);
        let detected = match repository.filter(|_| judges_code) {
            Some(repository) => {
                Some(staging::detect(&self.repositories.git, repository.path.as_path()).await)
            }
            None => None,
        };
        let targets = match request.command.spec().inputs {
            Inputs::Repositories => {
                let targets = bootstrap::targets(&self.repositories, request.bootstrap.as_ref()).await;
                targets.map_err(|cause| unwritable(redact::cause(&cause)))?
            }
            _ => Vec::new(),
        };
        let (request_copy, workspace_copy) = (request.clone(), workspace.clone());
        let learnings_repo = repository.and_then(|repository| repository.full_name.clone());
        let uses_learnings = request.self_learning && self.settings.get().learnings_enabled;
        let learnings_repo = learnings_repo.filter(|_| uses_learnings);
        // Staging does many small writes; run it on the blocking pool.
        let staged = tokio::task::spawn_blocking(move || {
            let peers = workspace_copy.mounted();
            for peer in &workspace_copy.peers {
                staging::prepare_peer(&request_copy, &peer.prepared.dir.as_path().join(WORK_DIR))?;
            }
            let (root, work_dir) = (workspace_copy.dir.as_path(), workspace_copy.work_dir.as_path());
            let dirs = staging::StagingDirs { root, work_dir, peers: &peers, detected, targets };
            let mut staged = staging::stage(&request_copy, &dirs)?;
            let inputs = request_copy.command.spec().inputs;
            let repo = learnings_repo.as_ref().map(|repo| repo.as_str());
            staging::learnings::stage(&staging::learnings::patterns(), inputs, repo, work_dir, &mut staged)?;
            staging::stage_gaps(&workspace_copy.gaps, work_dir, &mut staged)?;
            Ok(staged)
        })
        .await;
        let mut staged = staged
            .map_err(|_| LoopRequestError::internal())?
            .map_err(|error: std::io::Error| unwritable(redact::cause(&error.to_string())))?;
        let attachments_dir = match request.command.spec().location {
            WorkLocation::Worktree(_) => workspace.work_dir.clone(),
            WorkLocation::TempDir => workspace.work_dir.join(WORK_DIR),
        };
        let origin = self.cloud.origin();
        staged
            .inputs
            .extend(attachments::fetch(&request.attachments, &attachments_dir, origin.as_deref()).await);
        Ok(staged)
    }

    /// Writes agents and critic gates into the worktree and those of the peers. Failures are logged, except
    /// for peers of an EXECUTE.
    async fn materialize(
        &self,
        request: &LoopRequest,
        repository: Option<&LoopRepository>,
        workspace: &Workspace,
    ) -> Result<(), Refusal> {
        let name = repository.and_then(|repository| repository.full_name.as_ref());
        if let Some(worktree) = &workspace.worktree
            && let Err(error) = self.materialize_in(request, name, worktree).await
        {
            tracing::warn!(%error, "failed to write agents or critic gates");
        }
        for PeerWorkspace { peer, prepared } in &workspace.peers {
            let name = peer.repository.full_name.as_ref();
            let Err(error) = self.materialize_in(request, name, &prepared.dir).await else { continue };
            tracing::warn!(%error, "failed to write agents or critic gates of a peer repository");
            if request.command == LoopCommand::Execute {
                let text = "Context-pack materialization failed for additional repo worktree";
                return Err(Refusal::with_same_event(
                    LoopRequestError::new(500, text),
                    code::BRANCH_CREATE_FAILED,
                ));
            }
        }
        Ok(())
    }

    async fn materialize_in(
        &self,
        request: &LoopRequest,
        name: Option<&RepoFullName>,
        worktree: &SandboxedPath,
    ) -> std::io::Result<()> {
        let mut tracked = Vec::new();
        for agent in request.agent_definitions() {
            // If git fails, assume that the file is tracked, so that it is not overwritten.
            let path = format!(".claude/agents/{}.md", loopgate_api::ids::slug(&agent.slug));
            if self.repositories.git.tracks(worktree.as_path(), &path).await.unwrap_or(true) {
                tracked.push(path);
            }
        }
        let name = name.map(ToString::to_string);
        let (request, path) = (request.clone(), worktree.as_path().to_owned());
        let written = tokio::task::spawn_blocking(move || {
            let is_tracked = |path: &str| tracked.iter().any(|tracked_path| tracked_path == path);
            staging::materialize(&request, name.as_deref(), &path, &is_tracked)
        });
        written.await.map_err(std::io::Error::other)?
    }
}

/// Returns each worktree with the directories that Loopgate creates in it.
fn loop_dirs(workspace: &Workspace) -> impl Iterator<Item = (&SandboxedPath, PathBuf)> {
    let peers = workspace.peers.iter().map(|place| &place.prepared.dir);
    let worktrees = workspace.worktree.iter().chain(peers);
    worktrees.flat_map(|worktree| {
        [WORK_DIR, staging::CONTEXT_DIR].map(|dir| (worktree, worktree.as_path().join(dir)))
    })
}
