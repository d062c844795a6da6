//! Workspaces of loops: a worktree or a temporary directory, and worktrees of the peer repositories.
//!
//! Owns everything that is created on the disk for a loop, and removes it afterwards. Unpushed work is never
//! removed.

pub(crate) mod naming;
pub(crate) mod peers;
pub(crate) mod repository;
pub(crate) mod saved_work;
pub(crate) mod worktree;
pub(crate) mod worktree_gc;
pub(crate) mod worktree_layout;

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::command::{LoopCommand, WorkLocation, WorktreeSource};
use loopgate_api::event::code;
use loopgate_api::ids::{BranchName, slug};
use loopgate_api::names::WORK_DIR;
use loopgate_home::{SandboxedPath, remove_tree};
use serde::Serialize;

use crate::error::LoopRequestError;
use crate::jobs::reservations::Reservation;
use crate::jobs::{Job, PeerWorktree, StartState, TestRunRecord};
use crate::refusal::Refusal;
use crate::request::LoopRequest;
use crate::workspace::naming::WorktreeNames;
use crate::workspace::peers::{Peer, PeerWorkspace};
use crate::workspace::repository::LoopRepository;
use crate::workspace::worktree::{WorktreeError, WorktreeRequest, Worktrees};

/// Name prefix of temporary directories; a directory without it is never deleted as one.
const TEMP_DIR_PREFIX: &str = "orchestrator-";

/// A peer repository in the workspace of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MountedPeer {
    pub full_name: String,
    pub branch: String,
    pub local_path: PathBuf,
}

/// Directories and branches of a loop.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    /// Current directory of the loop's process.
    pub dir: PathBuf,
    /// Directory of the run's files.
    pub work_dir: PathBuf,
    /// The worktree, if the loop has one.
    pub worktree: Option<SandboxedPath>,
    /// HEAD of the worktree before the loop started.
    pub start_sha: Option<String>,
    /// Further state of the worktree before the loop started.
    pub start: Option<StartState>,
    /// Worktrees of the peer repositories.
    pub peers: Vec<PeerWorkspace>,
    /// The branch of the worktree.
    pub branch: Option<BranchName>,
    /// Messages for the user about earlier work at the worktrees' paths.
    pub notes: Vec<String>,
    /// What the worktrees lack, for the user and the assistant.
    pub gaps: Vec<String>,
    /// Whether `dir` is removed with the loop.
    pub is_temporary: bool,
}

impl Workspace {
    /// Returns the peer repositories for the inputs of the loop.
    pub fn mounted(&self) -> Vec<MountedPeer> {
        let mounted = |place: &PeerWorkspace| MountedPeer {
            full_name: match &place.peer.repository.full_name {
                Some(name) => name.to_string(),
                None => place.prepared.dir.base_name(),
            },
            branch: place.peer.branch.to_string(),
            local_path: place.prepared.dir.as_path().to_owned(),
        };
        self.peers.iter().map(mounted).collect()
    }

    /// Returns the peer repositories for the record of the job.
    pub fn recorded(&self) -> Vec<PeerWorktree> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let recorded = |place: &PeerWorkspace| PeerWorktree {
            dir: text(place.prepared.dir.as_path()),
            repo_path: text(place.peer.repository.path.as_path()),
            full_name: place.peer.repository.full_name.as_ref().map(ToString::to_string),
            base_branch: Some(place.peer.branch.to_string()),
            branch: place.prepared.branch.as_ref().map(ToString::to_string),
            start_sha: place.prepared.start_sha.clone(),
            start: Some(place.prepared.start),
        };
        self.peers.iter().map(recorded).collect()
    }
}

/// Creates workspaces of loops and cleans them up.
#[derive(Clone)]
pub(crate) struct Workspaces {
    pub worktrees: Worktrees,
}

impl Workspaces {
    pub const fn new(worktrees: Worktrees) -> Self {
        Self { worktrees }
    }

    /// Reuses or creates the workspace of a loop.
    pub async fn prepare(
        &self,
        request: &LoopRequest,
        repository: Option<&LoopRepository>,
        peers: Vec<Peer>,
        reservation: &Reservation,
    ) -> Result<Workspace, Refusal> {
        match request.command.spec().location {
            WorkLocation::TempDir => temp_dir(request, reservation).await,
            WorkLocation::Worktree(checkout) => {
                let repository = repository.ok_or_else(repository::required)?;
                worktrees(&self.worktrees, request, repository, checkout, peers, reservation).await
            }
        }
    }

