//! The PATH of the user's login shell.
//!
//! A program started from a desktop or by a service manager inherits a shorter PATH than the user's terminal,
//! because version managers extend it in the shell's start-up files. The shell is run once and the result is
//! cached. Never fails: when the shell does not report a PATH, the inherited one is extended with common
//! directories.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use loopgate_api::proxy::{BYPASS_VARIABLES, PROXY_VARIABLES, bypass_with_loopback};
use loopgate_home::API_KEY_VARIABLES;

use crate::process::{Command, Limits};

/// Timeout of the shell. Start-up files with version managers need about a second.
const SHELL_TIMEOUT: Duration = Duration::from_secs(3);
/// Grace period between SIGTERM and SIGKILL after the timeout.
const SHELL_GRACE: Duration = Duration::from_millis(200);
/// Cap on each output stream of the shell, in bytes. Start-up files may print anything.
const SHELL_OUTPUT_CAP: usize = 1024 * 1024;
/// Used when SHELL is not set: the default shell of macOS.
const DEFAULT_SHELL: &str = "/bin/zsh";
/// Appended to the inherited PATH when the shell does not report one: where Homebrew installs programs.
const COMMON_DIRECTORIES: &str = "/opt/homebrew/bin:/usr/local/bin";
/// Delimit the PATH in the shell's output, because start-up files print to standard output as well.
const BEGIN: &str = "__LOOPGATE_PATH_BEGIN__";
const END: &str = "__LOOPGATE_PATH_END__";
/// Removed from the shell's environment: nvm refuses to set up a shell in which they are set.
const CONFLICTING_VARIABLES: [&str; 2] = ["npm_config_prefix", "NPM_CONFIG_PREFIX"];

type SharedPath = Shared<BoxFuture<'static, Arc<str>>>;

/// The login shell's PATH, resolved at most once until [`LoginPath::clear_cache`].
pub struct LoginPath {
    shell: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    /// The resolution that all callers share. The lock is held only to clone the future.
    resolution: Mutex<Option<SharedPath>>,
}

impl std::fmt::Debug for LoginPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginPath").field("shell", &self.shell).finish_non_exhaustive()
    }
}

impl LoginPath {
    /// Uses the shell and the environment of this process.
    #[must_use]
    pub fn from_environment() -> Self {
        let environment: BTreeMap<_, _> = std::env::vars_os().collect();
        let shell = environment.get(OsStr::new("SHELL")).filter(|shell| !shell.is_empty());
        let shell = shell.map_or_else(|| DEFAULT_SHELL.into(), PathBuf::from);
        Self::new(shell, environment)
    }

    /// Uses this shell, started in this environment.
    #[must_use]
    pub fn new(shell: PathBuf, mut environment: BTreeMap<OsString, OsString>) -> Self {
        for name in CONFLICTING_VARIABLES.into_iter().chain(API_KEY_VARIABLES) {
            environment.remove(OsStr::new(name));
        }
        exclude_loopback_from_proxies(&mut environment);
        Self { shell, environment, resolution: Mutex::new(None) }
    }

    /// Returns the directories in which programs are searched, joined by colons.
    pub async fn resolve(&self) -> Arc<str> {
        let resolution = {
            let mut cached = self.resolution.lock().unwrap_or_else(PoisonError::into_inner);
            cached
                .get_or_insert_with(|| {
                    query_shell(self.shell.clone(), self.environment.clone()).boxed().shared()
                })
                .clone()
        };
        resolution.await
    }

