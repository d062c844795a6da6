//! The configuration as git prints it in a repository, and the files outside of the repository that determine it:
//! configuration, excludes and attributes of the user and the system.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{GitConfigError, Repository, RepositoryError};
use thiserror::Error;

use super::config::{ConfigVariable, parse_variable};
use super::{Git, GitError};

/// Prints scope, origin and variable of each entry, separated by NUL. Executes nothing that the configuration names.
const LIST: [&str; 5] = ["config", "--list", "--show-scope", "--show-origin", "-z"];
/// Conditions of includes that depend only on the location of the repository.
const LOCATION_CONDITIONS: [&str; 2] = ["includeif.gitdir:", "includeif.gitdir/i:"];
/// Directory of the system's configuration of a git with the prefix `/usr`.
const SYSTEM_DIRECTORY: &str = "/etc";

/// The configuration that applies in a repository. Equal listings are the result of equal files, as far as git reads
/// them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigListing {
    printed: Vec<u8>,
    /// The git program that printed it.
    pub(super) program: PathBuf,
    /// The environment in which it was printed.
    pub(super) environment: BTreeMap<OsString, OsString>,
    /// Root of the working tree.
    root: PathBuf,
    /// The configuration files of the repository itself.
    own: [PathBuf; 2],
}

/// A configuration that may change without a change of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct UntraceableConfig(&'static str);

impl UntraceableConfig {
    /// Returns the reason.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        self.0
    }
}

impl Git {
    /// Lists the configuration of a repository.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when git cannot read the configuration.
    pub async fn config_listing(&self, repository: &Arc<Repository>) -> Result<ConfigListing, GitError> {
        let (program, environment) = (self.executable().await, self.environment().await);
        let printed = self.print_settings(repository, &LIST).await?;
        let own = [repository.common_dir.join("config"), repository.git_dir.join("config.worktree")];
        Ok(ConfigListing { printed, program, environment, root: repository.root.clone(), own })
    }
}

impl ConfigListing {
    /// Returns the variables with their scopes.
    ///
    /// # Errors
    /// Fails when the repository has a key that is not UTF-8. Such a key of the user's own configuration is left out: no
    /// repository can have the same.
    pub(super) fn variables(&self) -> Result<Vec<ConfigVariable>, GitError> {
        let mut variables = Vec::new();
        for (scope, _, variable) in self.entries() {
            let parsed = parse_variable(scope, variable);
            variables.extend(parsed.map_err(|error: GitConfigError| {
                GitError::Repository(RepositoryError::Refused(format!("its configuration {error}")))
            })?);
        }
        Ok(variables)
    }

    /// Returns the files outside the repository that determine what git does in it, also those that do not exist: creating
    /// one changes git's result. Contains the git program itself.
    ///
    /// # Errors
    /// Fails when the configuration depends on more than the content of files.
    pub fn external_files(&self) -> Result<Vec<PathBuf>, UntraceableConfig> {
        let home = self.variable("HOME").map(PathBuf::from);
        let mut files = self.known_files();
        for (_, origin, entry) in self.entries() {
            let origin = origin.strip_prefix(b"file:").map(|path| self.root.join(OsStr::from_bytes(path)));
            let (key, value) = split_entry(entry);
            let key = String::from_utf8_lossy(key);
            let is_include =
                key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path"));
            if is_include {
                if key != "include.path"
                    && !LOCATION_CONDITIONS.iter().any(|condition| key.starts_with(condition))
                {
                    return Err(UntraceableConfig("conditional include that may change without an event"));
                }
                let from = origin.as_deref().and_then(Path::parent);
                files.push(resolve(value, home.as_deref(), from)?);
            } else if key == "core.excludesfile" || key == "core.attributesfile" {
                files.push(resolve(value, home.as_deref(), None)?);
            }
            files.extend(origin.filter(|origin| !self.own.contains(origin)));
        }
        files.retain(|file| file != Path::new("/dev/null"));
        files.sort_unstable();
        files.dedup();
        Ok(files)
    }

