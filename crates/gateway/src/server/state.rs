//! State of the server.

use std::sync::OnceLock;

use super::health::ListenerMonitor;
use crate::config::SignIn;
use crate::pipeline::state::PipelineState;

/// State shared by the listener and in-process callers.
pub(crate) struct ServerState {
    pub(crate) pipeline: PipelineState,
    pub(crate) health: ListenerMonitor,
    /// Creates sign-in links. Set when the control plane runs in the same process.
    pub(crate) sign_in: OnceLock<SignIn>,
}

impl ServerState {
    pub(crate) fn new(pipeline: PipelineState) -> Self {
        Self { pipeline, health: ListenerMonitor::default(), sign_in: OnceLock::new() }
    }
}
