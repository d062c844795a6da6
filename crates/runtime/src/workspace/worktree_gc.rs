//! The worktrees that loops left: which there are, what they take on the disk, and which may go.
//!
//! A worktree goes only when all that is in it is somewhere else as well: no loop works there, git
//! sees no change outside the state directories, and a remote has its commits. Its branch stays in
//! the clone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use jiff::Timestamp;
use loopgate_api::command::LoopCommand;
use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_home::{Repos, ReposError, SettingsStore, WorktreeRetention};
use loopgate_tools::git::{Git, GitError, Worktree};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

use crate::jobs::Job;
use crate::jobs::reservations::{Reservation, Reservations};
use crate::jobs::store::{JobStore, StoreError};
use crate::workspace::worktree_layout::WorktreeLayout;

/// Branches of loops begin with this.
const LOOP_BRANCHES: &str = "orchestrator/";
/// Worktrees that are looked at at the same time.
const CONCURRENCY: usize = 4;
/// Before the first round of tidying: a start has other things to do.
const FIRST_RUN: Duration = Duration::from_secs(600);
/// Between two runs.
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// A worktree of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopWorktree {
    /// Its directory.
    pub path: PathBuf,
    /// The clone that it belongs to.
    pub repository: PathBuf,
    /// The branch that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The last loop that worked there, while its record is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_id: Option<LoopId>,
    /// What that loop did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<LoopCommand>,
    /// How it is with that loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<JobStatus>,
    /// Last change of the loop's record, else of the directory.
    pub last_used: Timestamp,
    /// Bytes that it takes on the disk.
    pub size_bytes: u64,
    /// Why it has to stay.
    #[serde(rename = "held", skip_serializing_if = "Option::is_none")]
    pub retain_reason: Option<RetainReason>,
}

/// Why a worktree has to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetainReason {
    /// A loop works there.
    InUse,
    /// Something in it is not committed.
    Uncommitted,
    /// Commits that no remote has.
    Unpushed,
    /// Nobody can say what is in it.
    Unreadable,
}

/// A worktree that should have gone and did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemovalFailure {
    /// Its directory.
    pub path: PathBuf,
    /// What went wrong.
    pub error: String,
}

/// What a round of tidying did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GcReport {
    /// Gone.
    pub removed: Vec<LoopWorktree>,
    /// Still there against the will.
    pub failed: Vec<RemovalFailure>,
}

/// Why worktrees cannot be listed.
#[derive(Debug, Error)]
pub enum WorktreeListError {
    /// The records of loops.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The list of repositories.
    #[error(transparent)]
    Repos(#[from] ReposError),
}

impl LoopWorktree {
    /// Whether it may go by a rule, at a moment.
    #[must_use]
    pub fn is_expired(&self, rule: WorktreeRetention, now: Timestamp) -> bool {
        let days = if self.status == Some(JobStatus::Completed) { rule.completed } else { rule.other };
        let age = now.duration_since(self.last_used).as_hours() / 24;
        self.retain_reason.is_none() && days.is_some_and(|days| age >= i64::from(days))
    }
}

/// Lists the worktrees of loops and removes those that are not needed any more.
#[derive(Clone)]
pub struct WorktreeGc {
    store: JobStore,
    repos: Arc<Repos>,
    layout: WorktreeLayout,
    git: Git,
    settings: Arc<SettingsStore>,
    reservations: Reservations,
}

impl WorktreeGc {
    pub(crate) const fn new(
        store: JobStore,
        repos: Arc<Repos>,
        layout: WorktreeLayout,
        git: Git,
        settings: Arc<SettingsStore>,
        reservations: Reservations,
    ) -> Self {
        Self { store, repos, layout, git, settings, reservations }
    }

