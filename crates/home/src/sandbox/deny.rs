//! Paths that the sandbox denies regardless of its base directory.
//!
//! Paths are compared by component and case-insensitively, so that `~/.SSH` matches `~/.ssh` on every file
//! system and `~/.sshx` does not.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Credentials and browser profiles, relative to the user's home directory.
const IN_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".gcloud",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".mozilla",
    "snap/firefox",
    "snap/chromium",
    ".netrc",
    ".docker",
    ".kube",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".local/share/keyrings",
    ".claude",
    ".claude.json",
    ".codex",
    ".loopgate/authorized_keys.json",
    "Library/Keychains",
    "Library/Safari",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Chromium",
    "Library/Application Support/BraveSoftware",
    "Library/Application Support/Microsoft Edge",
    "Library/Application Support/Firefox",
];

/// System directories. macOS resolves `/etc` and `/var` to paths below `/private`.
const ON_MACHINE: &[&str] = &[
    "/etc",
    "/private/etc",
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/proc",
    "/sys",
    "/dev",
    "/boot",
    "/root",
    "/var/run",
    "/private/var/run",
    "/private/var/db",
];

/// Deny list for one user.
#[derive(Debug)]
pub(super) struct DenyList {
    /// Lower-cased components of each denied path, as written and with symbolic links resolved.
    places: Vec<Vec<OsString>>,
}

impl DenyList {
    /// Builds the list for the user with this home directory. `data_dir` is denied like a key store.
    pub(super) fn new(home: Option<&Path>, data_dir: &Path) -> Self {
        // Containers often run as root: a user whose home is `/root` may work there.
        let own_home_is = |path: &str| home.is_some_and(|home| home.starts_with(path));
        let mut places: Vec<PathBuf> =
            ON_MACHINE.iter().filter(|path| !own_home_is(path)).map(PathBuf::from).collect();
        if let Some(home) = home {
            places.extend(IN_HOME.iter().map(|path| home.join(path)));
            // `canonicalize` below fails for entries that do not exist yet, so join them to the resolved home
            // too.
            if let Ok(real) = home.canonicalize() {
                places.extend(IN_HOME.iter().map(|path| real.join(path)));
            }
        }
        places.push(data_dir.to_owned());
        let canonical: Vec<PathBuf> = places.iter().filter_map(|path| path.canonicalize().ok()).collect();
        places.extend(canonical);
        let mut places: Vec<_> = places.iter().map(|path| folded(path)).collect();
        places.sort();
        places.dedup();
        Self { places }
    }

    /// Returns whether a path is a denied path or below one.
    pub(super) fn covers(&self, path: &Path) -> bool {
        let path = folded(path);
        self.places.iter().any(|place| path.starts_with(place))
    }

    /// Returns whether a denied path is at or below `path`.
    pub(super) fn lies_below(&self, path: &Path) -> bool {
        let path = folded(path);
        self.places.iter().any(|place| place.starts_with(&path))
    }
}

fn folded(path: &Path) -> Vec<OsString> {
    path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase().into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denied_paths_are_covered_in_any_case() {
        let list = DenyList::new(Some(Path::new("/home/dev")), Path::new("/home/dev/.local/share/loopgate"));
        for path in [
            "/home/dev/.ssh/id_ed25519",
            "/home/dev/.gnupg",
            "/home/dev/.aws/credentials",
            "/home/dev/Library/Keychains/login.keychain",
            "/etc/passwd",
            "/bin/sh",
            "/sbin/init",
            "/home/dev/.config/gh/hosts.yml",
            "/home/dev/.netrc",
            "/home/dev/.docker/config.json",
            "/home/dev/.kube/config",
            "/home/dev/.azure",
            "/home/dev/.config/gcloud",
            "/home/dev/.gcloud",
            "/home/dev/.npmrc",
            "/home/dev/.pypirc",
            "/home/dev/.git-credentials",
            "/home/dev/.loopgate/authorized_keys.json",
            "/home/dev/.local/share/loopgate/desktop.db",
            "/home/dev/.claude/.credentials.json",
            "/home/dev/.mozilla/firefox",
            "/proc/self/environ",
            "/sys/kernel",
            "/dev/sda",
            "/boot",
            "/root/x",
            "/usr/bin/env",
            "/usr/sbin",
            "/var/run/docker.sock",
            "/private/etc/hosts",
            "/private/var/db/x",
            "/HOME/dev/.SSH",
            "/Etc/Passwd",
        ] {
            assert!(list.covers(Path::new(path)), "{path}");
        }
        for path in ["/home/dev/.sshx", "/home/dev/.loopgate/config", "/etcetera", "/home/dev/.config", "/"] {
            assert!(!list.covers(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn home_of_root_is_allowed() {
        let list = DenyList::new(Some(Path::new("/root")), Path::new("/root/.local/share/loopgate"));
        assert!(!list.covers(Path::new("/root/code")));
        assert!(list.covers(Path::new("/root/.ssh")));
    }
}