    /// Returns the files that git reads in known places. Git prints these places since version 2.42 (`git var -l`), but
    /// long-term releases of Linux distributions have older versions. The directory of the system's files depends on the
    /// prefix with which git was built; its program is usually below the same prefix.
    fn known_files(&self) -> Vec<PathBuf> {
        let home = self.variable("HOME").map(PathBuf::from);
        let user = self.variable("XDG_CONFIG_HOME").map(PathBuf::from);
        let user = user.or_else(|| Some(home.as_ref()?.join(".config"))).map(|user| user.join("git"));
        let mut files: Vec<PathBuf> = vec![self.program.clone()];
        files.extend(
            ["config", "ignore", "attributes"].iter().filter_map(|name| Some(user.as_ref()?.join(name))),
        );
        files.extend(home.map(|home| home.join(".gitconfig")));
        for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
            files.extend(self.variable(name).map(|path| self.root.join(path)));
        }
        let target = self.program.canonicalize().ok();
        let prefixes = [Some(&self.program), target.as_ref()].into_iter().flatten();
        let prefixes = prefixes.filter_map(|program| Some(program.parent()?.parent()?.join("etc")));
        for directory in prefixes.chain([SYSTEM_DIRECTORY.into()]) {
            files.extend(["gitconfig", "gitattributes"].map(|name| directory.join(name)));
        }
        files
    }

    fn variable(&self, name: &str) -> Option<&OsString> {
        self.environment.get(OsStr::new(name)).filter(|value| !value.is_empty())
    }

    /// Returns scope, origin and variable of each entry.
    fn entries(&self) -> impl Iterator<Item = (&[u8], &[u8], &[u8])> {
        let mut fields = self.printed.split(|byte| *byte == 0);
        std::iter::from_fn(move || Some((fields.next()?, fields.next()?, fields.next()?)))
    }
}

/// Splits an entry into key and value.
fn split_entry(entry: &[u8]) -> (&[u8], &[u8]) {
    let end = entry.iter().position(|byte| *byte == b'\n').unwrap_or(entry.len());
    (&entry[..end], entry.get(end + 1..).unwrap_or_default())
}

/// Resolves a path as git does in its configuration.
fn resolve(
    value: &[u8],
    home: Option<&Path>,
    relative_to: Option<&Path>,
) -> Result<PathBuf, UntraceableConfig> {
    let path = Path::new(OsStr::from_bytes(value));
    let ambiguous = UntraceableConfig("ambiguous path in the configuration");
    match (value, home, relative_to) {
        ([b'/', ..], ..) => Ok(path.to_owned()),
        ([b'~', b'/', rest @ ..], Some(home), _) => Ok(home.join(OsStr::from_bytes(rest))),
        ([b'~' | b'%' | b':', ..] | [], ..) => Err(ambiguous),
        (_, _, Some(from)) => Ok(from.join(path)),
        _ => Err(ambiguous),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(printed: &[u8]) -> ConfigListing {
        ConfigListing {
            printed: printed.to_vec(),
            program: "/opt/git/bin/git".into(),
            environment: BTreeMap::from([("HOME".into(), "/home/ann".into())]),
            root: "/src/shop".into(),
            own: ["/src/shop/.git/config".into(), "/src/shop/.git/config.worktree".into()],
        }
    }

    #[test]
    fn configuration_files_are_listed_even_if_missing() {
        let config = b"global\0file:/home/ann/.gitconfig\0include.path\nmore\0\
            global\0file:/home/ann/.gitconfig\0includeif.gitdir:~/src/.path\n~/src.config\0\
            local\0file:.git/config\0core.excludesfile\n/etc/ignore\0local\0file:.git/config\0core.bare\0\
            command\0command line:\0user.name\nann\0";
        let expected = [
            "/etc/gitattributes",
            "/etc/gitconfig",
            "/etc/ignore",
            "/home/ann/.config/git/attributes",
            "/home/ann/.config/git/config",
            "/home/ann/.config/git/ignore",
            "/home/ann/.gitconfig",
            "/home/ann/more",
            "/home/ann/src.config",
            "/opt/git/bin/git",
            "/opt/git/etc/gitattributes",
            "/opt/git/etc/gitconfig",
        ];
        assert_eq!(listing(config).external_files().unwrap(), expected.map(PathBuf::from));
    }

    #[test]
    fn configuration_files_named_by_the_environment_are_listed() {
        let mut listing = listing(b"");
        listing.environment = BTreeMap::from([
            ("XDG_CONFIG_HOME".into(), "/xdg".into()),
            ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
            ("GIT_CONFIG_SYSTEM".into(), "/system".into()),
        ]);
        let files = listing.external_files().unwrap();
        let has = |path: &str| files.contains(&PathBuf::from(path));
        assert!(has("/xdg/git/config") && has("/system") && !has("/dev/null"), "{files:?}");
    }

    #[test]
    fn ambiguous_paths_and_conditions_are_rejected() {
        for entry in [
            "includeif.onbranch:main.path\nx",
            "includeif.hasconfig:remote.*.url:x.path\nx",
            "core.excludesfile\nrelative",
            "core.excludesfile\n~bob/ignore",
            "core.attributesfile\n%(prefix)/x",
            "include.path",
        ] {
            let config = format!("global\0file:/home/ann/.gitconfig\0{entry}\0");
            assert!(listing(config.as_bytes()).external_files().is_err(), "{entry}");
        }
    }
}
