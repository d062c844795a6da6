//! What a user selects for a loop in addition to its inputs.

use loopgate_api::ids::is_option_value;
use loopgate_api::usd::Usd;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ValidationIssues;

// Agents that a start names. Each name is a slug.
const AGENT_LIMIT: usize = 100;

/// What a user selects for a loop. Loops that continue its work inherit it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelectedOptions {
    /// Model of the assistant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Spending limit in US dollars, in addition to those of the organization and the desktop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub max_spend_usd: Option<Usd>,
    /// Slugs of the organization's agents that the loop gets; all that apply to its repositories if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<Vec<String>>,
    /// Whether the loop uses learnings; no if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_learning: Option<bool>,
}

impl SelectedOptions {
    /// Adds the members that another loop selected and this one does not.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            model: self.model.or(other.model),
            max_spend_usd: self.max_spend_usd.or(other.max_spend_usd),
            agents: self.agents.or(other.agents),
            self_learning: self.self_learning.or(other.self_learning),
        }
    }

    /// Validates the members.
    pub fn check(&self, issues: &mut ValidationIssues) {
        let is_name = self.model.as_deref().is_none_or(is_option_value);
        issues.require(is_name, "model", "must be the name of a model, a single word");
        issues.require(!self.max_spend_usd.is_some_and(Usd::is_zero), "maxSpendUsd", "must be more than 0");
        let count = self.agents.as_ref().map_or(0, Vec::len);
        issues.require(count <= AGENT_LIMIT, "agents", "must have at most 100 items");
    }

    /// Returns whether the loop gets an agent.
    pub fn includes(&self, slug: &str) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.iter().any(|agent| agent == slug))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_selection_has_precedence_over_the_inherited_one() {
        let parent = SelectedOptions {
            model: Some("opus".to_owned()),
            max_spend_usd: Some(Usd::from_micros(1)),
            agents: None,
            self_learning: Some(true),
        };
        let own = SelectedOptions { model: Some("haiku".to_owned()), ..SelectedOptions::default() };
        let result = own.or(parent);
        assert_eq!(result.model.as_deref(), Some("haiku"));
        assert_eq!(result.max_spend_usd, Some(Usd::from_micros(1)));
        assert_eq!(result.self_learning, Some(true));
        assert!(result.includes("any"));
        assert!(!SelectedOptions { agents: Some(Vec::new()), ..result }.includes("any"));
    }
}
