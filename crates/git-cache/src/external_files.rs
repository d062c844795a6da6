//! The files outside a repository that git reads: configuration, excludes and attributes of the user and
//! of the system.
//!
//! These few files are not watched. They are compared by their metadata, as git compares files. One that
//! changed a moment ago is not relied on, because its next change could bear the same time.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::WatchError;

/// Resolution of a file's times, on file systems that store nanoseconds and on those that do not.
const FINE_GRAIN: Duration = Duration::from_millis(100);
const COARSE_GRAIN: Duration = Duration::from_secs(2);
/// Conditions of an inclusion that hold or not for as long as a repository stays where it is.
const STEADY_CONDITIONS: [&str; 2] = ["includeif.gitdir:", "includeif.gitdir/i:"];
/// Lines of `git var -l` that name files.
const FILE_VARIABLES: [&str; 4] =
    ["GIT_CONFIG_SYSTEM=", "GIT_CONFIG_GLOBAL=", "GIT_ATTR_SYSTEM=", "GIT_ATTR_GLOBAL="];

/// Files with the metadata that they had.
#[derive(Debug)]
pub(crate) struct ExternalFiles(Vec<(PathBuf, Option<FileVersion>)>);

/// Metadata that changes with a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileVersion {
    device_and_inode: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl ExternalFiles {
    /// Reads the metadata of these files. `None` when one changed so recently that its next change may not show.
    pub(crate) fn read(files: impl IntoIterator<Item = PathBuf>) -> io::Result<Option<Self>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut versions = Vec::new();
        for path in files {
            let version = FileVersion::of(&path)?;
            if version.is_some_and(|version| version.is_recent(now)) {
                return Ok(None);
            }
            versions.push((path, version));
        }
        Ok(Some(Self(versions)))
    }

    /// Whether all of them have the metadata that they had.
    pub(crate) fn are_unchanged(&self) -> bool {
        self.0.iter().all(|(path, before)| FileVersion::of(path).is_ok_and(|now| now == *before))
    }
}

impl FileVersion {
    /// `None` when nothing is there. Symbolic links are followed.
    fn of(path: &Path) -> io::Result<Option<Self>> {
        match path.metadata() {
            Ok(found) => Ok(Some(Self {
                device_and_inode: (found.dev(), found.ino()),
                size: found.size(),
                modified: (found.mtime(), found.mtime_nsec()),
                changed: (found.ctime(), found.ctime_nsec()),
            })),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn is_recent(&self, now: Duration) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let grain = if nanoseconds == 0 { COARSE_GRAIN } else { FINE_GRAIN };
        let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(seconds), u32::try_from(nanoseconds)) else {
            return false;
        };
        // A time in the future counts as recent.
        now < Duration::new(seconds, nanoseconds) + grain
    }
}