    /// The worktrees of loops in the managed repositories, the largest first.
    ///
    /// # Errors
    /// [`WorktreeListError`]
    pub async fn list(&self) -> Result<Vec<LoopWorktree>, WorktreeListError> {
        let mut jobs: HashMap<PathBuf, Job> = HashMap::new();
        // The newest record of each comes first.
        for job in self.store.jobs().await? {
            // Peers are named as long as the loop works in them.
            let peers = job.workspace.additional_worktree_dirs.iter().map(|peer| &peer.dir);
            for dir in job.workspace.worktree_dir.iter().chain(peers) {
                jobs.entry(real(Path::new(dir))).or_insert_with(|| job.clone());
            }
        }
        let list = self.repos.list()?;
        let mut found = Vec::new();
        for repository in &list.repos {
            let Some(place) = self.layout.allowed(&loopgate_home::expand_home(&repository.path)) else {
                continue;
            };
            let worktrees = match self.git.worktrees(place.as_path()).await {
                Ok(worktrees) => worktrees,
                Err(error) => {
                    tracing::info!(repository = %place.as_path().display(), %error, "no worktrees can be listed");
                    continue;
                }
            };
            for worktree in worktrees {
                let job = jobs.remove(&real(&worktree.path));
                let of_a_loop = worktree.branch.as_ref().is_some_and(|name| name.starts_with(LOOP_BRANCHES));
                let there = !worktree.main && !worktree.prunable;
                if there && (job.is_some() || of_a_loop) && self.layout.allowed(&worktree.path).is_some() {
                    found.push((place.as_path().to_owned(), worktree, job));
                }
            }
        }
        let looked_at = futures_util::stream::iter(found)
            .map(|(repository, worktree, job)| self.inspect(repository, worktree, job));
        let mut worktrees: Vec<LoopWorktree> = looked_at.buffer_unordered(CONCURRENCY).collect().await;
        worktrees.sort_by(|one, other| {
            other.size_bytes.cmp(&one.size_bytes).then_with(|| one.path.cmp(&other.path))
        });
        Ok(worktrees)
    }

    /// Removes the worktrees that may go by a rule; with `pretend` only says which.
    ///
    /// # Errors
    /// [`WorktreeListError`]
    pub async fn collect(
        &self,
        rule: WorktreeRetention,
        pretend: bool,
    ) -> Result<GcReport, WorktreeListError> {
        let now = Timestamp::now();
        let mut report = GcReport::default();
        for worktree in self.list().await? {
            if !worktree.is_expired(rule, now) {
                continue;
            }
            let removed = if pretend { Ok(()) } else { self.remove_unused(&worktree).await };
            match removed {
                Ok(()) => report.removed.push(worktree),
                Err(error) => report.failed.push(RemovalFailure { path: worktree.path, error }),
            }
        }
        Ok(report)
    }

    /// How long worktrees are kept by the settings.
    #[must_use]
    pub fn retention(&self) -> WorktreeRetention {
        self.settings.get().worktree_retention
    }

    /// Tidies by the settings, a while after the start and once a day.
    pub async fn run(&self) {
        let mut interval = tokio::time::interval_at(tokio::time::Instant::now() + FIRST_RUN, INTERVAL);
        loop {
            interval.tick().await;
            match self.collect(self.retention(), false).await {
                Ok(report) => {
                    for worktree in report.removed {
                        tracing::info!(path = %worktree.path.display(), bytes = worktree.size_bytes,
                            "the worktree of an old loop is removed; its branch stays");
                    }
                    for failure in report.failed {
                        tracing::warn!(path = %failure.path.display(), error = failure.error,
                            "the worktree of an old loop could not be removed");
                    }
                }
                Err(error) => tracing::info!(%error, "old worktrees were not looked at"),
            }
        }
    }

    async fn inspect(&self, repository: PathBuf, worktree: Worktree, job: Option<Job>) -> LoopWorktree {
        let busy = job.as_ref().is_some_and(|job| !job.status().is_terminal());
        let retain_reason =
            if busy { Some(RetainReason::InUse) } else { self.retain_reason(&worktree.path).await };
        let place = worktree.path.clone();
        let measured = tokio::task::spawn_blocking(move || (disk_use(&place), changed_at(&place))).await;
        let (size_bytes, changed) = measured.unwrap_or((0, Timestamp::now()));
        let recorded = job.as_ref().and_then(|job| job.updated_at.parse().ok());
        LoopWorktree {
            path: worktree.path,
            repository,
            branch: worktree.branch,
            loop_id: job.as_ref().map(|job| job.id),
            command: job.as_ref().map(|job| job.command),
            status: job.as_ref().map(Job::status),
            last_used: recorded.unwrap_or(changed),
            size_bytes,
            retain_reason,
        }
    }

