//! The environment of the programs that loops run, and the restrictions for checkouts that the user has not
//! trusted.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use loopgate_api::names::env;
use loopgate_home::{Sandbox, TrustStore};
use serde_json::{Value, json};

use crate::git::{Git, REAL_OBJECTS};
use crate::programs::Programs;

// Restricts the assistant to the user's settings: hooks, MCP servers, helpers and variables of the
// repository's own settings are ignored. Its instructions (CLAUDE.md) are still read, because `--add-dir`
// names the directory.
const ARGUMENTS: [&str; 4] = ["--setting-sources", USER_SETTINGS, "--add-dir", "."];
/// The assistant's name for the settings source in the user's home directory.
const USER_SETTINGS: &str = "user";
/// The assistant's setting with patterns of instruction files that it must not read.
pub const EXCLUDED_SETTING: &str = "claudeMdExcludes";
/// Makes the assistant read the CLAUDE.md of directories that are passed with `--add-dir`.
const READ_INSTRUCTIONS: &str = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";

/// Variables that switch on modes for interactive sessions, in which the assistant runs no hooks, loads no plugins, offers
/// few tools, or starts subagents in the background.
pub const INTERACTIVE_MODES: [&str; 5] = [
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CODE_SAFE_MODE",
    "CLAUDE_CODE_PERSONAL_HOOKS_OFF",
    "CLAUDE_AUTO_BACKGROUND_TASKS",
    "CLAUDE_CODE_FORK_SUBAGENT",
];
/// Further variables of the assistant that are removed from its environment.
const REMOVED_VARIABLES: [&str; 5] = [
    // Set by the assistant for its children. Neither a loop nor a chat runs inside another session.
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    // Takes precedence over the option `--effort`.
    "CLAUDE_CODE_EFFORT_LEVEL",
];
/// Makes the assistant run subagents and commands in the foreground. Newer versions run subagents in the background by
/// default; the process then prints a `result` although its work continues, and does not exit until a command in the
/// background ends, such as a development server.
const NO_BACKGROUND_TASKS: &str = "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS";

/// Prepares an environment for the assistant without a user: no outer session, hooks enabled, no background tasks. Git
/// shows it the objects that Loopgate pushes.
pub fn prepare_for_assistant(environment: &mut BTreeMap<OsString, OsString>) {
    for name in REMOVED_VARIABLES.iter().chain(&INTERACTIVE_MODES) {
        environment.remove(OsStr::new(name));
    }
    environment.insert(NO_BACKGROUND_TASKS.into(), "1".into());
    environment.extend(REAL_OBJECTS.map(|(name, value)| (name.into(), value.into())));
}

/// Arguments and variables that keep a program from executing anything that its checkouts contain, and from reading
/// instructions that lead out of them. Empty when the user trusts all of it.
#[derive(Debug, Default)]
pub struct TrustGuard {
    /// Arguments to put before all others of the assistant, whose working directory is the checkout.
    pub args: Vec<String>,
    variables: Vec<(OsString, OsString)>,
    has_untrusted: bool,
}

impl TrustGuard {
    /// Returns whether the user trusts the executable content of all checkouts.
    #[must_use]
    pub const fn is_trusted(&self) -> bool {
        !self.has_untrusted
    }

    /// Returns whether any instructions are left out.
    #[must_use]
    pub fn leaves_out_instructions(&self) -> bool {
        self.variables.iter().any(|(name, _)| name == env::EXCLUDED_INSTRUCTIONS)
    }

    /// Adds the variables that the program passes on to its children.
    pub fn add_to(&self, environment: &mut BTreeMap<OsString, OsString>) {
        environment.extend(self.variables.iter().cloned());
    }
}

/// Builds the environments of child processes.
#[derive(Debug, Clone)]
pub struct ProcessEnvironment {
    programs: Arc<Programs>,
    git: Git,
    sandbox: Arc<Sandbox>,
}

