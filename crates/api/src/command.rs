//! Loop commands. A [`CommandSpec`] describes each one: its requirements and its outputs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::launch::Harness;
use crate::names::BOOTSTRAP_RESULT;

/// Whether a command accepts an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputRequirement {
    /// A request without it is rejected.
    Required,
    /// Used when the request has it.
    Optional,
    /// Ignored, even when the request has it.
    Unused,
}

/// Location in which a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkLocation {
    /// A git worktree of the repository.
    Worktree(WorktreeSource),
    /// A directory below the system's temporary directory, deleted when the loop finishes.
    TempDir,
}

/// Which worktree a command uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreeSource {
    /// A new worktree on a new branch.
    Fresh {
        /// Prefix of the worktree's key and branch, before the slug of the document.
        prefix: &'static str,
        /// Whether the worktree is kept after the loop finishes.
        is_retained: bool,
    },
    /// The worktree of the document's earlier loops, else a new one.
    Continued,
    /// The worktree of the document's earlier loops, else one with a detached HEAD that is removed after the
    /// loop.
    ExistingOrDetached,
}

impl WorktreeSource {
    /// Returns whether the work in the worktree, or in a later loop that continues in it, is delivered.
    #[must_use]
    pub const fn is_delivered(self) -> bool {
        match self {
            Self::Fresh { is_retained, .. } => is_retained,
            Self::Continued => true,
            Self::ExistingOrDetached => false,
        }
    }
}

/// Access of a command to peer repositories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peers {
    /// The command takes no peers.
    None,
    /// Peers can be read; changes in them are not committed.
    ReadOnly,
    /// Changes in peers are delivered like those in the primary repository.
    ReadWrite,
}

/// Files that are staged before a command starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inputs {
    /// The request, as requirements.
    Requirements,
    /// The plan to carry out, and its requirements.
    Plan,
    /// The plan to change, and the requested changes.
    Amendment,
    /// The request and all documents, as context for a new document.
    Context,
    /// The document or code to evaluate.
    JudgeSubject(JudgeSubject),
    /// Requirements and review instructions.
    Review,
    /// A list of repositories.
    Repositories,
}

/// Subject of an evaluation command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeSubject {
    /// Requirements, a `PRD` document.
    Prd,
    /// A feature document and its requirements.
    Feature,
    /// An implementation plan and its requirements.
    Plan,
    /// The code in the repository.
    Code,
}

impl JudgeSubject {
    /// Returns the name of the category of judges.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prd => "prd",
            Self::Feature => "feature",
            Self::Plan => "plan",
            Self::Code => "code",
        }
    }
}

/// Program that runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// The loop driver, limited to this number of iterations.
    Driver(u32),
    /// The assistant, once, with one prompt.
    Prompt,
    /// The assistant, once per repository.
    EachRepository,
    /// `loopgate judges run`, which starts the assistant once per judge.
    Judges,
}

/// Plugin of the assistant that a command uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plugin {
    /// The command uses no plugin.
    None,
    /// The launch fails without this plugin.
    Required(&'static str),
}

/// A file that a command produces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandOutput {
    /// File name, relative to its directory.
    pub file: &'static str,
    /// Whether the `completed` event gets a warning when the file is missing.
    pub required: bool,
    /// Name and form of the uploaded artifact; `None` for a file that is not uploaded.
    pub upload: Option<(&'static str, UploadForm)>,
}

/// Conversion of an output before its upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadForm {
    /// A plan: its markdown and the whole object.
    Plan,
    /// A JSON object, unchanged.
    Object,
    /// A report of the judges. It is uploaded only if its statuses follow from its scores. No model writes it.
    Judges,
    /// Text of the work directory, unchanged.
    Text,
    /// Text file of the project's root directory, sent as `{"content"}`.
    Document,
}

impl CommandOutput {
    const fn required(file: &'static str, upload: &'static str, form: UploadForm) -> Self {
        Self { file, required: true, upload: Some((upload, form)) }
    }

    const fn optional(file: &'static str, upload: &'static str, form: UploadForm) -> Self {
        Self { file, required: false, upload: Some((upload, form)) }
    }

    /// An output that is not uploaded.
    const fn local(file: &'static str) -> Self {
        Self { file, required: false, upload: None }
    }

    /// Returns whether the file is in the project's root instead of the work directory.
    #[must_use]
    pub const fn in_project_root(&self) -> bool {
        matches!(self.upload, Some((_, UploadForm::Document)))
    }
}