/// The files outside a repository that git reads, from the output of `git config --list --show-origin -z` and
/// `git var -l`. `own` are the configuration files of the repository.
pub(crate) fn paths(
    config: &[u8],
    variables: &[u8],
    environment: &BTreeMap<OsString, OsString>,
    directory: &Path,
    own: &[PathBuf],
) -> Result<Vec<PathBuf>, WatchError> {
    let get = |name: &str| environment.get(OsStr::new(name)).filter(|value| !value.is_empty());
    let home = get("HOME").map(PathBuf::from);
    let mut files = Vec::new();
    let user = get("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(".config")));
    files.extend(user.iter().map(|user| user.join("git/ignore")));
    files.extend(config_and_attribute_files(variables)?);
    let mut fields = config.split(|byte| *byte == 0);
    while let (Some(origin), Some(entry)) = (fields.next(), fields.next()) {
        let origin = origin.strip_prefix(b"file:").map(|path| directory.join(OsStr::from_bytes(path)));
        let (key, value) = split_entry(entry);
        let key = String::from_utf8_lossy(key);
        let is_include = key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path"));
        if is_include {
            if key != "include.path" && !STEADY_CONDITIONS.iter().any(|condition| key.starts_with(condition))
            {
                return Err(WatchError::Unsupported(
                    "configuration is included under a condition that may change",
                ));
            }
            let from = origin.as_deref().and_then(Path::parent);
            files.push(resolve(value, home.as_deref(), from)?);
        } else if key == "core.excludesfile" || key == "core.attributesfile" {
            files.push(resolve(value, home.as_deref(), None)?);
        }
        files.extend(origin.filter(|origin| !own.contains(origin)));
    }
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

/// The configuration and attribute files of the user and the system, also those that do not exist.
fn config_and_attribute_files(variables: &[u8]) -> Result<Vec<PathBuf>, WatchError> {
    let lines = || variables.split(|byte| *byte == b'\n');
    if !lines().any(|line| line.starts_with(b"GIT_CONFIG_GLOBAL=")) {
        return Err(WatchError::Unsupported("this git does not print where its configuration is"));
    }
    let path = |line: &[u8]| {
        let value =
            FILE_VARIABLES.iter().find_map(|name| line.strip_prefix(name.as_bytes()).map(<[u8]>::to_vec))?;
        (value != b"/dev/null").then(|| PathBuf::from(OsStr::from_bytes(&value)))
    };
    Ok(lines().filter_map(path).collect())
}

/// Key and value of an entry.
fn split_entry(entry: &[u8]) -> (&[u8], &[u8]) {
    let end = entry.iter().position(|byte| *byte == b'\n').unwrap_or(entry.len());
    (&entry[..end], entry.get(end + 1..).unwrap_or_default())
}

/// A path as git understands it in its configuration.
fn resolve(value: &[u8], home: Option<&Path>, relative_to: Option<&Path>) -> Result<PathBuf, WatchError> {
    let path = Path::new(OsStr::from_bytes(value));
    let ambiguous = WatchError::Unsupported("a path in the configuration may mean several places");
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

    const VARIABLES: &[u8] = b"core.bare=false\nGIT_EDITOR=vi\nGIT_ATTR_SYSTEM=/etc/gitattributes\n\
        GIT_CONFIG_SYSTEM=/etc/gitconfig\nGIT_CONFIG_GLOBAL=/home/ann/.gitconfig\n";

    fn found(config: &[u8], variables: &[u8]) -> Result<Vec<PathBuf>, WatchError> {
        let environment = BTreeMap::from([("HOME".into(), "/home/ann".into())]);
        paths(config, variables, &environment, Path::new("/src/shop"), &["/src/shop/.git/config".into()])
    }

    #[test]
    fn files_are_listed_even_if_they_do_not_exist() {
        let config = b"file:/home/ann/.gitconfig\0include.path\nmore\0\
            file:/home/ann/.gitconfig\0includeif.gitdir:~/src/.path\n~/src.config\0\
            file:.git/config\0core.excludesfile\n/etc/ignore\0file:.git/config\0core.bare\0\
            command line:\0user.name\nann\0";
        let expected = [
            "/etc/gitattributes",
            "/etc/gitconfig",
            "/etc/ignore",
            "/home/ann/.config/git/ignore",
            "/home/ann/.gitconfig",
            "/home/ann/more",
            "/home/ann/src.config",
        ];
        assert_eq!(found(config, VARIABLES).unwrap(), expected.map(PathBuf::from));
    }

    #[test]
    fn ambiguous_paths_and_conditions_are_refused() {
        for entry in [
            "includeif.onbranch:main.path\nx",
            "includeif.hasconfig:remote.*.url:x.path\nx",
            "core.excludesfile\nrelative",
            "core.excludesfile\n~bob/ignore",
            "core.attributesfile\n%(prefix)/x",
            "include.path",
        ] {
            let config = format!("file:/home/ann/.gitconfig\0{entry}\0");
            assert!(found(config.as_bytes(), VARIABLES).is_err(), "{entry}");
        }
        assert!(found(b"", b"GIT_EDITOR=vi\n").is_err(), "an old git");
    }

    #[test]
    fn changes_are_detected_and_recent_files_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (there, absent) = (dir.path().join("there"), dir.path().join("absent"));
        std::fs::write(&there, "1").unwrap();
        assert!(ExternalFiles::read([there]).unwrap().is_none(), "written just now");
        let old = ExternalFiles::read([PathBuf::from("/"), absent.clone()]).unwrap().unwrap();
        assert!(old.are_unchanged());
        std::fs::write(&absent, "").unwrap();
        assert!(!old.are_unchanged());
    }
}
