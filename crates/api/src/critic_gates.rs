//! `critic-gates.json`: the critics of a project, and the modules that each of them reviews.

use serde::Deserialize;

/// Maximum number of critics unless `critic-gates.json` sets a budget.
const DEFAULT_REVIEW_BUDGET: usize = 2;

/// Content of `critic-gates.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CriticGates {
    /// Critics of every change, and their number.
    pub defaults: CriticDefaults,
    /// Critics of some modules.
    pub module_critics: Vec<ModuleCritics>,
}

/// Critics of every change, and the largest number of critics.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CriticDefaults {
    /// Names of the critics.
    pub base_critics: Vec<String>,
    /// Largest number of critics.
    pub review_budget: Option<usize>,
}

/// Critics of the modules whose names or paths contain one of the patterns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ModuleCritics {
    /// Parts of names or paths.
    pub patterns: Vec<String>,
    /// Names of the critics.
    pub critics: Vec<String>,
}

impl CriticGates {
    /// Returns the largest number of critics.
    #[must_use]
    pub fn review_budget(&self) -> usize {
        self.defaults.review_budget.unwrap_or(DEFAULT_REVIEW_BUDGET)
    }
}
