//! What a ticket's worktree builds, run on this machine: how it is started, whether it answers, and its end.
//!
//! Commands of a repository are run by a shell, because that is what its manifest holds, and only when somebody
//! asks for a deploy. What is signalled was started here, and is told from strangers by its start time. Knows
//! nothing of HTTP serving.

mod deploys;
mod detect;
mod follow;
mod health;
mod log;
mod loopback;
mod markers;
mod ports;
mod run;
mod settings;
mod status;
mod stop;

pub use deploys::{DeployError, Deploys, Order, Started, Timing};
pub use detect::{Candidate, best, candidates};
pub use health::{Health, accepts, ask};
pub use log::local_url;
pub use loopback::LoopbackUrl;
pub use settings::Deployment;
pub use status::DeployStatus;
pub use stop::{Killed, Teardown, TornDown};
