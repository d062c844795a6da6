//! The ground that a loop works on: a worktree or a passing directory, and worktrees of the
//! repositories beside.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::command::{Checkout, LoopCommand, Place};
use loopgate_api::event::code;
use loopgate_api::ids::{BranchName, slug};
use loopgate_api::names::WORK_DIR;
use loopgate_home::SandboxedPath;

use crate::error::LoopError;
use crate::job::{Job, PeerWorktree};
use crate::peers::{self, Peer, PeerPlace};
use crate::refusal::Refusal;
use crate::repository::{self, Repository};
use crate::request::LoopRequest;
use crate::reservations::Reservation;
use crate::runtime::Runtime;
use crate::staging::MountedPeer;
use crate::worktree::{self, Naming, Wanted, WorktreeError};

/// What the names of passing directories begin with.
const PASSING: &str = "orchestrator-";

/// Where a loop works.
#[derive(Debug, Clone)]
pub(crate) struct Ground {
    /// Its current directory.
    pub dir: PathBuf,
    /// Files of the run.
    pub work_dir: PathBuf,
    /// The worktree, when it works in one.
    pub worktree: Option<SandboxedPath>,
    /// HEAD of the worktree before the loop.
    pub start_sha: Option<String>,
    /// Worktrees of the repositories beside.
    pub peers: Vec<PeerPlace>,
    /// The branch of the worktree.
    pub branch: Option<BranchName>,
    /// What became of earlier work in the places of the worktrees, for the person.
    pub notes: Vec<String>,
    /// Whether `dir` goes with the loop.
    pub passing: bool,
}

impl Ground {
    /// Finds or makes it.
    pub async fn prepare(
        runtime: &Runtime,
        request: &LoopRequest,
        repository: Option<&Repository>,
        peers: Vec<Peer>,
        reservation: &Reservation,
    ) -> Result<Self, Refusal> {
        match request.command.spec().place {
            Place::TempDir => passing_dir(request, reservation).await,
            Place::Worktree(checkout) => {
                let repository = repository.ok_or_else(repository::required)?;
                worktrees(runtime, request, repository, checkout, peers, reservation).await
            }
        }
    }

    /// The repositories beside, as the loop sees them.
    pub fn mounted(&self) -> Vec<MountedPeer> {
        let mounted = |place: &PeerPlace| MountedPeer {
            full_name: match &place.peer.repository.full_name {
                Some(name) => name.to_string(),
                None => place.prepared.dir.base_name(),
            },
            branch: place.peer.branch.to_string(),
            local_path: place.prepared.dir.as_path().to_owned(),
        };
        self.peers.iter().map(mounted).collect()
    }

    /// The repositories beside, as a job's record keeps them.
    pub fn recorded(&self) -> Vec<PeerWorktree> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let recorded = |place: &PeerPlace| PeerWorktree {
            dir: text(place.prepared.dir.as_path()),
            repo_path: text(place.peer.repository.path.as_path()),
            full_name: place.peer.repository.full_name.as_ref().map(ToString::to_string),
            base_branch: Some(place.peer.branch.to_string()),
            branch: place.prepared.branch.as_ref().map(ToString::to_string),
            start_sha: place.prepared.start_sha.clone(),
        };
        self.peers.iter().map(recorded).collect()
    }

    /// Leaves it for a loop that does not start.
    pub async fn leave(&self, runtime: &Runtime, repository: Option<&Repository>) {
        if self.passing {
            let clone = repository.map(|repository| repository.path.as_path());
            remove(runtime, clone.filter(|_| self.worktree.is_some()), &self.dir).await;
        }
        for place in &self.peers {
            peers::leave(runtime, place).await;
        }
    }
}

/// Clears the ground of a loop that is over, and notes that it did. Nothing that is worth keeping
/// is removed.
pub(crate) async fn clear(runtime: &Runtime, job: &Job) {
    let (passing, beside) = (&job.facts.passing_dir, &job.facts.additional_worktree_dirs);
    if passing.is_none() && beside.is_empty() {
        return;
    }
    if let Some(dir) = passing {
        let in_worktree = matches!(job.command.spec().place, Place::Worktree(_));
        let clone = job.facts.repo_path.as_deref().map(Path::new).filter(|_| in_worktree);
        remove(runtime, clone, Path::new(dir)).await;
    }
    for peer in beside {
        if let Some(dir) = runtime.places.allowed(Path::new(&peer.dir)) {
            peers::discard(runtime, Path::new(&peer.repo_path), &dir).await;
        }
    }
    let cleared = runtime.store.update(job.id, |job| {
        job.facts.passing_dir = None;
        job.facts.additional_worktree_dirs.clear();
    });
    if let Err(error) = cleared.await {
        tracing::warn!(loop_id = %job.id, %error, "the end of a loop's ground could not be stored");
    }
}

