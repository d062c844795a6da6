//! Runs the contents of a ticket's worktree on this machine: detection of the start command, the run itself, its
//! health checks and its teardown.
//!
//! Commands come from the repository's manifests and are run by a shell, only when a request asks for a deploy. Only
//! processes that were started here are signalled; a recorded start time tells them from others with the same pid.
//! Serves no HTTP.

mod blocking;
mod deploys;
mod detect;
mod engine;
mod health;
mod log;
mod loopback;
mod markers;
mod monitor;
mod ports;
mod run;
mod settings;
mod status;
mod stop;

pub use deploys::{DeployError, DeployHandle, DeployRequest, DeployTimeouts, Deploys};
pub use detect::{Candidate, best, candidates};
pub use engine::EngineError;
pub use health::{HealthCheck, accepts_connections, check_health};
pub use log::local_url;
pub use loopback::LoopbackUrl;
pub use settings::Deployment;
pub use status::DeployStatus;
pub use stop::{KillOutcome, Teardown, TeardownOutcome};
