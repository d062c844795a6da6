#![doc = include_str!("../README.md")]

/// Compiles a constant pattern at its first use. Tests compile all of them.
macro_rules! constant_regex {
    ($pattern:expr) => {
        std::sync::LazyLock::new(|| regex::Regex::new($pattern).expect("constant pattern"))
    };
}

mod agent_file;
mod analysis;
mod answer;
mod commands;
mod definitions;
mod domains;
mod facts;
mod gates;
mod languages;
mod manifests;
mod overview;
mod roster;
mod scan;
mod signals;
mod terms;
mod validation;

pub use agent_file::{AGENT_MODEL, AgentFileCheck, agent_file, check_agent_file};
pub use analysis::ProjectAnalysis;
pub use answer::{ExpertText, PlanResponsibilities, parse_answer};
pub use commands::{CommandPurpose, ProjectCommand};
pub use domains::{DomainComplexity, DomainEntry, DomainReport, DomainSummary, ProjectDomains};
pub use facts::{AgentFacts, agent_facts};
pub use gates::{critic_gates, gates_faults};
pub use languages::{LanguageClass, LanguageEntry, LanguageReport};
pub use manifests::ProjectDependencies;
pub use overview::ProjectOverview;
pub use roster::{
    AgentDecomposition, AgentRole, CandidateExpert, DecomposedRoster, ExpertRoster, FinalAgent, RosterOptions,
};
pub use scan::{ExcludedFile, RepositoryScan, ScannedFile};
pub use terms::RepositoryTerms;
pub use validation::{AgentFileResult, AgentValidation, GenerationValidation, validate_generation};
