//! The programs that answer: providers, their runs, and the conversations with them.
//!
//! A [`Provider`] knows the command line and the output of one program. [`AgentRuns`] has a provider take one
//! turn, in a process that outlives Loopgate. [`Conversations`] are turns with a history. Nothing here knows
//! of HTTP.

pub mod acp;
pub mod attachment;
pub mod conversation;
pub mod provider;
pub mod registry;
pub mod run;

use std::sync::Arc;

pub use attachment::Attachment;
pub use conversation::{ChatRequest, Conversations};
pub use provider::{Provider, ProviderCommand, ProviderProgram, TurnOutput, TurnRequest};
pub use registry::ProviderRegistry;
pub use run::{
    AgentRuns, AgentRunsConfig, EventStream, NoStore, RunHandle, RunRequest, RunStore, RunStoreFactory,
    RunStream, SecondAttempt,
};

/// The providers of this desktop, and what is asked of them.
pub struct Agents {
    /// Every provider by its id.
    pub providers: ProviderRegistry,
    /// Single turns.
    pub runs: AgentRuns,
    /// Turns with a history.
    pub conversations: Arc<Conversations>,
}

impl Agents {
    /// Builds the services; starts nothing.
    #[must_use]
    pub fn new(config: AgentRunsConfig, providers: ProviderRegistry) -> Self {
        let sandbox = config.sandbox.clone();
        let runs = AgentRuns::new(config);
        let conversations = Arc::new(Conversations::new(runs.clone(), sandbox));
        Self { providers, runs, conversations }
    }

    /// Follows what an earlier process started: conversations, and the runs of these others.
    pub fn recover(&self, others: &[&dyn RunStoreFactory]) {
        let mut factories: Vec<&dyn RunStoreFactory> = vec![self.conversations.as_ref()];
        factories.extend(others);
        self.runs.recover(&self.providers, &factories);
    }
}
