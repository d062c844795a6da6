//! The PATH of the user's login shell.
//!
//! A program started from a desktop or by a service manager sees a poorer PATH than the user's
//! terminal; version managers extend it in the shell's start-up files. The shell is asked once and
//! the answer kept. Never fails: what the shell does not tell is guessed.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use loopgate_home::API_KEY_VARIABLES;

use crate::process::{Command, Limits};

/// How long the shell may take to start.
const SHELL_TIME: Duration = Duration::from_secs(3);
/// What it gets to end when it took longer.
const SHELL_GRACE: Duration = Duration::from_millis(200);
/// What a shell may print while it starts, in bytes.
const SHELL_OUTPUT: usize = 1024 * 1024;
/// Shell of a user who names none.
const DEFAULT_SHELL: &str = "/bin/zsh";
/// Added to the own PATH when the shell does not answer.
const USUAL_PLACES: &str = "/opt/homebrew/bin:/usr/local/bin";
/// Around the answer, so that it is found between whatever start-up files print.
const BEGIN: &str = "__LOOPGATE_PATH_BEGIN__";
const END: &str = "__LOOPGATE_PATH_END__";
/// These keep version managers from setting up the shell.
const DISTURBING: [&str; 2] = ["npm_config_prefix", "NPM_CONFIG_PREFIX"];

type SharedPath = Shared<BoxFuture<'static, Arc<str>>>;

/// The login shell's PATH, asked for at most once until it is forgotten.
pub struct LoginPath {
    shell: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    /// The one resolution that every caller awaits; the lock is held only to copy it.
    resolution: Mutex<Option<SharedPath>>,
}

impl std::fmt::Debug for LoginPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginPath").field("shell", &self.shell).finish_non_exhaustive()
    }
}

impl LoginPath {
    /// Asks the shell that this process's environment names.
    #[must_use]
    pub fn of_this_user() -> Self {
        let environment: BTreeMap<_, _> = std::env::vars_os().collect();
        let shell = environment.get(OsStr::new("SHELL")).filter(|shell| !shell.is_empty());
        let shell = shell.map_or_else(|| DEFAULT_SHELL.into(), PathBuf::from);
        Self::new(shell, environment)
    }

    /// Asks this shell, started in this environment.
    #[must_use]
    pub fn new(shell: PathBuf, mut environment: BTreeMap<OsString, OsString>) -> Self {
        for name in DISTURBING.into_iter().chain(API_KEY_VARIABLES) {
            environment.remove(OsStr::new(name));
        }
        Self { shell, environment, resolution: Mutex::new(None) }
    }

    /// The directories in which programs are searched, joined by colons.
    pub async fn resolve(&self) -> Arc<str> {
        let resolution = {
            let mut kept = self.resolution.lock().unwrap_or_else(PoisonError::into_inner);
            kept.get_or_insert_with(|| ask(self.shell.clone(), self.environment.clone()).boxed().shared())
                .clone()
        };
        resolution.await
    }