/// Removes a directory that goes with its loop: a worktree of `clone`, else a passing directory.
async fn remove(runtime: &Runtime, clone: Option<&Path>, dir: &Path) {
    let removed = match clone {
        Some(_) if runtime.places.allowed(dir).is_none() => Err("the sandbox does not allow it".to_owned()),
        Some(clone) => {
            runtime.git.worktree_remove(clone, dir).await.map(drop).map_err(|error| error.to_string())
        }
        None if is_passing(dir) => delete(dir.to_owned()).await.map_err(|error| error.to_string()),
        None => Err("it is no directory of a loop".to_owned()),
    };
    if let Err(reason) = removed {
        tracing::warn!(directory = %dir.display(), reason, "the directory of a loop could not be removed");
    }
}

fn is_passing(dir: &Path) -> bool {
    let named = dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PASSING));
    named && dir.parent() == Some(temporary().as_path())
}

/// The system's temporary directory, as programs that run in it will name it.
fn temporary() -> PathBuf {
    let dir = std::env::temp_dir();
    dir.canonicalize().unwrap_or(dir)
}

async fn delete(dir: PathBuf) -> io::Result<()> {
    tokio::task::spawn_blocking(move || match std::fs::remove_dir_all(&dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    })
    .await
    .map_err(io::Error::other)?
}

async fn passing_dir(request: &LoopRequest, reservation: &Reservation) -> Result<Ground, Refusal> {
    let id = request.loop_id;
    let own = if request.command == LoopCommand::Decompose { id.stable() } else { id.short() };
    let name = format!("{PASSING}{}-{own}", request.command.lower().replace('_', "-"));
    let dir = temporary().join(name);
    if reservation.claim(&dir).is_err() {
        return Err(LoopError::new(409, "Another loop is running in this worktree").into());
    }
    let made = async {
        delete(dir.clone()).await?;
        let dir = dir.clone();
        tokio::task::spawn_blocking(move || make_private(&dir)).await.map_err(io::Error::other)?
    };
    made.await.map_err(|error: io::Error| {
        let answer = LoopError::new(500, "Failed to write artifacts to workdir");
        Refusal::told(answer, code::ARTIFACT_WRITE_FAILED, error.kind().to_string())
    })?;
    Ok(Ground {
        work_dir: dir.clone(),
        dir,
        worktree: None,
        start_sha: None,
        peers: Vec::new(),
        branch: None,
        notes: Vec::new(),
        passing: true,
    })
}

/// Makes a directory that nobody else can have made before.
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
    runtime: &Runtime,
    request: &LoopRequest,
    repository: &Repository,
    checkout: Checkout,
    peers: Vec<Peer>,
    reservation: &Reservation,
) -> Result<Ground, Refusal> {
    let refuse = |error| refusal(request.command, error);
    let invalid = |error: loopgate_api::ids::InvalidId| refuse(WorktreeError::Failed(error.to_string()));
    let prefix = if let Checkout::Fresh { prefix, .. } = checkout { prefix } else { "" };
    let naming = Naming::of(prefix, request.artifact_slug.as_deref(), request.loop_id).map_err(invalid)?;
    let earlier = request.parent_loop_id.as_deref().map(|id| format!("orchestrator/loop-{}", slug(id)));
    let wanted = Wanted {
        repository: &repository.path,
        naming: naming.clone(),
        earlier: earlier.and_then(|branch| branch.parse::<BranchName>().ok()),
        base: request.base_branch().parse().map_err(invalid)?,
        checkout,
        fetched: false,
    };
    let prepared = worktree::prepare(runtime, &wanted, reservation).await.map_err(refuse)?;
    let clone = repository.path.as_path();
    let beside = match peers::prepare(runtime, request, &naming, checkout, peers, reservation).await {
        Ok(beside) => beside,
        Err(refusal) => {
            if prepared.made {
                remove(runtime, Some(clone), prepared.dir.as_path()).await;
            }
            return Err(refusal);
        }
    };
    let passing = match checkout {
        Checkout::Fresh { stays, .. } => !stays,
        Checkout::Continued => false,
        Checkout::Visited => prepared.made,
    };
    let notes =
        prepared.notes.into_iter().chain(beside.iter().flat_map(|place| place.prepared.notes.clone()));
    Ok(Ground {
        notes: notes.collect(),
        branch: prepared.branch,
        work_dir: prepared.dir.as_path().join(WORK_DIR),
        dir: prepared.dir.as_path().to_owned(),
        worktree: Some(prepared.dir),
        start_sha: prepared.start_sha,
        peers: beside,
        passing,
    })
}

fn refusal(command: LoopCommand, error: WorktreeError) -> Refusal {
    match error {
        WorktreeError::NotAllowed(path) => {
            LoopError::new(403, format!("Worktree path not allowed: {}", path.display())).into()
        }
        WorktreeError::Busy(_) => LoopError::new(409, "Another loop is running in this worktree").into(),
        WorktreeError::Failed(cause) => {
            let text = format!("Failed to materialize {command} branch: {cause}");
            Refusal::said(LoopError::new(500, text), code::BRANCH_CREATE_FAILED)
        }
    }
}
