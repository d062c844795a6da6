//! Request and result of a BOOTSTRAP loop, which creates agents for repositories.
//!
//! The request is the JSON text of the loop's prompt, the result one of the loop's artifacts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Repositories to create agents for, and options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootstrapOrder {
    /// Repositories to analyze; never empty.
    #[serde(deserialize_with = "not_empty")]
    pub repos: Vec<BootstrapRepo>,
    /// Options of the analysis; absent for the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<BootstrapOptions>,
}

/// A repository to analyze.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapRepo {
    /// Full name of the repository, `<org>/<repo>`.
    pub full_name: String,
    /// Branch for the agents, copied into the result; absent when unspecified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Path of a local clone, with `~` for the home directory; absent when the sender does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_path: Option<String>,
}

/// Options of the analysis of all repositories.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootstrapOptions {
    /// Depth of the analysis; absent for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<BootstrapDepth>,
    /// Whether existing agents are updated; absent for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<bool>,
}

/// Depth of the analysis of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BootstrapDepth {
    /// Least thorough, fastest analysis.
    Quick,
    /// Analysis of ordinary depth.
    Medium,
    /// Most thorough, slowest analysis.
    Deep,
}

impl BootstrapDepth {
    /// Returns the wire name, for example `quick`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Medium => "medium",
            Self::Deep => "deep",
        }
    }
}

fn not_empty<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Vec<BootstrapRepo>, D::Error> {
    let repos = Vec::deserialize(source)?;
    if repos.is_empty() { Err(serde::de::Error::custom("no repository")) } else { Ok(repos) }
}

/// Result of a BOOTSTRAP loop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapResult {
    /// One entry per repository, in request order.
    pub repos: Vec<BootstrappedRepo>,
    /// Duration of the loop in milliseconds.
    pub total_duration: u64,
}

/// Result for one repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BootstrappedRepo {
    /// Full name of the repository, `<org>/<repo>`.
    pub full_name: String,
    /// Branch as given in the request.
    pub branch: String,
    /// Whether agents exist, or no error occurred.
    pub success: bool,
    /// Error message, or a warning of a successful run; absent without either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Agents written for the repository.
    pub agents: Vec<BootstrappedAgent>,
    /// Critic gates of the repository; null when it has none.
    pub critic_gates: Option<Value>,
    /// Metadata that the bootstrap plugin wrote; null when absent.
    pub metadata: Option<Value>,
    /// Duration for this repository in milliseconds.
    pub duration: u64,
}

/// An agent that was written for a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootstrappedAgent {
    /// Display name of the agent.
    pub name: String,
    /// Identifier of the agent, used as file name.
    pub slug: String,
    /// Role of the agent, equal to `slug`.
    pub role: String,
    /// Purpose of the agent; empty when the definition has none.
    pub description: String,
    /// Text of the agent definition.
    pub prompt: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_needs_a_repository_and_known_options() {
        let parse = |text: &str| serde_json::from_str::<BootstrapOrder>(text);
        let request = parse(
            r#"{"repos":[{"fullName":"acme/api","branch":"main","localPath":"~/src/api"}],
                "options":{"depth":"deep","update":true},"other":1}"#,
        )
        .unwrap();
        assert_eq!(request.options.and_then(|options| options.depth), Some(BootstrapDepth::Deep));
        assert_eq!(request.repos[0].local_path.as_deref(), Some("~/src/api"));
        assert!(parse(r#"{"repos":[{"fullName":"acme/api","localPath":null}],"options":null}"#).is_ok());
        for invalid in [
            "not json",
            "[]",
            "{}",
            r#"{"repos":[]}"#,
            r#"{"repos":{}}"#,
            r#"{"repos":[{"fullName":7}]}"#,
            r#"{"repos":[{}]}"#,
            r#"{"repos":[{"fullName":"acme/api"}],"options":{"depth":"--help"}}"#,
        ] {
            assert!(parse(invalid).is_err(), "{invalid}");
        }
    }
}