impl ProcessEnvironment {
    /// Creates a builder that uses the programs of this desktop.
    #[must_use]
    pub const fn new(programs: Arc<Programs>, git: Git, sandbox: Arc<Sandbox>) -> Self {
        Self { programs, git, sandbox }
    }

    /// Returns the environment for a loop's programs: the one of every program, prepared for the assistant.
    pub async fn inherited(&self) -> BTreeMap<OsString, OsString> {
        let mut environment = self.programs.environment().await;
        prepare_for_assistant(&mut environment);
        environment
    }

    /// Returns whether the user ever trusted the repository of a checkout, with whatever content. Otherwise the
    /// content, for which git is started, does not matter.
    async fn has_consent(&self, checkout: &Path) -> bool {
        let Ok(repository) = self.git.repository(checkout).await else { return false };
        let store = TrustStore::new(self.sandbox.data_dir());
        let entry = tokio::task::spawn_blocking(move || store.entry(repository.clone_root()));
        entry.await.is_ok_and(|entry| entry.is_some())
    }

    /// Returns the guard for a program that works in these checkouts.
    pub async fn guard(&self, checkouts: &[&Path]) -> TrustGuard {
        // Without checkouts there is nothing that the user could have trusted, so the guard applies.
        let mut trusted = !checkouts.is_empty();
        for checkout in checkouts {
            trusted = trusted && self.has_consent(checkout).await && self.git.trusts(checkout).await;
        }
        let mut guard = TrustGuard { has_untrusted: !trusted, ..TrustGuard::default() };
        if !trusted {
            guard.args = ARGUMENTS.map(str::to_owned).into();
            let variables = self.git.program_environment(checkouts).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "repository cannot be used; git is disabled for the program");
                // Fail closed: with an unusable GIT_DIR, git refuses to run instead of following an unchecked
                // configuration.
                vec![("GIT_DIR".to_owned(), "/dev/null".into())]
            });
            guard.variables = variables.into_iter().map(|(name, value)| (name.into(), value)).collect();
            let of_assistant = [(READ_INSTRUCTIONS, "1"), (env::SETTING_SOURCES, USER_SETTINGS)];
            guard.variables.extend(of_assistant.map(|(name, value)| (name.into(), value.into())));
        }
        let excluded = self.excluded_instructions(checkouts).await;
        if !excluded.is_empty() {
            let excluded = Value::from(excluded);
            guard.args.extend(["--settings".to_owned(), json!({EXCLUDED_SETTING: excluded}).to_string()]);
            guard.variables.push((env::EXCLUDED_INSTRUCTIONS.into(), excluded.to_string().into()));
        }
        guard
    }

    /// Returns the patterns of the instructions of some checkouts that lead out of them. If a checkout cannot be examined,
    /// all of its instructions are excluded.
    async fn excluded_instructions(&self, checkouts: &[&Path]) -> Vec<String> {
        let mut excluded = Vec::new();
        for checkout in checkouts {
            match self.git.instructions(checkout).await {
                Ok(instructions) => {
                    if let Some(report) = instructions.report() {
                        tracing::warn!(checkout = %checkout.display(), report, "instructions left out");
                    }
                    excluded.extend(instructions.exclusions());
                }
                Err(error) => {
                    tracing::warn!(checkout = %checkout.display(), %error, "cannot examine instructions; left out");
                    let is_root = |path: &&Path| path.join(".git").symlink_metadata().is_ok();
                    let root = checkout.ancestors().find(is_root).unwrap_or(checkout);
                    excluded.push(format!("{}/**", root.display()));
                }
            }
        }
        excluded
    }

    /// Returns the environment for a loop's programs in these checkouts, and the guard for the assistant.
    pub async fn guarded(&self, checkouts: &[&Path]) -> (BTreeMap<OsString, OsString>, TrustGuard) {
        let guard = self.guard(checkouts).await;
        let mut environment = self.inherited().await;
        guard.add_to(&mut environment);
        (environment, guard)
    }
}
