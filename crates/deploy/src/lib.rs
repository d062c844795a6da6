#![doc = include_str!("../README.md")]

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

pub use deploys::{DeployError, DeployHandle, DeployRequest, DeployTimeouts, Deploys, NotAgreed, agreement};
pub use detect::{Candidate, PLACES, best, candidates, candidates_in};
pub use engine::EngineError;
pub use health::{HealthCheck, accepts_connections, check_health};
pub use log::local_url;
pub use loopback::LoopbackUrl;
pub use run::{DirectoryError, Survivors};
pub use settings::Deployment;
pub use status::DeployStatus;
pub use stop::{KillOutcome, Teardown, TeardownOutcome};
