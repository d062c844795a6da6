#![doc = include_str!("../README.md")]

pub mod acp;
pub mod attachment;
pub mod conversation;
pub mod provider;
pub mod registry;
pub mod run;

use std::sync::Arc;

pub use attachment::MessageAttachment;
pub use conversation::{ChatRequest, Conversations};
pub use provider::{Provider, ProviderCommand, ProviderProgram, TurnOutput, TurnRequest};
pub use registry::ProviderRegistry;
pub use run::{
    AgentRuns, AgentRunsConfig, EventStream, NoStore, RunHandle, RunRequest, RunStore, RunStoreFactory,
    RunStream, SecondAttempt,
};

/// Providers of this desktop, and the services that use them.
pub struct Agents {
    /// All providers by id.
    pub providers: ProviderRegistry,
    /// Runs of single turns.
    pub runs: AgentRuns,
    /// Turns with a stored history.
    pub conversations: Arc<Conversations>,
}

impl Agents {
    /// Creates the services. Starts no tasks.
    #[must_use]
    pub fn new(config: AgentRunsConfig, providers: ProviderRegistry) -> Self {
        let sandbox = config.sandbox.clone();
        let runs = AgentRuns::new(config);
        let conversations = Arc::new(Conversations::new(runs.clone(), sandbox));
        Self { providers, runs, conversations }
    }

    /// Recovers the runs of an earlier process: those of conversations, and those of the other factories.
    pub fn recover(&self, others: &[&dyn RunStoreFactory]) {
        let mut factories: Vec<&dyn RunStoreFactory> = vec![self.conversations.as_ref()];
        factories.extend(others);
        self.runs.recover(&self.providers, &factories);
    }
}
