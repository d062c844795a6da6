//! Reports the standing of pull requests that loops of this desktop opened.
//!
//! The control plane knows which of them are open, so that nothing is stored here. Each is read after its loop has
//! ended, and then with a growing interval until it is merged or closed. What a page reads through the gateway is
//! reported as well.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loopgate_api::ids::RepoFullName;
use loopgate_api::pull_request::{
    PullRequestReport, PullRequestStanding, ReportedStanding, WatchedPullRequest,
};
use loopgate_tools::code_host::{CodeHost, GraphQlError, PullNumber};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use crate::reporting::control_plane::{CallError, ControlPlaneClient};

/// Interval of reads after a change. It doubles with each read that finds none.
const FIRST_INTERVAL: Duration = Duration::from_secs(30);
/// Longest interval. With one query for each of a few pull requests, this is far below the limits of the code host.
const LONGEST_INTERVAL: Duration = Duration::from_mins(10);

type Standings = HashMap<WatchedPullRequest, ReportedStanding>;

/// Reads and reports pull requests; clones share state.
#[derive(Debug, Clone)]
pub struct PullRequestReports(Arc<ReportState>);

#[derive(Debug)]
struct ReportState {
    cloud: ControlPlaneClient,
    code_host: CodeHost,
    memory: Mutex<ReportMemory>,
    /// Whether all open pull requests are to be read at once.
    check: AtomicBool,
    wake: Notify,
}

#[derive(Debug, Default)]
struct ReportMemory {
    /// Pull requests that the control plane has named in this process. No others are reported.
    known: HashSet<WatchedPullRequest>,
    /// Standings that pages have read, and that are not reported yet.
    observed: Standings,
    /// Last reported standings, so that an unchanged one is not reported again.
    reported: Standings,
}

impl PullRequestReports {
    pub(crate) fn new(cloud: ControlPlaneClient, code_host: CodeHost) -> Self {
        Self(Arc::new(ReportState {
            cloud,
            code_host,
            memory: Mutex::default(),
            check: AtomicBool::default(),
            wake: Notify::new(),
        }))
    }

    /// Reports a standing that was read for a page, if a loop of this desktop opened the pull request.
    pub fn observe(&self, repository: &RepoFullName, number: PullNumber, standing: &PullRequestStanding) {
        let pull = WatchedPullRequest { full_name: repository.to_string(), number: number.get().into() };
        let standing = standing.reported();
        let mut memory = self.memory();
        if memory.known.contains(&pull) && memory.reported.get(&pull) != Some(&standing) {
            memory.observed.insert(pull, standing);
            self.0.wake.notify_one();
        }
    }

    /// Reads and reports all open pull requests at once.
    pub fn check(&self) {
        self.0.check.store(true, Ordering::Release);
        self.0.wake.notify_one();
    }

    /// Reads and reports for this desktop's compute target until the future is dropped. Call it while the desktop is
    /// connected to the control plane.
    pub async fn run(&self, target_id: Uuid) {
        let mut interval = FIRST_INTERVAL;
        // Read at once: pull requests may have changed while the desktop was offline.
        let mut due = Instant::now();
        loop {
            let reads = tokio::select! {
                () = sleep_until(due) => true,
                () = self.0.wake.notified() => self.0.check.swap(false, Ordering::AcqRel),
            };
            let has_changed = self.round(target_id, reads).await.unwrap_or_else(|error| {
                tracing::debug!(%error, "cannot report pull requests to the control plane");
                false
            });
            if has_changed {
                interval = FIRST_INTERVAL;
            } else if reads {
                interval = (interval * 2).min(LONGEST_INTERVAL);
            } else {
                continue;
            }
            due = Instant::now() + interval;
        }
    }

    /// Reports what pages have read, then reads and reports the other open pull requests if `reads`. Returns whether
    /// anything has changed.
    async fn round(&self, target_id: Uuid, reads: bool) -> Result<bool, CallError> {
        let observed = std::mem::take(&mut self.memory().observed);
        let open = match self.report(target_id, &observed).await {
            Ok(open) => open,
            Err(error) => {
                // A page may have read one of them again in between; its value is newer.
                let mut memory = self.memory();
                for (pull, standing) in observed {
                    memory.observed.entry(pull).or_insert(standing);
                }
                return Err(error);
            }
        };
        if !reads {
            return Ok(!observed.is_empty());
        }
        let changed = self.read(open.into_iter().filter(|pull| !observed.contains_key(pull))).await;
        if !changed.is_empty() {
            self.report(target_id, &changed).await?;
        }
        Ok(!observed.is_empty() || !changed.is_empty())
    }

    /// Reads pull requests, and returns those with another standing than the reported one.
    async fn read(&self, pulls: impl Iterator<Item = WatchedPullRequest>) -> Standings {
        let mut changed = Standings::new();
        for pull in pulls {
            let (Ok(repository), Some(number)) =
                (pull.full_name.parse::<RepoFullName>(), PullNumber::new(pull.number))
            else {
                continue;
            };
            // A cached one may be older than the change that caused this read.
            self.0.code_host.forget_standing(&repository, number).await;
            match self.0.code_host.pull_request_standing(&repository, number).await {
                Ok(standing) => {
                    let standing = standing.reported();
                    if self.memory().reported.get(&pull) != Some(&standing) {
                        changed.insert(pull, standing);
                    }
                }
                Err(
                    error @ (GraphQlError::NotFound | GraphQlError::Forbidden | GraphQlError::Unreadable),
                ) => {
                    tracing::info!(%repository, %number, %error, "cannot read a pull request of a loop");
                }
                // The others would fail as well.
                Err(error) => {
                    tracing::info!(%error, "cannot read the pull requests of loops");
                    break;
                }
            }
        }
        changed
    }

    async fn report(
        &self,
        target_id: Uuid,
        standings: &Standings,
    ) -> Result<Vec<WatchedPullRequest>, CallError> {
        let report = |(pull, standing): (&WatchedPullRequest, &ReportedStanding)| PullRequestReport {
            full_name: pull.full_name.clone(),
            number: pull.number,
            standing: standing.clone(),
        };
        let reports: Vec<_> = standings.iter().map(report).collect();
        let open = self.0.cloud.report_pull_requests(target_id, &reports).await?;
        let mut memory = self.memory();
        memory.known.extend(open.iter().cloned());
        memory.reported.extend(standings.clone());
        if !standings.is_empty() {
            tracing::info!(count = standings.len(), "reported pull requests to the control plane");
        }
        Ok(open)
    }

    fn memory(&self) -> MutexGuard<'_, ReportMemory> {
        self.0.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