    /// Discards the cached PATH, so that the next call runs the shell again.
    pub fn clear_cache(&self) {
        *self.resolution.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the environment for programs: the inherited one with the login shell's PATH, without
    /// Loopgate's own API keys. If it names a proxy, loopback addresses are excluded from it.
    pub async fn environment(&self) -> BTreeMap<OsString, OsString> {
        let path = self.resolve().await;
        let mut environment = self.environment.clone();
        environment.insert("PATH".into(), OsStr::from_bytes(path.as_bytes()).to_owned());
        environment
    }
}

/// Excludes loopback addresses from the proxies of an environment. Programs connect to Loopgate and to servers of
/// this machine, and a proxy must not receive the secrets of these requests.
fn exclude_loopback_from_proxies(environment: &mut BTreeMap<OsString, OsString>) {
    let value = |name: &str| environment.get(OsStr::new(name)).filter(|value| !value.is_empty());
    if !PROXY_VARIABLES.iter().any(|name| value(name).is_some()) {
        return;
    }
    // A program may read either variable, so both exist afterwards.
    let lists = BYPASS_VARIABLES.map(|name| value(name).map(|list| list.to_string_lossy().into_owned()));
    let other = lists.iter().flatten().next().cloned().unwrap_or_default();
    for (name, list) in BYPASS_VARIABLES.iter().zip(lists) {
        environment.insert(name.into(), bypass_with_loopback(&list.unwrap_or_else(|| other.clone())).into());
    }
}

async fn query_shell(shell: PathBuf, environment: BTreeMap<OsString, OsString>) -> Arc<str> {
    let inherited = environment.get(OsStr::new("PATH")).map(|path| path.to_string_lossy().into_owned());
    // Interactive and login: version managers are set up in either kind of start-up file.
    let script = format!(r#"printf '%s%s%s\n' '{BEGIN}' "$PATH" '{END}'"#);
    let command = Command::new(shell)
        .args([OsStr::new("-ilc"), OsStr::new(&script)])
        .environment(environment)
        .session();
    let mut limits = Limits::time(SHELL_TIMEOUT).output(SHELL_OUTPUT_CAP);
    limits.grace = SHELL_GRACE;
    let reported = match command.run(limits).await {
        Ok(output) => parse(&output.stdout_text(), output.status.success()),
        Err(error) => {
            tracing::debug!(%error, "login shell did not start");
            None
        }
    };
    let path = reported.unwrap_or_else(|| match inherited {
        Some(inherited) if !inherited.is_empty() => format!("{inherited}:{COMMON_DIRECTORIES}"),
        _ => COMMON_DIRECTORIES.to_owned(),
    });
    expand(&path).into()
}

/// Returns the text between the markers, whatever the exit code: start-up files may fail after the PATH was
/// printed. Without markers, returns the last non-empty line if the shell succeeded.
fn parse(printed: &str, success: bool) -> Option<String> {
    let between = printed.rfind(BEGIN).and_then(|at| printed[at + BEGIN.len()..].split_once(END));
    let path_text = match between {
        Some((path, _)) => Some(path),
        None if success => printed.lines().rfind(|line| !line.trim().is_empty()),
        None => None,
    };
    path_text.map(str::trim).filter(|path| !path.is_empty()).map(str::to_owned)
}

/// Expands `~`, and removes relative directories, of which the empty one is the working directory: programs that git
/// starts, such as ssh, would be searched for in the checkout that it works in.
fn expand(path: &str) -> String {
    let segments: Vec<String> = path
        .split(':')
        .map(loopgate_home::expand_home)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.to_string_lossy().into_owned())
        .collect();
    if segments.is_empty() { COMMON_DIRECTORIES.to_owned() } else { segments.join(":") }
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
    async fn path_is_parsed_between_other_output_and_cached() {
        let directory = tempfile::tempdir().unwrap();
        let count = directory.path().join("count");
        // `$1` and `$2` are the arguments of the shell: the script checks the flags and evaluates the
        // command.
        let script = format!(
            r#"[ "$1" = -ilc ] || exit 9
echo x >> '{}'; echo "Welcome! ${{npm_config_prefix:-none}}"; PATH="/opt/a:~/b:~:~other/c:/d~/e::./node_modules/.bin:/usr/bin:/bin:"
eval "$2"; echo bye; exit 1"#,
            count.display()
        );
        let path = login_path(directory.path(), &script);
        let home = std::env::var("HOME").unwrap();
        let (one, two) = tokio::join!(path.resolve(), path.resolve());
        assert_eq!(&*one, format!("/opt/a:{home}/b:{home}:/d~/e:/usr/bin:/bin"));
        assert_eq!(one, two);
        assert_eq!(std::fs::read_to_string(&count).unwrap(), "x\n");
        path.clear_cache();
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
        for name in ["npm_config_prefix", "LOOPGATE_API_KEY"] {
            assert!(!environment.contains_key(OsStr::new(name)), "{name}");
        }
    }

    #[tokio::test]
    async fn loopback_is_excluded_from_a_proxy_of_the_environment() {
        let variables = |environment: &[(&str, &str)]| {
            let mut all: BTreeMap<OsString, OsString> =
                environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
            exclude_loopback_from_proxies(&mut all);
            BYPASS_VARIABLES
                .map(|name| all.get(OsStr::new(name)).map(|list| list.to_str().unwrap().to_owned()))
        };
        assert_eq!(variables(&[("http_proxy", "")]), [None, None]);
        let loopback = "localhost,127.0.0.1,::1,127.0.0.0/8";
        for proxy in PROXY_VARIABLES {
            let [upper, lower] = variables(&[(proxy, "http://proxy.test:3128")]);
            assert_eq!((upper.as_deref(), lower.as_deref()), (Some(loopback), Some(loopback)), "{proxy}");
        }
        let [upper, lower] =
            variables(&[("HTTPS_PROXY", "http://proxy.test:3128"), ("no_proxy", "corp.test")]);
        assert_eq!(upper.unwrap(), format!("corp.test,{loopback}"));
        assert_eq!(lower.unwrap(), format!("corp.test,{loopback}"));
    }

    #[tokio::test]
    async fn failing_shell_falls_back_to_the_default_path() {
        let directory = tempfile::tempdir().unwrap();
        for script in ["exit 3", "echo garbage; exit 1", ""] {
            let path = login_path(directory.path(), script).resolve().await;
            assert_eq!(&*path, "/usr/bin:/bin:/opt/homebrew/bin:/usr/local/bin", "{script}");
        }
        let missing = LoginPath::new("/no/such/shell".into(), BTreeMap::new()).resolve().await;
        assert_eq!(&*missing, COMMON_DIRECTORIES);
    }

    #[tokio::test]
    async fn hanging_shell_times_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = login_path(directory.path(), "trap '' TERM; while :; do sleep 1; done");
        let path = tokio::time::timeout(Duration::from_secs(15), path.resolve()).await.unwrap();
        assert!(path.ends_with(COMMON_DIRECTORIES));
    }

    #[test]
    fn path_without_absolute_directories_is_replaced() {
        assert_eq!(expand(".:bin::"), COMMON_DIRECTORIES);
    }

    proptest! {
        #[test]
        fn markers_are_found_in_any_surroundings(before in "[^_]*", path in "[ -^`-~]{1,60}", after in "[^_]*") {
            let printed = format!("{before}{BEGIN}{path}{END}{after}");
            let expected = Some(path.trim().to_owned()).filter(|path| !path.is_empty());
            prop_assert_eq!(parse(&printed, false), expected);
        }

        #[test]
        fn arbitrary_output_does_not_panic(printed in "(?s).*", success: bool) {
            if let Some(path) = parse(&printed, success) {
                prop_assert!(!path.trim().is_empty());
            }
        }
    }
}