    /// Asks again at the next need.
    pub fn forget(&self) {
        *self.resolution.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The environment for programs: the own one with the login shell's PATH, without what is for
    /// this process alone.
    pub async fn environment(&self) -> BTreeMap<OsString, OsString> {
        let path = self.resolve().await;
        let mut environment = self.environment.clone();
        environment.insert("PATH".into(), OsStr::from_bytes(path.as_bytes()).to_owned());
        environment
    }
}

async fn ask(shell: PathBuf, environment: BTreeMap<OsString, OsString>) -> Arc<str> {
    let own = environment.get(OsStr::new("PATH")).map(|path| path.to_string_lossy().into_owned());
    let question = format!(r#"printf '%s%s%s\n' '{BEGIN}' "$PATH" '{END}'"#);
    let command = Command::new(shell)
        .args([OsStr::new("-ilc"), OsStr::new(&question)])
        .environment(environment)
        .session();
    let mut limits = Limits::time(SHELL_TIME).output(SHELL_OUTPUT);
    limits.grace = SHELL_GRACE;
    let told = match command.run(limits).await {
        Ok(output) => parse(&output.stdout_text(), output.status.success()),
        Err(error) => {
            tracing::debug!(%error, "the login shell did not start");
            None
        }
    };
    let path = told.unwrap_or_else(|| match own {
        Some(own) if !own.is_empty() => format!("{own}:{USUAL_PLACES}"),
        _ => USUAL_PLACES.to_owned(),
    });
    expand(&path).into()
}

/// The text between the markers, whatever the shell's exit code; of a shell that ended well and
/// printed no markers, the last line that is not empty.
fn parse(printed: &str, success: bool) -> Option<String> {
    let between = printed.rfind(BEGIN).and_then(|at| printed[at + BEGIN.len()..].split_once(END));
    let found = match between {
        Some((path, _)) => Some(path),
        None if success => printed.lines().rfind(|line| !line.trim().is_empty()),
        None => None,
    };
    found.map(str::trim).filter(|path| !path.is_empty()).map(str::to_owned)
}

fn expand(path: &str) -> String {
    let segments: Vec<String> = path
        .split(':')
        .map(|segment| loopgate_home::expand_home(segment).to_string_lossy().into_owned())
        .collect();
    segments.join(":")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    fn shell(directory: &Path, script: &str) -> PathBuf {
        let path = directory.join("shell");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn login_path(directory: &Path, script: &str) -> LoginPath {
        let environment = [
            ("PATH", "/usr/bin:/bin"),
            ("npm_config_prefix", "/x"),
            ("LOOPGATE_API_KEY", "lgk_live_secret"),
            ("KEPT", "yes"),
        ];
        let environment = environment.map(|(name, value)| (name.into(), value.into()));
        LoginPath::new(shell(directory, script), environment.into())
    }

    #[tokio::test]
    async fn answer_is_found_between_chatter_and_asked_for_once() {
        let directory = tempfile::tempdir().unwrap();
        let count = directory.path().join("count");
        let script = format!(
            r#"[ "$1" = -ilc ] || exit 9
echo x >> '{}'; echo "Welcome! ${{npm_config_prefix:-none}}"; PATH="/opt/a:~/b:~:~other/c:/d~/e:/usr/bin:/bin"
eval "$2"; echo bye; exit 1"#,
            count.display()
        );
        let path = login_path(directory.path(), &script);
        let home = std::env::var("HOME").unwrap();
        let (one, two) = tokio::join!(path.resolve(), path.resolve());
        assert_eq!(&*one, format!("/opt/a:{home}/b:{home}:~other/c:/d~/e:/usr/bin:/bin"));
        assert_eq!(one, two);
        assert_eq!(std::fs::read_to_string(&count).unwrap(), "x\n");
        path.forget();
        path.resolve().await;
        assert_eq!(std::fs::read_to_string(&count).unwrap(), "x\nx\n");
    }

    #[tokio::test]
    async fn environment_has_no_secrets_and_no_version_manager_variables() {
        let directory = tempfile::tempdir().unwrap();
        let script = r#"echo "${npm_config_prefix:-/clean}:/bin""#;
        let environment = login_path(directory.path(), script).environment().await;
        assert_eq!(environment.get(OsStr::new("PATH")).unwrap(), "/clean:/bin");
        assert_eq!(environment.get(OsStr::new("KEPT")).unwrap(), "yes");
        for gone in ["npm_config_prefix", "LOOPGATE_API_KEY"] {
            assert!(!environment.contains_key(OsStr::new(gone)), "{gone}");
        }
    }

    #[tokio::test]
    async fn failing_shell_falls_back_to_the_default_path() {
        let directory = tempfile::tempdir().unwrap();
        for script in ["exit 3", "echo garbage; exit 1", ""] {
            let path = login_path(directory.path(), script).resolve().await;
            assert_eq!(&*path, "/usr/bin:/bin:/opt/homebrew/bin:/usr/local/bin", "{script}");
        }
        let missing = LoginPath::new("/no/such/shell".into(), BTreeMap::new()).resolve().await;
        assert_eq!(&*missing, USUAL_PLACES);
    }

    #[tokio::test]
    async fn hanging_shell_times_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = login_path(directory.path(), "trap '' TERM; while :; do sleep 1; done");
        let path = tokio::time::timeout(Duration::from_secs(15), path.resolve()).await.unwrap();
        assert!(path.ends_with(USUAL_PLACES));
    }

    proptest! {
        #[test]
        fn markers_are_found_in_any_surroundings(before in "[^_]*", path in "[ -^`-~]{1,60}", after in "[^_]*") {
            let printed = format!("{before}{BEGIN}{path}{END}{after}");
            let wanted = Some(path.trim().to_owned()).filter(|path| !path.is_empty());
            prop_assert_eq!(parse(&printed, false), wanted);
        }

        #[test]
        fn parsing_takes_whatever_a_shell_prints(printed in "(?s).*", success: bool) {
            if let Some(path) = parse(&printed, success) {
                prop_assert!(!path.trim().is_empty());
            }
        }
    }
}
