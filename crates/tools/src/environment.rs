//! The environment of the programs that loops run, and how they are started in checkouts that the person
//! has not trusted.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use loopgate_api::names::env;

use crate::git::Git;
use crate::programs::Programs;

/// Settings of the person alone: hooks, servers, helpers and variables that a repository's own
/// settings name do not count. Its instructions still do, as those of a directory that is added.
const ARGUMENTS: [&str; 4] = ["--setting-sources", PERSON, "--add-dir", "."];
/// Whose settings the assistant follows.
const PERSON: &str = "user";
/// Makes the assistant read the instructions of directories that are added.
const READ_INSTRUCTIONS: &str = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";

/// Variables that tell an assistant that it runs inside another one; a loop never does.
const OUTER_SESSION: [&str; 4] =
    ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID"];

/// Arguments and variables by which a program runs nothing that its checkouts bring along. Empty when the
/// person trusts all of them.
#[derive(Debug, Default)]
pub struct TrustGuard {
    /// First arguments of the assistant, which is started in the checkout.
    pub args: &'static [&'static str],
    variables: Vec<(OsString, OsString)>,
}

impl TrustGuard {
    /// Whether the person trusts the checkouts.
    #[must_use]
    pub const fn is_trusted(&self) -> bool {
        self.args.is_empty()
    }

    /// Adds the variables that the program's own children need.
    pub fn add_to(&self, environment: &mut BTreeMap<OsString, OsString>) {
        environment.extend(self.variables.iter().cloned());
    }
}

/// Makes the environments of child processes.
#[derive(Debug, Clone)]
pub struct ProcessEnvironment {
    programs: Arc<Programs>,
    git: Git,
}

impl ProcessEnvironment {
    /// Environments of the programs of this desktop.
    #[must_use]
    pub const fn new(programs: Arc<Programs>, git: Git) -> Self {
        Self { programs, git }
    }

    /// The environment of a loop's programs: that of every program, outside of any session.
    pub async fn inherited(&self) -> BTreeMap<OsString, OsString> {
        let mut environment = self.programs.environment().await;
        for name in OUTER_SESSION {
            environment.remove(&OsString::from(name));
        }
        environment
    }

    /// The guard of a program that works in these checkouts.
    pub async fn guard(&self, checkouts: &[&Path]) -> TrustGuard {
        let mut trusted = !checkouts.is_empty();
        for checkout in checkouts {
            trusted = trusted && self.git.trusts(checkout).await;
        }
        if trusted {
            return TrustGuard::default();
        }
        let variables = self.git.program_environment(checkouts).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "git is kept from a repository that is not used");
            vec![("GIT_DIR".to_owned(), "/dev/null".to_owned())]
        });
        let of_assistant = [(READ_INSTRUCTIONS, "1"), (env::SETTING_SOURCES, PERSON)];
        let owned = |(name, value): (&str, &str)| (OsStr::new(name).to_owned(), OsStr::new(value).to_owned());
        let variables = variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        TrustGuard { args: &ARGUMENTS, variables: variables.chain(of_assistant).map(owned).collect() }
    }

    /// The environment of a loop's programs in these checkouts, and the guard of the assistant there.
    pub async fn guarded(&self, checkouts: &[&Path]) -> (BTreeMap<OsString, OsString>, TrustGuard) {
        let guard = self.guard(checkouts).await;
        let mut environment = self.inherited().await;
        guard.add_to(&mut environment);
        (environment, guard)
    }
}
