//! How programs are started in checkouts that the person has not trusted.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use loopgate_api::names::env;

use crate::runtime::Runtime;

/// Settings of the person alone: hooks, servers, helpers and variables that a repository's own
/// settings name do not count. Its instructions still do, as those of a directory that is added.
const ARGUMENTS: [&str; 4] = ["--setting-sources", PERSON, "--add-dir", "."];
/// Whose settings the assistant follows.
const PERSON: &str = "user";
/// Makes the assistant read the instructions of directories that are added.
const READ_INSTRUCTIONS: &str = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";

/// What a program gets so that nothing runs that its checkouts bring along. Empty when the person
/// trusts all of them.
#[derive(Debug, Default)]
pub(crate) struct TrustGuard {
    /// First arguments of the assistant, which is started in the checkout.
    pub args: &'static [&'static str],
    variables: Vec<(OsString, OsString)>,
}

impl TrustGuard {
    /// Adds what the program's own children are told.
    pub fn add_to(&self, environment: &mut BTreeMap<OsString, OsString>) {
        environment.extend(self.variables.iter().cloned());
    }
}

impl Runtime {
    /// The guard of a program that works in these checkouts.
    pub(crate) async fn guard(&self, checkouts: &[&Path]) -> TrustGuard {
        let mut trusted = !checkouts.is_empty();
        for checkout in checkouts {
            trusted = trusted && self.git.trusts(checkout).await;
        }
        if trusted {
            return TrustGuard::default();
        }
        let told = self.git.program_environment(checkouts).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "git is kept from a repository that is not used");
            vec![("GIT_DIR".to_owned(), "/dev/null".to_owned())]
        });
        let of_assistant = [(READ_INSTRUCTIONS, "1"), (env::SETTING_SOURCES, PERSON)];
        let owned = |(name, value): (&str, &str)| (OsStr::new(name).to_owned(), OsStr::new(value).to_owned());
        let told = told.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        TrustGuard { args: &ARGUMENTS, variables: told.chain(of_assistant).map(owned).collect() }
    }

    /// The environment of a loop's programs in these checkouts, and the guard of the assistant there.
    pub(crate) async fn guarded_environment(
        &self,
        checkouts: &[&Path],
    ) -> (BTreeMap<OsString, OsString>, TrustGuard) {
        let guard = self.guard(checkouts).await;
        let mut environment = self.child_environment().await;
        guard.add_to(&mut environment);
        (environment, guard)
    }
}
