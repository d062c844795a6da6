//! The embedded plugins and their directory on disk.
//!
//! The marketplace at the root of the repository, that is its manifest and the directory `plugins/`, is embedded in the
//! binary and unpacked into the data directory, into a directory named by the hash of its content: two versions never
//! share a directory, and an unpacked one never changes.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use loopgate_home::files::create_private_dir;
use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};

#[derive(RustEmbed)]
#[folder = "../../plugins"]
#[prefix = "plugins/"]
struct EmbeddedFiles;

/// Path of the marketplace's manifest, and its content.
const MARKETPLACE: (&str, &[u8]) =
    (".claude-plugin/marketplace.json", include_bytes!("../../../.claude-plugin/marketplace.json"));

/// Path of a plugin's manifest in its directory.
const MANIFEST: &str = ".claude-plugin/plugin.json";
/// Marker file, written last: a directory without it is incomplete.
const COMPLETE: &str = ".complete";

/// Prefix of a directory that is being unpacked.
const UNPACKING: &str = ".unpacking-";

/// Bytes of the content hash in a directory name.
const HASH_BYTES: usize = 8;

/// Unpacked plugins on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugins {
    marketplace: PathBuf,
}

impl Plugins {
    /// Unpacks the plugins into a data directory unless this version is unpacked already. Safe to call
    /// concurrently from several processes.
    ///
    /// # Errors
    /// Fails on any file system error.
    pub fn unpack(data_dir: &Path) -> io::Result<Self> {
        let parent = data_dir.join("plugins");
        let marketplace = parent.join(content_hash());
        if marketplace.join(COMPLETE).is_file() {
            return Ok(Self { marketplace });
        }
        // Unpacked next to the target, because a rename is only atomic within one file system.
        create_private_dir(&parent)?;
        let fresh = tempfile::Builder::new().prefix(UNPACKING).tempdir_in(&parent)?;
        write_all(fresh.path())?;
        // An incomplete directory of this name was damaged later: it is only renamed into place when
        // complete.
        if marketplace.exists() && !marketplace.join(COMPLETE).is_file() {
            std::fs::remove_dir_all(&marketplace)?;
        }
        match std::fs::rename(fresh.path(), &marketplace) {
            Ok(()) => {
                // The directory was renamed, so the guard must not delete its old path.
                let _ = fresh.keep();
            }
            // Another process has unpacked the same content first.
            Err(_) if marketplace.join(COMPLETE).is_file() => {}
            Err(error) => return Err(error),
        }
        Ok(Self { marketplace })
    }

    /// Deletes directories that killed processes left half unpacked. The caller must be the only user of the
    /// data directory, because the directories of running processes look the same.
    pub fn remove_leftovers(data_dir: &Path) {
        let Ok(entries) = std::fs::read_dir(data_dir.join("plugins")) else { return };
        for entry in entries.flatten() {
            let is_leftover = entry.file_name().to_str().is_some_and(|name| name.starts_with(UNPACKING));
            if is_leftover && let Err(error) = std::fs::remove_dir_all(entry.path()) {
                tracing::warn!(%error, directory = %entry.path().display(), "failed to remove an incomplete plugin directory");
            }
        }
    }

    /// Returns the root directory of the marketplace.
    #[must_use]
    pub fn marketplace(&self) -> &Path {
        &self.marketplace
    }

    /// Returns the directory with one subdirectory per plugin.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.marketplace.join("plugins")
    }

    /// Returns the names of the plugins, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root()).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter(|entry| is_plugin(&entry.path()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// Returns the directory of one of our plugins.
    #[must_use]
    pub fn dir(&self, plugin: &str) -> Option<PathBuf> {
        let dir = self.root().join(plugin);
        is_plugin(&dir).then_some(dir)
    }
}

/// Returns whether a directory contains a plugin.
#[must_use]
pub fn is_plugin(dir: &Path) -> bool {
    dir.join(MANIFEST).is_file()
}

/// Returns the version of an embedded plugin, which loops run.
#[must_use]
pub fn embedded_version(plugin: &str) -> Option<String> {
    version_in(&EmbeddedFiles::get(&format!("plugins/{plugin}/{MANIFEST}"))?.data)
}

/// Returns the version of the plugin in a directory.
#[must_use]
pub fn version_of(dir: &Path) -> Option<String> {
    version_in(&std::fs::read(dir.join(MANIFEST)).ok()?)
}

fn version_in(manifest: &[u8]) -> Option<String> {
    let manifest: serde_json::Value = serde_json::from_slice(manifest).ok()?;
    manifest.get("version")?.as_str().map(str::to_owned)
}

/// Returns whether two directories contain the same files. Files that only `copy` has, such as notes of the assistant,
/// are ignored. Blocks on disk I/O.
#[must_use]
pub fn is_copy(original: &Path, copy: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(original) else { return false };
    entries.flatten().all(|entry| {
        let (from, to) = (entry.path(), copy.join(entry.file_name()));
        if from.is_dir() { is_copy(&from, &to) } else { std::fs::read(from).ok() == std::fs::read(to).ok() }
    })
}

