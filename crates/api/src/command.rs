//! Loop commands: each one is a value that says what it needs and what it produces.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::launch::Harness;
use crate::names::BOOTSTRAP_RESULT;

/// Whether a command takes an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputRequirement {
    /// Refused without it.
    Required,
    /// Used when given.
    Optional,
    /// Ignored.
    Unused,
}

/// Where a command works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkLocation {
    /// A git worktree of the repository.
    Worktree(WorktreeSource),
    /// A directory below the system's temporary directory that goes with the loop.
    TempDir,
}

/// How a worktree comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreeSource {
    /// Made anew.
    Fresh {
        /// What its key and its branch begin with, before the document's slug.
        prefix: &'static str,
        /// Whether it stays when the loop is over.
        stays: bool,
    },
    /// The one in which the document was worked on before, else a new one.
    Continued,
    /// The one in which the document was worked on before, else one on no branch that goes with the
    /// loop.
    Visited,
}

/// What a command may do with the repositories beside its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peers {
    /// There are none.
    None,
    /// They are there to be read: nothing in them is committed.
    ReadOnly,
    /// Work in them is delivered like work in the primary one.
    ReadWrite,
}

/// Which files a command begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inputs {
    /// The wish, as requirements.
    Requirements,
    /// A plan that is to be carried out, and its requirements.
    Plan,
    /// A plan that is to be changed, and what is to be changed in it.
    Amendment,
    /// The wish and every document, to write from.
    Context,
    /// What is to be judged.
    JudgeSubject(JudgeSubject),
    /// Requirements and instructions of a review.
    Review,
    /// A list of repositories.
    Repositories,
}

/// What a judging command judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeSubject {
    /// Requirements.
    Prd,
    /// A feature.
    Feature,
    /// A plan.
    Plan,
    /// Code.
    Code,
}

/// What runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// The loop driver, with at most so many iterations.
    Driver(u32),
    /// The assistant, once, with one prompt.
    Prompt,
    /// The assistant, once a repository.
    EachRepository,
}

/// A plugin of the assistant that a command uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plugin {
    /// None.
    None,
    /// The command cannot be run without it.
    Needed(&'static str),
    /// Used when it is there.
    Welcome(&'static str),
}

/// A file that a command leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandOutput {
    /// Its name.
    pub file: &'static str,
    /// Whether the completed event carries a warning when it is missing.
    pub required: bool,
    /// What it is uploaded as, and in which form.
    pub upload: Option<(&'static str, UploadForm)>,
}

/// How an output is uploaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadForm {
    /// A plan: its markdown and the whole object.
    Plan,
    /// A JSON object as it is.
    Object,
    /// A report of judges: an object whose id and statuses are computed when it is read.
    Judges,
    /// A text as it is.
    Text,
    /// A text of the project's root directory, as `{"content"}`.
    Document,
}

impl CommandOutput {
    const fn required(file: &'static str, upload: &'static str, form: UploadForm) -> Self {
        Self { file, required: true, upload: Some((upload, form)) }
    }

    const fn optional(file: &'static str, upload: &'static str, form: UploadForm) -> Self {
        Self { file, required: false, upload: Some((upload, form)) }
    }

    /// A file that stays on the machine.
    const fn kept(file: &'static str) -> Self {
        Self { file, required: false, upload: None }
    }

    /// Whether it is in the root of the project, not among the files of the run.
    #[must_use]
    pub const fn in_project_root(&self) -> bool {
        matches!(self.upload, Some((_, UploadForm::Document)))
    }
}

/// What a command needs, how it runs and what it produces. Adding a command is adding one of these.
#[derive(Debug, Clone, Copy)]
pub struct CommandSpec {
    /// The request's prompt.
    pub prompt: InputRequirement,
    /// The request's artifacts.
    pub artifacts: InputRequirement,
    /// The primary repository.
    pub repository: InputRequirement,
    /// The repositories beside it.
    pub peers: Peers,
    /// Where it works.
    pub place: WorkLocation,
    /// Whether it starts from the work of an earlier loop.
    pub needs_parent: bool,
    /// Whether a local request is refused while the control plane cannot hear of it.
    pub fail_fast: bool,
    /// What it begins with.
    pub inputs: Inputs,
    /// What runs it.
    pub runner: Runner,
    /// The providers that can.
    pub harnesses: &'static [Harness],
    /// The plugin that the assistant loads.
    pub plugin: Plugin,
    /// The files that it leaves.
    pub outputs: &'static [CommandOutput],
}

impl CommandSpec {
    /// Names of the files without which the completed event carries a warning.
    pub fn required_outputs(&self) -> impl Iterator<Item = &'static CommandOutput> + use<> {
        self.outputs.iter().filter(|output| output.required)
    }

    /// Whether repositories beside the primary one take part.
    #[must_use]
    pub const fn takes_peers(&self) -> bool {
        !matches!(self.peers, Peers::None)
    }
}

const PLAN_JSON: CommandOutput = CommandOutput::required("plan.json", "plan", UploadForm::Plan);
const OPEN_QUESTIONS: CommandOutput =
    CommandOutput::optional("open-questions.md", "openQuestions", UploadForm::Text);
const PLAN_JUDGES: CommandOutput = CommandOutput::optional("judges.json", "judges", UploadForm::Judges);
const CODE_JUDGES: CommandOutput =
    CommandOutput::optional("code-judges.json", "codeJudges", UploadForm::Judges);