    async fn retain_reason(&self, worktree: &Path) -> Option<RetainReason> {
        let looked: Result<Option<RetainReason>, GitError> = async {
            if !self.git.changes(worktree).await?.is_empty() {
                return Ok(Some(RetainReason::Uncommitted));
            }
            Ok(self.git.has_unpushed_commits(worktree).await?.then_some(RetainReason::Unpushed))
        }
        .await;
        looked.unwrap_or(Some(RetainReason::Unreadable))
    }

    /// Removes a worktree that is still as it was when it was found free.
    async fn remove_unused(&self, worktree: &LoopWorktree) -> Result<(), String> {
        let _claim = self.claim_worktree(&worktree.path).ok_or("a loop works there now")?;
        if self.retain_reason(&worktree.path).await.is_some() {
            return Err("somebody works there now".to_owned());
        }
        let removed = self.git.worktree_remove(&worktree.repository, &worktree.path).await;
        removed.map(drop).map_err(|error| error.to_string())
    }

    /// Keeps loops out of a worktree.
    fn claim_worktree(&self, worktree: &Path) -> Option<Reservation> {
        // Reservations are by loop; the clean-up uses an id of its own.
        let claim = self.reservations.reserve(LoopId(Uuid::new_v4()))?;
        let as_given = self.layout.allowed(worktree)?;
        let places = [worktree, as_given.as_path(), &real(worktree)];
        places.into_iter().all(|place| claim.claim(place).is_ok()).then_some(claim)
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Bytes that a directory takes, without following links. What cannot be read counts nothing.
fn disk_use(directory: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let (mut bytes, mut left) = (0, vec![directory.to_owned()]);
    while let Some(place) = left.pop() {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            let Ok(facts) = entry.metadata() else { continue };
            // The system counts blocks of 512 bytes, whatever the disk's own are.
            bytes += facts.blocks() * 512;
            if facts.is_dir() {
                left.push(entry.path());
            }
        }
    }
    bytes
}

/// When a directory changed last; now, when it does not say.
fn changed_at(directory: &Path) -> Timestamp {
    let changed = std::fs::symlink_metadata(directory).and_then(|facts| facts.modified());
    changed.ok().and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_else(Timestamp::now)
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::*;

    fn aged(
        hours: i64,
        status: Option<JobStatus>,
        retain_reason: Option<RetainReason>,
    ) -> (LoopWorktree, Timestamp) {
        let now: Timestamp = "2031-04-02T10:11:12Z".parse().unwrap();
        let worktree = LoopWorktree {
            path: "/w".into(),
            repository: "/r".into(),
            branch: None,
            loop_id: None,
            command: None,
            status,
            last_used: now - hours.hours(),
            size_bytes: 1,
            retain_reason,
        };
        (worktree, now)
    }

    #[test]
    fn worktrees_are_removed_by_age_and_state_but_never_with_unsaved_work() {
        let rule = WorktreeRetention { completed: Some(2), other: Some(5) };
        let goes = |hours, status, retain_reason, rule| {
            let (worktree, now) = aged(hours, status, retain_reason);
            worktree.is_expired(rule, now)
        };
        assert!(!goes(47, Some(JobStatus::Completed), None, rule));
        assert!(goes(48, Some(JobStatus::Completed), None, rule));
        assert!(!goes(48, Some(JobStatus::Failed), None, rule));
        assert!(!goes(119, None, None, rule) && goes(120, None, None, rule));
        for retain_reason in
            [RetainReason::InUse, RetainReason::Uncommitted, RetainReason::Unpushed, RetainReason::Unreadable]
        {
            assert!(
                !goes(10_000, Some(JobStatus::Completed), Some(retain_reason), rule),
                "{retain_reason:?}"
            );
        }
        let for_ever = WorktreeRetention { completed: None, other: None };
        assert!(!goes(100_000, Some(JobStatus::Completed), None, for_ever));
        let at_once = WorktreeRetention { completed: Some(0), other: Some(0) };
        assert!(goes(0, None, None, at_once));
        assert!(goes(-3, Some(JobStatus::Completed), None, at_once), "a clock that went back harms nothing");
    }

    #[test]
    fn disk_use_does_not_follow_links() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("file"), vec![1; 100_000]).unwrap();
        std::os::unix::fs::symlink("/usr", dir.path().join("elsewhere")).unwrap();
        let bytes = disk_use(dir.path());
        assert!((100_000..400_000).contains(&bytes), "{bytes}");
        assert_eq!(disk_use(&dir.path().join("missing")), 0);
    }
}
