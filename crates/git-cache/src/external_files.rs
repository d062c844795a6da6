//! Files outside a repository that git reads: configuration, excludes and attributes of the user and the
//! system.
//!
//! These few files are not watched but compared by their metadata, as git compares files in its index. A file
//! that changed within the resolution of its timestamps is not trusted: a second change could leave the same
//! timestamp ("racy git").

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::WatchError;

/// Margin for timestamps on file systems that store nanoseconds. They advance with the kernel's timer tick,
/// at most every 10 ms.
const FINE_RESOLUTION: Duration = Duration::from_millis(100);
/// Margin for timestamps on file systems that store seconds or, like FAT, two seconds.
const COARSE_RESOLUTION: Duration = Duration::from_secs(2);
/// Conditions of includes that depend only on the location of the repository, which does not change while it
/// is cached.
const LOCATION_CONDITIONS: [&str; 2] = ["includeif.gitdir:", "includeif.gitdir/i:"];
/// Prefixes of lines of `git var -l` that contain paths of files.
const FILE_VARIABLES: [&str; 4] =
    ["GIT_CONFIG_SYSTEM=", "GIT_CONFIG_GLOBAL=", "GIT_ATTR_SYSTEM=", "GIT_ATTR_GLOBAL="];

/// Paths with the metadata they had when they were read.
#[derive(Debug)]
pub(crate) struct ExternalFiles(Vec<(PathBuf, Option<FileVersion>)>);

/// Metadata that changes together with the content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileVersion {
    device_and_inode: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl ExternalFiles {
    /// Reads the metadata of these files. Returns `None` when a file changed so recently that its next change
    /// might not be visible in the metadata.
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

    /// Returns whether the metadata of all files is unchanged.
    pub(crate) fn are_unchanged(&self) -> bool {
        self.0.iter().all(|(path, before)| FileVersion::of(path).is_ok_and(|current| current == *before))
    }
}

impl FileVersion {
    /// Returns `None` when the file does not exist. Follows symbolic links.
    fn of(path: &Path) -> io::Result<Option<Self>> {
        match path.metadata() {
            Ok(metadata) => Ok(Some(Self {
                device_and_inode: (metadata.dev(), metadata.ino()),
                size: metadata.size(),
                modified: (metadata.mtime(), metadata.mtime_nsec()),
                changed: (metadata.ctime(), metadata.ctime_nsec()),
            })),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn is_recent(&self, now: Duration) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let resolution = if nanoseconds == 0 { COARSE_RESOLUTION } else { FINE_RESOLUTION };
        // A negative time is before 1970, hence not recent.
        let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(seconds), u32::try_from(nanoseconds)) else {
            return false;
        };
        // A time in the future counts as recent.
        now < Duration::new(seconds, nanoseconds) + resolution
    }
}

/// Returns the files outside a repository that git reads, given the output of `git config --list
/// --show-origin -z` and `git var -l`. `own` contains the configuration files of the repository itself.
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
    // Git reads this file without any configuration entry that refers to it.
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
            if key != "include.path"
                && !LOCATION_CONDITIONS.iter().any(|condition| key.starts_with(condition))
            {
                return Err(WatchError::Unsupported("conditional include that may change without an event"));
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

/// Returns the configuration and attribute files of the user and the system, even those that do not exist:
/// creating one changes git's result.
fn config_and_attribute_files(variables: &[u8]) -> Result<Vec<PathBuf>, WatchError> {
    let lines = || variables.split(|byte| *byte == b'\n');
    // Git prints these variables since version 2.42.
    if !lines().any(|line| line.starts_with(b"GIT_CONFIG_GLOBAL=")) {
        return Err(WatchError::Unsupported(
            "git does not print the paths of its configuration files; version 2.42 or newer is required",
        ));
    }
    let path = |line: &[u8]| {
        let value =
            FILE_VARIABLES.iter().find_map(|name| line.strip_prefix(name.as_bytes()).map(<[u8]>::to_vec))?;
        (value != b"/dev/null").then(|| PathBuf::from(OsStr::from_bytes(&value)))
    };
    Ok(lines().filter_map(path).collect())
}

/// Splits an entry into key and value.
fn split_entry(entry: &[u8]) -> (&[u8], &[u8]) {
    let end = entry.iter().position(|byte| *byte == b'\n').unwrap_or(entry.len());
    (&entry[..end], entry.get(end + 1..).unwrap_or_default())
}

/// Resolves a path as git does in its configuration.
fn resolve(value: &[u8], home: Option<&Path>, relative_to: Option<&Path>) -> Result<PathBuf, WatchError> {
    let path = Path::new(OsStr::from_bytes(value));
    let ambiguous = WatchError::Unsupported("ambiguous path in the configuration");
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

    fn listed(config: &[u8], variables: &[u8]) -> Result<Vec<PathBuf>, WatchError> {
        let environment = BTreeMap::from([("HOME".into(), "/home/ann".into())]);
        paths(config, variables, &environment, Path::new("/src/shop"), &["/src/shop/.git/config".into()])
    }

    #[test]
    fn configuration_files_are_listed_even_if_missing() {
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
        assert_eq!(listed(config, VARIABLES).unwrap(), expected.map(PathBuf::from));
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
            let config = format!("file:/home/ann/.gitconfig\0{entry}\0");
            assert!(listed(config.as_bytes(), VARIABLES).is_err(), "{entry}");
        }
        assert!(listed(b"", b"GIT_EDITOR=vi\n").is_err(), "an old git");
    }

    #[test]
    fn changes_are_detected_and_recent_files_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let (recent, absent) = (dir.path().join("recent"), dir.path().join("absent"));
        std::fs::write(&recent, "1").unwrap();
        assert!(ExternalFiles::read([recent]).unwrap().is_none(), "written just now");
        let files = ExternalFiles::read([PathBuf::from("/"), absent.clone()]).unwrap().unwrap();
        assert!(files.are_unchanged());
        std::fs::write(&absent, "").unwrap();
        assert!(!files.are_unchanged());
    }
}
