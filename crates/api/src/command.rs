//! Loop commands: each one is a value that says what it needs and what it produces.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whether a command takes an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Refused without it.
    Required,
    /// Used when given.
    Optional,
    /// Ignored.
    Unused,
}

/// Where a command works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A git worktree of the repository.
    Worktree,
    /// A directory below the system's temporary directory.
    TempDir,
}

/// What a command needs and produces.
#[derive(Debug, Clone, Copy)]
pub struct CommandSpec {
    /// The request's prompt.
    pub prompt: Need,
    /// The request's artifacts.
    pub artifacts: Need,
    /// The primary repository.
    pub repository: Need,
    /// Whether peers take part.
    pub peers: bool,
    /// Where it works.
    pub place: Place,
    /// Whether it starts from the work of an earlier loop.
    pub needs_parent: bool,
    /// Files without which the completed event carries a warning.
    pub required_outputs: &'static [&'static str],
    /// Files that may be there.
    pub optional_outputs: &'static [&'static str],
}

macro_rules! commands {
    ($($(#[$doc:meta])* $variant:ident = $name:tt,)*) => {
        /// A loop command.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
        pub enum LoopCommand {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl LoopCommand {
            /// Every command.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name as it travels, for example `PLAN`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

commands! {
    /// Writes a plan that a person can judge.
    Plan = "PLAN",
    /// Implements a plan, commits, pushes and opens pull requests.
    Execute = "EXECUTE",
    /// Changes an existing plan.
    RequestChanges = "REQUEST_CHANGES",
    /// Changes existing requirements.
    RequestPrdChanges = "REQUEST_PRD_CHANGES",
    /// Writes requirements.
    GeneratePrd = "GENERATE_PRD",
    /// Splits requirements into features.
    Decompose = "DECOMPOSE",
    /// Judges requirements.
    EvaluatePrd = "EVALUATE_PRD",
    /// Judges a feature.
    EvaluateFeature = "EVALUATE_FEATURE",
    /// Judges a plan.
    EvaluatePlan = "EVALUATE_PLAN",
    /// Judges code.
    EvaluateCode = "EVALUATE_CODE",
    /// Seeds a project's agents.
    Bootstrap = "BOOTSTRAP",
    /// Reviews the code of a branch.
    CodeReview = "CODE_REVIEW",
    /// Talks; not run by a desktop.
    Chat = "CHAT",
    /// Looks around; not run by a desktop.
    Explore = "EXPLORE",
    /// Work of a person; not run by a desktop.
    Manual = "MANUAL",
}

impl LoopCommand {
    /// Whether a desktop can run it at all.
    #[must_use]
    pub const fn runs_on_desktop(self) -> bool {
        !matches!(self, Self::Chat | Self::Explore | Self::Manual)
    }

    /// The lower-case name, used as `subtype` and in file names.
    #[must_use]
    pub fn lower(self) -> String {
        self.as_str().to_ascii_lowercase()
    }

    /// What the command needs and produces.
    #[must_use]
    pub const fn spec(self) -> CommandSpec {
        use Need::{Optional, Required, Unused};
        const PLAN_FILES: &[&str] = &["plan.md", "open-questions.md", "judges.json"];
        let base = CommandSpec {
            prompt: Optional,
            artifacts: Optional,
            repository: Required,
            peers: false,
            place: Place::Worktree,
            needs_parent: false,
            required_outputs: &[],
            optional_outputs: &[],
        };
        let judged = CommandSpec { artifacts: Required, place: Place::TempDir, ..base };
        match self {
            Self::Plan => CommandSpec {
                peers: true,
                required_outputs: &["plan.json"],
                optional_outputs: &["plan.md", "open-questions.md", "judges.json", "implementation-plan.md"],
                ..base
            },
            Self::Execute => CommandSpec {
                peers: true,
                needs_parent: true,
                required_outputs: &["execution-result.json"],
                optional_outputs: &["code-judges.json"],
                ..base
            },
            Self::RequestChanges => CommandSpec {
                prompt: Required,
                needs_parent: true,
                required_outputs: &["plan.json"],
                optional_outputs: PLAN_FILES,
                ..base
            },
            Self::RequestPrdChanges => CommandSpec {
                prompt: Required,
                artifacts: Required,
                peers: true,
                needs_parent: true,
                required_outputs: &["prd.md"],
                ..base
            },
            Self::GeneratePrd => {
                CommandSpec { prompt: Required, peers: true, required_outputs: &["prd.md"], ..base }
            }
            Self::Decompose => {
                CommandSpec { repository: Unused, required_outputs: &["features.json"], ..judged }
            }
            Self::EvaluatePrd => {
                CommandSpec { repository: Optional, required_outputs: &["prd-judges.json"], ..judged }
            }
            Self::EvaluateFeature => {
                CommandSpec { repository: Optional, required_outputs: &["feature-judges.json"], ..judged }
            }
            Self::EvaluatePlan => CommandSpec { required_outputs: &["plan-judges.json"], ..judged },
            Self::EvaluateCode => CommandSpec { required_outputs: &["code-judges.json"], ..judged },
            Self::Bootstrap => {
                CommandSpec { artifacts: Unused, repository: Unused, place: Place::TempDir, ..base }
            }
            Self::CodeReview => CommandSpec {
                required_outputs: &["verdict.json"],
                optional_outputs: &["code-judges.json"],
                ..base
            },
            Self::Chat | Self::Explore => CommandSpec { prompt: Required, repository: Unused, ..base },
            Self::Manual => CommandSpec { repository: Optional, ..base },
        }
    }
}

impl fmt::Display for LoopCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LoopCommand {
    type Err = crate::ids::InvalidId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|command| command.as_str() == text)
            .ok_or(crate::ids::InvalidId("Invalid command"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use utoipa::PartialSchema as _;

    #[test]
    fn the_description_lists_commands_as_they_travel() {
        let described = serde_json::to_value(LoopCommand::schema()).unwrap();
        let names: Vec<&str> = LoopCommand::ALL.iter().map(|command| command.as_str()).collect();
        assert_eq!(described["enum"], serde_json::json!(names));
    }
}
