//! The order and the result of a BOOTSTRAP: repositories in, their agents out.
//!
//! The order travels as the JSON text of a loop's prompt, the result as one of its artifacts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which repositories get agents, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootstrapOrder {
    /// At least one.
    #[serde(deserialize_with = "not_empty")]
    pub repos: Vec<BootstrapRepo>,
    /// How.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<BootstrapOptions>,
}

/// A repository to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapRepo {
    /// `<org>/<repo>`.
    pub full_name: String,
    /// The branch that is meant; told back in the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Where its clone lies, when the sender knows; `~` is the home directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_path: Option<String>,
}

/// How repositories are looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootstrapOptions {
    /// How closely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<BootstrapDepth>,
    /// Whether agents that are there are brought up to date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<bool>,
}

/// How closely a repository is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BootstrapDepth {
    /// At a glance.
    Quick,
    /// As usual.
    Medium,
    /// At length.
    Deep,
}

impl BootstrapDepth {
    /// The name as it travels.
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

/// What came of a BOOTSTRAP.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapResult {
    /// One entry a repository, in the order of the request.
    pub repos: Vec<BootstrappedRepo>,
    /// Milliseconds.
    pub total_duration: u64,
}

/// What came of one repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BootstrappedRepo {
    /// `<org>/<repo>`.
    pub full_name: String,
    /// The branch of the order.
    pub branch: String,
    /// Whether there are agents, or nothing went wrong.
    pub success: bool,
    /// Why not, or what went wrong beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its agents.
    pub agents: Vec<BootstrappedAgent>,
    /// Its critic gates, when it has any.
    pub critic_gates: Option<Value>,
    /// What the bootstrap noted of itself, when it did.
    pub metadata: Option<Value>,
    /// Milliseconds.
    pub duration: u64,
}

/// An agent that was written for a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootstrappedAgent {
    /// Its name for people.
    pub name: String,
    /// Its name for programs.
    pub slug: String,
    /// The same.
    pub role: String,
    /// What it is for; empty when it does not say.
    pub description: String,
    /// The whole definition.
    pub prompt: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_names_repositories_and_knows_its_options() {
        let read = |text: &str| serde_json::from_str::<BootstrapOrder>(text);
        let whole = read(
            r#"{"repos":[{"fullName":"acme/api","branch":"main","localPath":"~/src/api"}],
                "options":{"depth":"deep","update":true},"other":1}"#,
        )
        .unwrap();
        assert_eq!(whole.options.and_then(|how| how.depth), Some(BootstrapDepth::Deep));
        assert_eq!(whole.repos[0].local_path.as_deref(), Some("~/src/api"));
        assert!(read(r#"{"repos":[{"fullName":"acme/api","localPath":null}],"options":null}"#).is_ok());
        for odd in [
            "not json",
            "[]",
            "{}",
            r#"{"repos":[]}"#,
            r#"{"repos":{}}"#,
            r#"{"repos":[{"fullName":7}]}"#,
            r#"{"repos":[{}]}"#,
            r#"{"repos":[{"fullName":"acme/api"}],"options":{"depth":"--help"}}"#,
        ] {
            assert!(read(odd).is_err(), "{odd}");
        }
    }
}