    /// Removes what was created for a loop that is not started.
    pub async fn discard(&self, workspace: &Workspace, repository: Option<&LoopRepository>) {
        if workspace.is_temporary {
            let clone = repository.map(|repository| repository.path.as_path());
            remove(&self.worktrees, clone.filter(|_| workspace.worktree.is_some()), &workspace.dir).await;
        }
        for place in &workspace.peers {
            peers::remove_unused(&self.worktrees, place).await;
        }
    }

    /// Cleans up the workspace of an ended loop and records that. Worktrees with unpushed work are retained.
    pub async fn clean_up(&self, job: &Job) {
        let (temp_dir, peers) = (&job.workspace.temp_dir, &job.workspace.additional_worktree_dirs);
        if !job.needs_cleanup() {
            return;
        }
        if let Some(run) = job.test_run() {
            self.remove_test_worktree(run).await;
        }
        if let Some(dir) = temp_dir {
            let in_worktree = matches!(job.command.spec().location, WorkLocation::Worktree(_));
            let clone = job.workspace.repo_path.as_deref().map(Path::new).filter(|_| in_worktree);
            remove(&self.worktrees, clone, Path::new(dir)).await;
        }
        for peer in peers {
            if let Some(dir) = self.worktrees.layout.allowed(Path::new(&peer.dir)) {
                peers::discard(&self.worktrees, Path::new(&peer.repo_path), &dir).await;
            }
        }
        let update = self.worktrees.jobs.store.update(job.id, |job| {
            job.workspace.temp_dir = None;
            job.workspace.additional_worktree_dirs.clear();
            if let Some(delivery) = &mut job.delivery {
                delivery.test_run = None;
            }
        });
        if let Err(error) = update.await {
            tracing::warn!(loop_id = %job.id, %error, "cannot record that the loop's workspace is cleaned up");
        }
    }

    /// Removes the worktree of a test run, including all files of the tests.
    pub async fn remove_test_worktree(&self, run: &TestRunRecord) {
        let removed = match self.worktrees.layout.allowed(&run.worktree) {
            Some(dir) => {
                let removed = self.worktrees.git.worktree_delete(&run.repository, dir.as_path()).await;
                removed.map_err(|error| error.to_string())
            }
            None => Err("outside the sandbox".to_owned()),
        };
        if let Err(reason) = removed {
            tracing::warn!(directory = %run.worktree.display(), reason, "cannot remove the worktree of a test run");
        }
    }
}

/// Removes a directory that a loop no longer needs: a worktree of `clone`, or a temporary directory without
/// one.
async fn remove(worktrees: &Worktrees, clone: Option<&Path>, dir: &Path) {
    let removed = match clone {
        Some(_) if worktrees.layout.allowed(dir).is_none() => Err("outside the sandbox".to_owned()),
        Some(clone) => {
            worktrees.git.worktree_remove(clone, dir).await.map(drop).map_err(|error| error.to_string())
        }
        None if is_temp_dir(dir) => delete(dir.to_owned()).await.map_err(|error| error.to_string()),
        None => Err("not a temporary directory of a loop".to_owned()),
    };
    if let Err(reason) = removed {
        tracing::warn!(directory = %dir.display(), reason, "cannot remove the directory of a loop");
    }
}

fn is_temp_dir(dir: &Path) -> bool {
    // The path comes from a stored record and is deleted recursively, so it is verified.
    let has_prefix = dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMP_DIR_PREFIX));
    has_prefix && dir.parent() == Some(system_temp_dir().as_path())
}

/// Returns the system's temporary directory as a canonical path, which is what programs report that run in
/// it.
fn system_temp_dir() -> PathBuf {
    let dir = std::env::temp_dir();
    dir.canonicalize().unwrap_or(dir)
}

async fn delete(dir: PathBuf) -> io::Result<()> {
    tokio::task::spawn_blocking(move || match remove_tree(&dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    })
    .await
    .map_err(io::Error::other)?
}

