//! Deployments of changes on the machine that made them, as desktops report them to the control plane.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// State of a deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeploymentState {
    /// Its dependencies are installed, or its server does not respond yet.
    Starting,
    /// Its server responds.
    Running,
    /// A command failed, or the server did not respond in time.
    Failed,
}

/// Report of a desktop about the deployment of a loop's worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentReport {
    /// The newest loop that worked in the worktree.
    pub loop_id: Uuid,
    /// State of the deployment.
    pub state: DeploymentState,
}
