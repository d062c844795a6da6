//! Garbage collection of loop worktrees: lists them with their disk usage and removes unused ones.
//!
//! A worktree is removed only when nothing in it would be lost: no loop works there, git reports no changes
//! outside the state directories, and a remote has its commits and those of its submodules. Its branch stays in the clone.

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

/// Prefix of the branches of loops. Branches of users may begin with `orchestrator-`, the other form; worktrees on those
/// are recognized by the records of their loops.
const LOOP_BRANCHES: &str = "orchestrator/";
/// Worktrees that are inspected concurrently.
const CONCURRENCY: usize = 4;
/// Delay before the first run, so that it does not compete with recovery after a start.
const FIRST_RUN: Duration = Duration::from_secs(600);
/// Interval between two runs.
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// A worktree of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopWorktree {
    pub path: PathBuf,
    /// Clone that owns the worktree.
    pub repository: PathBuf,
    /// Branch that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Last loop that worked there, as long as its record is retained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_id: Option<LoopId>,
    /// Command of that loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<LoopCommand>,
    /// Status of that loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<JobStatus>,
    /// Last change of the loop's record, or of the directory without one.
    pub last_used: Timestamp,
    /// Disk usage in bytes.
    pub size_bytes: u64,
    /// Why the worktree is retained, if it is.
    #[serde(rename = "held", skip_serializing_if = "Option::is_none")]
    pub retain_reason: Option<RetainReason>,
}

/// Reason to retain a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetainReason {
    /// A loop works in it.
    InUse,
    /// It contains uncommitted changes.
    Uncommitted,
    /// It contains commits that no remote has.
    Unpushed,
    /// Git cannot determine its state.
    Unreadable,
}

/// A worktree that could not be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemovalFailure {
    pub path: PathBuf,
    pub error: String,
}

/// Result of a run, or of a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GcReport {
    /// Worktrees that were removed, or would be in a dry run.
    pub removed: Vec<LoopWorktree>,
    /// Worktrees that could not be removed.
    pub failed: Vec<RemovalFailure>,
}

/// Error of listing worktrees.
#[derive(Debug, Error)]
pub enum WorktreeListError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Repos(#[from] ReposError),
}

impl LoopWorktree {
    /// Returns whether a retention rule allows the removal at an instant.
    #[must_use]
    pub fn is_expired(&self, rule: WorktreeRetention, now: Timestamp) -> bool {
        let days = if self.status == Some(JobStatus::Completed) { rule.completed } else { rule.other };
        let age = now.duration_since(self.last_used).as_hours() / 24;
        self.retain_reason.is_none() && days.is_some_and(|days| age >= i64::from(days))
    }
}