async fn temp_dir(request: &LoopRequest, reservation: &Reservation) -> Result<Workspace, Refusal> {
    let id = request.loop_id;
    let own = if request.command == LoopCommand::Decompose { id.stable() } else { id.short() };
    let name = format!("{TEMP_DIR_PREFIX}{}-{own}", request.command.lower().replace('_', "-"));
    let dir = system_temp_dir().join(name);
    if reservation.claim(&dir).is_err() {
        return Err(LoopRequestError::new(409, "Another loop is running in this worktree").into());
    }
    let creation = async {
        // An earlier run of the same loop may have left the directory.
        delete(dir.clone()).await?;
        let dir = dir.clone();
        tokio::task::spawn_blocking(move || make_private(&dir)).await.map_err(io::Error::other)?
    };
    creation.await.map_err(|error: io::Error| {
        let answer = LoopRequestError::new(500, "Failed to write artifacts to workdir");
        Refusal::with_event(answer, code::ARTIFACT_WRITE_FAILED, error.kind().to_string())
    })?;
    Ok(Workspace {
        work_dir: dir.clone(),
        dir,
        worktree: None,
        start_sha: None,
        start: None,
        peers: Vec::new(),
        branch: None,
        notes: Vec::new(),
        gaps: Vec::new(),
        is_temporary: true,
    })
}

/// Creates a directory with owner-only permissions; fails when it exists.
fn make_private(dir: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(dir)
}

async fn worktrees(
    worktrees: &Worktrees,
    request: &LoopRequest,
    repository: &LoopRepository,
    checkout: WorktreeSource,
    peers: Vec<Peer>,
    reservation: &Reservation,
) -> Result<Workspace, Refusal> {
    let refuse = |error| refusal(request.command, error);
    let invalid = |error: loopgate_api::ids::InvalidId| refuse(WorktreeError::Failed(error.to_string()));
    let prefix = if let WorktreeSource::Fresh { prefix, .. } = checkout { prefix } else { "" };
    let naming =
        WorktreeNames::of(prefix, request.artifact_slug.as_deref(), request.loop_id).map_err(invalid)?;
    let earlier = request.parent_loop_id.as_deref().map(|id| format!("orchestrator/loop-{}", slug(id)));
    let worktree_request = WorktreeRequest {
        repository: &repository.path,
        naming: naming.clone(),
        earlier: earlier.and_then(|branch| branch.parse::<BranchName>().ok()),
        base: request.base_branch().parse().map_err(invalid)?,
        checkout,
        base_fetched: false,
    };
    let prepared = worktrees.prepare(&worktree_request, reservation).await.map_err(refuse)?;
    let clone = repository.path.as_path();
    let peers = match peers::prepare(worktrees, request, &naming, checkout, peers, reservation).await {
        Ok(peers) => peers,
        Err(refusal) => {
            // Only a worktree that was created for this launch is removed again; a reused one contains work.
            if prepared.created {
                remove(worktrees, Some(clone), prepared.dir.as_path()).await;
            }
            return Err(refusal);
        }
    };
    let is_temporary = match checkout {
        WorktreeSource::Fresh { is_retained, .. } => !is_retained,
        WorktreeSource::Continued => false,
        WorktreeSource::ExistingOrDetached => prepared.created,
    };
    let notes = prepared.notes.into_iter().chain(peers.iter().flat_map(|place| place.prepared.notes.clone()));
    let peer_gaps = peers.iter().flat_map(|place| {
        let name = place.prepared.dir.base_name();
        place.prepared.gaps.iter().map(move |gap| format!("In {name}: {gap}"))
    });
    let gaps = prepared.gaps.into_iter().chain(peer_gaps).collect();
    Ok(Workspace {
        notes: notes.collect(),
        gaps,
        branch: prepared.branch,
        work_dir: prepared.dir.as_path().join(WORK_DIR),
        dir: prepared.dir.as_path().to_owned(),
        worktree: Some(prepared.dir),
        start_sha: prepared.start_sha,
        start: Some(prepared.start),
        peers,
        is_temporary,
    })
}

fn refusal(command: LoopCommand, error: WorktreeError) -> Refusal {
    match error {
        WorktreeError::NotAllowed(path) => {
            LoopRequestError::path_not_allowed(format!("Worktree path not allowed: {}", path.display()))
                .into()
        }
        WorktreeError::Busy(_) => {
            LoopRequestError::new(409, "Another loop is running in this worktree").into()
        }
        WorktreeError::Failed(cause) => {
            let text = format!("Failed to materialize {command} branch: {cause}");
            Refusal::with_same_event(LoopRequestError::new(500, text), code::BRANCH_CREATE_FAILED)
        }
    }
}
