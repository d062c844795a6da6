//! Reporting to the control plane: its client, the outbox, runner tokens, heartbeats, pull requests,
//! deployments and telemetry.

pub(crate) mod control_plane;
pub(crate) mod ended_loops;
pub(crate) mod failure_streak;
pub(crate) mod heartbeat;
pub(crate) mod outbox;
pub(crate) mod pull_requests;
pub(crate) mod telemetry;
pub(crate) mod tokens;
pub(crate) mod worktrees;
