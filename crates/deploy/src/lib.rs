//! Deployments: runs the contents of a worktree on this machine. Detects the start command, starts it, checks
//! its health and tears it down.
//!
//! Commands come from the repository and run in a shell, but only when a request starts a deployment. Signals
//! are sent only to processes that this crate has started; the recorded start time distinguishes them from
//! later processes with the same id. Contains no HTTP server.

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