const PRD: &[CommandOutput] = &[CommandOutput::required("prd.md", "prd", UploadForm::Document)];

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
        use InputRequirement::{Optional, Required, Unused};
        let written = CommandSpec {
            prompt: Optional,
            artifacts: Optional,
            repository: Required,
            peers: Peers::None,
            place: WorkLocation::Worktree(WorktreeSource::Continued),
            needs_parent: false,
            fail_fast: true,
            inputs: Inputs::Context,
            runner: Runner::Prompt,
            harnesses: &[Harness::Assistant, Harness::Reviewer],
            plugin: Plugin::None,
            outputs: &[],
        };
        let requirements = CommandSpec {
            prompt: Required,
            peers: Peers::ReadOnly,
            place: WorkLocation::Worktree(WorktreeSource::Fresh { prefix: "generate-prd-", stays: false }),
            outputs: PRD,
            ..written
        };
        let judged = CommandSpec {
            artifacts: Required,
            place: WorkLocation::TempDir,
            fail_fast: false,
            plugin: Plugin::Welcome("judges"),
            ..written
        };
        match self {
            Self::Plan => CommandSpec {
                peers: Peers::ReadOnly,
                place: WorkLocation::Worktree(WorktreeSource::Fresh { prefix: "", stays: true }),
                inputs: Inputs::Requirements,
                runner: Runner::Driver(50),
                plugin: Plugin::Needed("code"),
                outputs: const {
                    &[
                        PLAN_JSON,
                        CommandOutput::kept("plan.md"),
                        OPEN_QUESTIONS,
                        PLAN_JUDGES,
                        CommandOutput::kept("implementation-plan.md"),
                    ]
                },
                ..written
            },
            Self::Execute => CommandSpec {
                peers: Peers::ReadWrite,
                needs_parent: true,
                inputs: Inputs::Plan,
                runner: Runner::Driver(150),
                plugin: Plugin::Needed("code"),
                outputs: const {
                    &[
                        CommandOutput::optional("plan.json", "plan", UploadForm::Plan),
                        CommandOutput::required(
                            "execution-result.json",
                            "executionResult",
                            UploadForm::Object,
                        ),
                        CODE_JUDGES,
                    ]
                },
                ..written
            },
            Self::RequestChanges => CommandSpec {
                prompt: Required,
                needs_parent: true,
                inputs: Inputs::Amendment,
                outputs: const { &[PLAN_JSON, CommandOutput::kept("plan.md"), OPEN_QUESTIONS, PLAN_JUDGES] },
                ..written
            },
            Self::GeneratePrd => requirements,
            Self::RequestPrdChanges => CommandSpec {
                artifacts: Required,
                place: WorkLocation::Worktree(WorktreeSource::Fresh {
                    prefix: "request-prd-changes-",
                    stays: false,
                }),
                needs_parent: true,
                ..requirements
            },
            Self::Decompose => CommandSpec {
                repository: Unused,
                inputs: Inputs::Context,
                plugin: Plugin::None,
                outputs: const { &[CommandOutput::required("features.json", "features", UploadForm::Object)] },
                ..judged
            },
            Self::EvaluatePrd => CommandSpec {
                repository: Optional,
                inputs: Inputs::JudgeSubject(JudgeSubject::Prd),
                outputs: const { &[CommandOutput::required("prd-judges.json", "prdJudges", UploadForm::Judges)] },
                ..judged
            },
            Self::EvaluateFeature => CommandSpec {
                repository: Optional,
                inputs: Inputs::JudgeSubject(JudgeSubject::Feature),
                outputs: const {
                    &[CommandOutput::required("feature-judges.json", "featureJudges", UploadForm::Judges)]
                },
                ..judged
            },
            Self::EvaluatePlan => CommandSpec {
                inputs: Inputs::JudgeSubject(JudgeSubject::Plan),
                outputs: const { &[CommandOutput::required("plan-judges.json", "planJudges", UploadForm::Judges)] },
                ..judged
            },
            Self::EvaluateCode => CommandSpec {
                inputs: Inputs::JudgeSubject(JudgeSubject::Code),
                outputs: const { &[CommandOutput::required("code-judges.json", "codeJudges", UploadForm::Judges)] },
                ..judged
            },
            Self::Bootstrap => CommandSpec {
                artifacts: Unused,
                repository: Unused,
                inputs: Inputs::Repositories,
                runner: Runner::EachRepository,
                harnesses: &[Harness::Assistant],
                plugin: Plugin::Needed("bootstrap"),
                outputs: const {
                    &[CommandOutput::optional(BOOTSTRAP_RESULT, "bootstrapResult", UploadForm::Object)]
                },
                ..judged
            },
            Self::CodeReview => CommandSpec {
                place: WorkLocation::Worktree(WorktreeSource::Visited),
                fail_fast: false,
                inputs: Inputs::Review,
                harnesses: &[Harness::Assistant],
                plugin: Plugin::Needed("code-review"),
                outputs: const {
                    &[CommandOutput::required("verdict.json", "verdict", UploadForm::Object), CODE_JUDGES]
                },
                ..written
            },
            Self::Chat | Self::Explore => CommandSpec { prompt: Required, repository: Unused, ..written },
            Self::Manual => CommandSpec { repository: Optional, ..written },
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
    fn description_lists_commands_as_they_travel() {
        let described = serde_json::to_value(LoopCommand::schema()).unwrap();
        let names: Vec<&str> = LoopCommand::ALL.iter().map(|command| command.as_str()).collect();
        assert_eq!(described["enum"], serde_json::json!(names));
    }
}
