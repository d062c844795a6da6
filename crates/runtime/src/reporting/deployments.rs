//! Reports which changes of loops are deployed on this desktop.

use std::path::{Path, PathBuf};

use loopgate_api::deployment::{DeploymentReport, DeploymentState};
use uuid::Uuid;

use crate::jobs::{Job, Jobs};
use crate::reporting::control_plane::{CallError, ControlPlaneClient};

/// Reports deployments; clones share state.
#[derive(Clone)]
pub struct DeploymentReports {
    cloud: ControlPlaneClient,
    jobs: Jobs,
}

impl DeploymentReports {
    pub(crate) const fn new(cloud: ControlPlaneClient, jobs: Jobs) -> Self {
        Self { cloud, jobs }
    }

    /// Reports all deployments of this desktop's compute target, by their worktrees. Those of worktrees in which no loop
    /// has worked are left out.
    ///
    /// # Errors
    /// Fails with [`CallError`] when the control plane does not store the report.
    pub async fn report(
        &self,
        target_id: Uuid,
        deployments: Vec<(PathBuf, DeploymentState)>,
    ) -> Result<(), CallError> {
        let jobs = match self.jobs.list().await {
            Ok(jobs) => jobs,
            // A report without them would say that they have ended.
            Err(error) => {
                tracing::warn!(%error, "cannot read the loops of the deployments");
                return Ok(());
            }
        };
        let report = |(worktree, state): (PathBuf, DeploymentState)| {
            let job = jobs.iter().find(|job| has_worktree(job, &worktree))?;
            Some(DeploymentReport { loop_id: job.id.0, state })
        };
        let reports: Vec<_> = deployments.into_iter().filter_map(report).collect();
        self.cloud.report_deployments(target_id, &reports).await
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
