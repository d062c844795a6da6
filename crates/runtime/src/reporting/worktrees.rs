//! Reports about the worktrees of loops: which of them are deployed, and how many findings of reviews wait for a decision.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use loopgate_api::deployment::{DeploymentReport, DeploymentState};
use loopgate_api::ids::LoopId;
use reqwest::StatusCode;
use thiserror::Error;
use uuid::Uuid;

use crate::jobs::store::StoreError;
use crate::jobs::{Job, JobRepository, Jobs};
use crate::reporting::control_plane::{CallError, ControlPlaneClient};

/// Reason for which a report was not stored.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The records of the loops cannot be read.
    #[error("cannot read the loops: {0}")]
    Jobs(#[from] StoreError),
    /// The control plane has not stored the report.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Reports about worktrees; clones share state.
#[derive(Clone)]
pub struct WorktreeReports {
    cloud: ControlPlaneClient,
    jobs: Jobs,
}

impl WorktreeReports {
    pub(crate) const fn new(cloud: ControlPlaneClient, jobs: Jobs) -> Self {
        Self { cloud, jobs }
    }

    /// Reports all deployments of this desktop's compute target, by their worktrees. Those of worktrees in which no loop
    /// has worked are left out.
    ///
    /// # Errors
    /// Fails with [`ReportError`]; nothing is reported then, since a deployment that is left out counts as ended.
    pub async fn deployments(
        &self,
        target_id: Uuid,
        deployments: Vec<(PathBuf, DeploymentState)>,
    ) -> Result<(), ReportError> {
        let jobs = self.jobs.list().await?;
        let report = |(worktree, state): (PathBuf, DeploymentState)| {
            let job = jobs.iter().find(|job| has_worktree(job, &worktree))?;
            Some(DeploymentReport { loop_id: job.id.0, state })
        };
        let reports: Vec<_> = deployments.into_iter().filter_map(report).collect();
        Ok(self.cloud.report_deployments(target_id, &reports).await?)
    }

    /// Returns the worktrees of all loops, each with the newest loop that worked in it.
    ///
    /// # Errors
    /// Fails with [`ReportError`] when the records of the loops cannot be read.
    pub async fn worktrees(&self) -> Result<Vec<(LoopId, JobRepository)>, ReportError> {
        let jobs = self.jobs.list().await?;
        let worktrees =
            jobs.iter().flat_map(|job| job.repositories().into_iter().map(|place| (job.id, place)));
        let mut known = HashSet::new();
        Ok(worktrees.filter(|(_, place)| known.insert(place.worktree.clone())).collect())
    }

    /// Reports how many findings about the changes of a loop wait for a decision. A loop that the control plane does not
    /// know counts as reported.
    ///
    /// # Errors
    /// Fails with [`ReportError`] when the control plane does not store the report.
    pub async fn findings(&self, loop_id: LoopId, repository: &str, open: usize) -> Result<(), ReportError> {
        match self.cloud.report_findings(loop_id, repository, open).await {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND.as_u16()) => Ok(()),
            result => Ok(result?),
        }
    }
}

/// Returns whether a loop works or worked in a worktree, given by its canonical path.
fn has_worktree(job: &Job, worktree: &Path) -> bool {
    let own = job.workspace.worktree_dir.as_deref().map(Path::new);
    // The names are compared first: most paths need no access to the file system.
    own.is_some_and(|own| {
        own.file_name() == worktree.file_name()
            && (own == worktree || own.canonicalize().is_ok_and(|own| own == worktree))
    })
}