/// Lists loop worktrees and removes those that are no longer needed.
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

    /// Returns the loop worktrees of the managed repositories, largest first.
    ///
    /// # Errors
    /// Fails with [`WorktreeListError`] when jobs or repositories cannot be read.
    pub async fn list(&self) -> Result<Vec<LoopWorktree>, WorktreeListError> {
        let mut jobs: HashMap<PathBuf, Job> = HashMap::new();
        // Sorted newest first, so the newest record of each directory wins.
        for job in self.store.jobs().await? {
            // Peers are recorded only as long as the loop works in them.
            let peers = job.workspace.additional_worktree_dirs.iter().map(|peer| &peer.dir);
            for dir in job.workspace.worktree_dir.iter().chain(peers) {
                jobs.entry(canonical(Path::new(dir))).or_insert_with(|| job.clone());
            }
        }
        let list = self.repos.list()?;
        let mut candidates = Vec::new();
        for repository in &list.repos {
            let Some(place) = self.layout.allowed(&loopgate_home::expand_home(&repository.path)) else {
                continue;
            };
            let worktrees = match self.git.worktrees(place.as_path()).await {
                Ok(worktrees) => worktrees,
                Err(error) => {
                    tracing::info!(repository = %place.as_path().display(), %error, "cannot list worktrees");
                    continue;
                }
            };
            for worktree in worktrees {
                let job = jobs.remove(&canonical(&worktree.path));
                let of_a_loop = worktree.branch.as_ref().is_some_and(|name| name.starts_with(LOOP_BRANCHES));
                let is_usable = !worktree.main && !worktree.prunable;
                if is_usable && (job.is_some() || of_a_loop) && self.layout.allowed(&worktree.path).is_some()
                {
                    candidates.push((place.as_path().to_owned(), worktree, job));
                }
            }
        }
        let inspections = futures_util::stream::iter(candidates)
            .map(|(repository, worktree, job)| self.inspect(repository, worktree, job));
        let mut worktrees: Vec<LoopWorktree> = inspections.buffer_unordered(CONCURRENCY).collect().await;
        worktrees.sort_by(|one, other| {
            other.size_bytes.cmp(&one.size_bytes).then_with(|| one.path.cmp(&other.path))
        });
        Ok(worktrees)
    }

    /// Removes the worktrees that have expired according to a rule; with `pretend`, only returns them.
    ///
    /// # Errors
    /// Fails with [`WorktreeListError`] when the worktrees cannot be listed.
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

    /// Returns the retention rule of the settings.
    #[must_use]
    pub fn retention(&self) -> WorktreeRetention {
        self.settings.get().worktree_retention
    }

    /// Removes old worktrees by the rule of the settings, ten minutes after the start and then daily.
    pub async fn run(&self) {
        let mut interval = tokio::time::interval_at(tokio::time::Instant::now() + FIRST_RUN, INTERVAL);
        loop {
            interval.tick().await;
            match self.collect(self.retention(), false).await {
                Ok(report) => {
                    for worktree in report.removed {
                        tracing::info!(path = %worktree.path.display(), bytes = worktree.size_bytes,
                            "removed the worktree of an old loop; its branch remains");
                    }
                    for failure in report.failed {
                        tracing::warn!(path = %failure.path.display(), error = failure.error,
                            "cannot remove the worktree of an old loop");
                    }
                }
                Err(error) => tracing::info!(%error, "cannot list old worktrees"),
            }
        }
    }

    async fn inspect(&self, repository: PathBuf, worktree: Worktree, job: Option<Job>) -> LoopWorktree {
        // Peers of an active loop count too: their directories map to the same job.
        let busy = job.as_ref().is_some_and(|job| !job.status().is_terminal());
        let retain_reason =
            if busy { Some(RetainReason::InUse) } else { self.retain_reason(&worktree.path).await };
        let place = worktree.path.clone();
        let measured = tokio::task::spawn_blocking(move || (disk_use(&place), changed_at(&place))).await;
        let (size_bytes, changed) = measured.unwrap_or((0, Timestamp::now()));
        let record_time = job.as_ref().and_then(|job| job.updated_at.parse().ok());
        LoopWorktree {
            path: worktree.path,
            repository,
            branch: worktree.branch,
            loop_id: job.as_ref().map(|job| job.id),
            command: job.as_ref().map(|job| job.command),
            status: job.as_ref().map(Job::status),
            last_used: record_time.unwrap_or(changed),
            size_bytes,
            retain_reason,
        }
    }

    async fn retain_reason(&self, worktree: &Path) -> Option<RetainReason> {
        let inspection: Result<Option<RetainReason>, GitError> = async {
            if !self.git.changes(worktree).await?.is_empty() {
                return Ok(Some(RetainReason::Uncommitted));
            }
            let is_unpushed = self.git.has_unpushed_commits(worktree).await?
                || self.git.has_unpushed_submodules(worktree).await?;
            Ok(is_unpushed.then_some(RetainReason::Unpushed))
        }
        .await;
        inspection.unwrap_or(Some(RetainReason::Unreadable))
    }

    /// Removes a worktree after checking again that it is unused.
    async fn remove_unused(&self, worktree: &LoopWorktree) -> Result<(), String> {
        // Claimed before the check, so that no loop starts in the worktree in between.
        let _claim = self.claim_worktree(&worktree.path).ok_or("a loop is using it now")?;
        if self.retain_reason(&worktree.path).await.is_some() {
            return Err("it has changed since it was listed".to_owned());
        }
        let removed = self.git.worktree_remove(&worktree.repository, &worktree.path).await;
        removed.map(drop).map_err(|error| error.to_string())
    }

    /// Reserves a worktree, so that no loop uses it.
    fn claim_worktree(&self, worktree: &Path) -> Option<Reservation> {
        // Reservations belong to a loop id, so the removal uses a random one.
        let claim = self.reservations.reserve(LoopId(Uuid::new_v4()))?;
        // Under every spelling of the path, because claims compare paths literally.
        let as_given = self.layout.allowed(worktree)?;
        let places = [worktree, as_given.as_path(), &canonical(worktree)];
        places.into_iter().all(|place| claim.claim(place).is_ok()).then_some(claim)
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns the disk usage of a directory in bytes, without following links. Unreadable entries count as 0.
fn disk_use(directory: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let (mut bytes, mut pending) = (0, vec![directory.to_owned()]);
    while let Some(place) = pending.pop() {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            // `st_blocks` counts units of 512 bytes, independent of the block size of the file system.
            bytes += metadata.blocks() * 512;
            if metadata.is_dir() {
                pending.push(entry.path());
            }
        }
    }
    bytes
}

/// Returns the modification time of a directory. Without one, returns now, so that the directory does not
/// count as old.
fn changed_at(directory: &Path) -> Timestamp {
    let changed = std::fs::symlink_metadata(directory).and_then(|metadata| metadata.modified());
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
        let expires = |hours, status, retain_reason, rule| {
            let (worktree, now) = aged(hours, status, retain_reason);
            worktree.is_expired(rule, now)
        };
        // Ages are rounded down to whole days.
        assert!(!expires(47, Some(JobStatus::Completed), None, rule));
        assert!(expires(48, Some(JobStatus::Completed), None, rule));
        assert!(!expires(48, Some(JobStatus::Failed), None, rule));
        assert!(!expires(119, None, None, rule) && expires(120, None, None, rule));
        for retain_reason in
            [RetainReason::InUse, RetainReason::Uncommitted, RetainReason::Unpushed, RetainReason::Unreadable]
        {
            assert!(
                !expires(10_000, Some(JobStatus::Completed), Some(retain_reason), rule),
                "{retain_reason:?}"
            );
        }
        let never = WorktreeRetention { completed: None, other: None };
        assert!(!expires(100_000, Some(JobStatus::Completed), None, never));
        let immediately = WorktreeRetention { completed: Some(0), other: Some(0) };
        assert!(expires(0, None, None, immediately));
        assert!(expires(-3, Some(JobStatus::Completed), None, immediately), "the clock was set back");
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