/// Returns the prompt names of the plugin `code`, sorted, without their file extension.
#[must_use]
pub fn prompt_names(plugin_dir: Option<&Path>) -> Vec<String> {
    let mut names: Vec<String> = match plugin_dir {
        Some(dir) => std::fs::read_dir(dir.join("prompts"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".md")?.to_owned()))
            .collect(),
        None => EmbeddedFiles::iter()
            .filter_map(|path| {
                Some(path.strip_prefix("plugins/code/prompts/")?.strip_suffix(".md")?.to_owned())
            })
            .collect(),
    };
    names.sort();
    names
}

fn files() -> Vec<(Cow<'static, str>, Cow<'static, [u8]>)> {
    let mut names: Vec<_> = EmbeddedFiles::iter().collect();
    names.sort();
    let manifest = (Cow::Borrowed(MARKETPLACE.0), Cow::Borrowed(MARKETPLACE.1));
    let plugins = names.into_iter().filter_map(|name| Some((name.clone(), EmbeddedFiles::get(&name)?.data)));
    std::iter::once(manifest).chain(plugins).collect()
}

fn content_hash() -> String {
    let mut hash = Sha256::new();
    for (name, bytes) in files() {
        hash.update(name.as_bytes());
        hash.update([0]);
        // The length separates the content from the next name.
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(&bytes);
    }
    hex::encode(&hash.finalize()[..HASH_BYTES])
}

fn write_all(dir: &Path) -> io::Result<()> {
    for (name, bytes) in files() {
        let path = dir.join(name.as_ref());
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&path, bytes)?;
        // Embedding does not preserve the executable bit.
        if name.contains("/scripts/") || name.contains("/tools/") {
            make_executable(&path)?;
        }
    }
    std::fs::write(dir.join(COMPLETE), b"")
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

/// No-op: this platform has no executable bit.
#[cfg(not(unix))]
fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_of_killed_processes_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let plugins = Plugins::unpack(home.path()).unwrap();
        let leftover = home.path().join("plugins/.unpacking-a1B2c3");
        std::fs::create_dir_all(leftover.join("code")).unwrap();
        Plugins::remove_leftovers(home.path());
        assert!(!leftover.exists() && plugins.root().exists());
    }

    #[test]
    fn unpacking_twice_reuses_the_directory() {
        let home = tempfile::tempdir().unwrap();
        let first = Plugins::unpack(home.path()).unwrap();
        let second = Plugins::unpack(home.path()).unwrap();
        assert_eq!(first, second);
        let code = first.dir("code").unwrap();
        let manifest: serde_json::Value =
            serde_json::from_slice(&std::fs::read(code.join(".claude-plugin/plugin.json")).unwrap()).unwrap();
        assert_eq!(manifest["name"], "code");
        assert_eq!(embedded_version("code").as_deref(), manifest["version"].as_str());
        assert_eq!(version_of(&code), embedded_version("code"));
        assert!(first.marketplace().join(MARKETPLACE.0).is_file());
        assert!(code.join("commands/code.md").is_file());
        assert_eq!(std::fs::read_dir(home.path().join("plugins")).unwrap().count(), 1);
    }

    #[test]
    fn changed_or_missing_file_makes_a_copy_different() {
        let home = tempfile::tempdir().unwrap();
        let code = Plugins::unpack(&home.path().join("a")).unwrap().dir("code").unwrap();
        let copy = Plugins::unpack(&home.path().join("b")).unwrap().dir("code").unwrap();
        std::fs::write(copy.join(".in_use"), "").unwrap();
        assert!(is_copy(&code, &copy));
        std::fs::write(copy.join("commands/code.md"), "other").unwrap();
        assert!(!is_copy(&code, &copy));
        std::fs::remove_file(copy.join("commands/code.md")).unwrap();
        assert!(!is_copy(&code, &copy) && !is_copy(&code, &home.path().join("none")));
    }

    #[test]
    fn incomplete_directory_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let plugins = Plugins::unpack(home.path()).unwrap();
        std::fs::remove_file(plugins.marketplace().join(COMPLETE)).unwrap();
        std::fs::remove_file(plugins.root().join("code/commands/code.md")).unwrap();
        let again = Plugins::unpack(home.path()).unwrap();
        assert!(again.dir("code").unwrap().join("commands/code.md").is_file());
    }

    #[test]
    fn concurrent_unpacks_yield_the_same_directory() {
        let home = tempfile::tempdir().unwrap();
        let roots: Vec<PathBuf> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| Plugins::unpack(home.path()).unwrap().marketplace().to_owned()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(roots.iter().all(|root| root == &roots[0] && root.join(COMPLETE).is_file()));
    }
}