/// Requirements, runner and outputs of a command. A new command needs one of these.
#[derive(Debug, Clone, Copy)]
pub struct CommandSpec {
    /// Whether the request needs a prompt.
    pub prompt: InputRequirement,
    /// Whether the request needs artifacts.
    pub artifacts: InputRequirement,
    /// Whether the request needs a primary repository.
    pub repository: InputRequirement,
    /// Access to the peer repositories.
    pub peers: Peers,
    /// Location in which it runs.
    pub location: WorkLocation,
    /// Whether it continues the work of an earlier loop.
    pub needs_parent: bool,
    /// Whether a local launch fails when the control plane does not acknowledge its `started` event.
    pub fail_fast: bool,
    /// Files staged before it starts.
    pub inputs: Inputs,
    /// Program that runs the command.
    pub runner: Runner,
    /// Providers that can run the command.
    pub harnesses: &'static [Harness],
    /// Plugin that the assistant loads.
    pub plugin: Plugin,
    /// Files that the command produces.
    pub outputs: &'static [CommandOutput],
}

impl CommandSpec {
    /// Iterates over the outputs whose absence adds a warning to the `completed` event.
    pub fn required_outputs(&self) -> impl Iterator<Item = &'static CommandOutput> + use<> {
        self.outputs.iter().filter(|output| output.required)
    }

    /// Returns whether the command accepts peer repositories.
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
        /// Command of a loop; determines inputs, runner and outputs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
        pub enum LoopCommand {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl LoopCommand {
            /// All commands in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the wire name, for example `PLAN`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

commands! {
    /// Writes an implementation plan for the user to approve.
    Plan = "PLAN",
    /// Implements a plan, commits, pushes and opens pull requests.
    Execute = "EXECUTE",
    /// Changes an existing plan as requested.
    RequestChanges = "REQUEST_CHANGES",
    /// Changes existing requirements as requested.
    RequestPrdChanges = "REQUEST_PRD_CHANGES",
    /// Writes requirements from a request.
    GeneratePrd = "GENERATE_PRD",
    /// Splits requirements into features.
    Decompose = "DECOMPOSE",
    /// Lets the judges evaluate requirements.
    EvaluatePrd = "EVALUATE_PRD",
    /// Lets the judges evaluate a feature.
    EvaluateFeature = "EVALUATE_FEATURE",
    /// Lets the judges evaluate a plan.
    EvaluatePlan = "EVALUATE_PLAN",
    /// Lets the judges evaluate code.
    EvaluateCode = "EVALUATE_CODE",
    /// Creates agents for the listed repositories.
    Bootstrap = "BOOTSTRAP",
    /// Reviews the code of a branch.
    CodeReview = "CODE_REVIEW",
    /// Conversation about a document; does not run on a desktop.
    Chat = "CHAT",
    /// Exploration of a repository; does not run on a desktop.
    Explore = "EXPLORE",
    /// Manual work of a user; does not run on a desktop.
    Manual = "MANUAL",
}

impl LoopCommand {
    /// Returns whether a desktop can run the command.
    #[must_use]
    pub const fn runs_on_desktop(self) -> bool {
        !matches!(self, Self::Chat | Self::Explore | Self::Manual)
    }

    /// Returns the lower-case name, used as `subtype` and in file names.
    #[must_use]
    pub fn lower(self) -> String {
        self.as_str().to_ascii_lowercase()
    }

    /// Returns requirements, runner and outputs of the command.
    #[must_use]
    pub const fn spec(self) -> CommandSpec {
        use InputRequirement::{Optional, Required, Unused};
        // Base for commands that work in the repository; the bases below and the commands override members of
        // it.
        let in_repository = CommandSpec {
            prompt: Optional,
            artifacts: Optional,
            repository: Required,
            peers: Peers::None,
            location: WorkLocation::Worktree(WorktreeSource::Continued),
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
            location: WorkLocation::Worktree(WorktreeSource::Fresh {
                prefix: "generate-prd-",
                is_retained: false,
            }),
            outputs: PRD,
            ..in_repository
        };
        // Bases for commands that run in a temporary directory: they change nothing, so they need no worktree and
        // no pre-launch acknowledgement.
        let in_temp_dir = CommandSpec {
            artifacts: Required,
            location: WorkLocation::TempDir,
            fail_fast: false,
            ..in_repository
        };
        let evaluation = CommandSpec { runner: Runner::Judges, ..in_temp_dir };
        match self {
            Self::Plan => CommandSpec {
                peers: Peers::ReadOnly,
                location: WorkLocation::Worktree(WorktreeSource::Fresh { prefix: "", is_retained: true }),
                inputs: Inputs::Requirements,
                // The driver stops after this number of runs of the assistant, so that a loop without
                // progress ends.
                runner: Runner::Driver(50),
                plugin: Plugin::Required("code"),
                outputs: const {
                    &[
                        PLAN_JSON,
                        CommandOutput::local("plan.md"),
                        OPEN_QUESTIONS,
                        PLAN_JUDGES,
                        CommandOutput::local("implementation-plan.md"),
                    ]
                },
                ..in_repository
            },
            Self::Execute => CommandSpec {
                peers: Peers::ReadWrite,
                needs_parent: true,
                inputs: Inputs::Plan,
                runner: Runner::Driver(150),
                plugin: Plugin::Required("code"),
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
                ..in_repository
            },
            Self::RequestChanges => CommandSpec {
                prompt: Required,
                needs_parent: true,
                inputs: Inputs::Amendment,
                outputs: const { &[PLAN_JSON, CommandOutput::local("plan.md"), OPEN_QUESTIONS, PLAN_JUDGES] },
                ..in_repository
            },
            Self::GeneratePrd => requirements,
            Self::RequestPrdChanges => CommandSpec {
                artifacts: Required,
                location: WorkLocation::Worktree(WorktreeSource::Fresh {
                    prefix: "request-prd-changes-",
                    is_retained: false,
                }),
                needs_parent: true,
                ..requirements
            },
            Self::Decompose => CommandSpec {
                repository: Unused,
                inputs: Inputs::Context,
                outputs: const { &[CommandOutput::required("features.json", "features", UploadForm::Object)] },
                ..in_temp_dir
            },
            Self::EvaluatePrd => CommandSpec {
                repository: Optional,
                inputs: Inputs::JudgeSubject(JudgeSubject::Prd),
                outputs: const { &[CommandOutput::required("prd-judges.json", "prdJudges", UploadForm::Judges)] },
                ..evaluation
            },
            Self::EvaluateFeature => CommandSpec {
                repository: Optional,
                inputs: Inputs::JudgeSubject(JudgeSubject::Feature),
                outputs: const {
                    &[CommandOutput::required("feature-judges.json", "featureJudges", UploadForm::Judges)]
                },
                ..evaluation
            },
            Self::EvaluatePlan => CommandSpec {
                inputs: Inputs::JudgeSubject(JudgeSubject::Plan),
                outputs: const { &[CommandOutput::required("plan-judges.json", "planJudges", UploadForm::Judges)] },
                ..evaluation
            },
            Self::EvaluateCode => CommandSpec {
                inputs: Inputs::JudgeSubject(JudgeSubject::Code),
                outputs: const { &[CommandOutput::required("code-judges.json", "codeJudges", UploadForm::Judges)] },
                ..evaluation
            },
            Self::Bootstrap => CommandSpec {
                artifacts: Unused,
                repository: Unused,
                inputs: Inputs::Repositories,
                runner: Runner::EachRepository,
                harnesses: &[Harness::Assistant],
                plugin: Plugin::Required("bootstrap"),
                outputs: const {
                    &[CommandOutput::optional(BOOTSTRAP_RESULT, "bootstrapResult", UploadForm::Object)]
                },
                ..in_temp_dir
            },
            Self::CodeReview => CommandSpec {
                location: WorkLocation::Worktree(WorktreeSource::ExistingOrDetached),
                fail_fast: false,
                inputs: Inputs::Review,
                harnesses: &[Harness::Assistant],
                plugin: Plugin::Required("code-review"),
                outputs: const {
                    &[CommandOutput::required("verdict.json", "verdict", UploadForm::Object), CODE_JUDGES]
                },
                ..in_repository
            },
            Self::Chat | Self::Explore => {
                CommandSpec { prompt: Required, repository: Unused, ..in_repository }
            }
            Self::Manual => CommandSpec { repository: Optional, ..in_repository },
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
    fn schema_lists_commands_by_wire_name() {
        let schema = serde_json::to_value(LoopCommand::schema()).unwrap();
        let names: Vec<&str> = LoopCommand::ALL.iter().map(|command| command.as_str()).collect();
        assert_eq!(schema["enum"], serde_json::json!(names));
    }
}
