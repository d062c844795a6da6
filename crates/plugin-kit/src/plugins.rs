//! The embedded plugins and their directory on disk.
//!
//! The marketplace at the root of the repository, that is its manifest and the directory `plugins/`, is embedded in the
//! binary and unpacked into the data directory, into a directory named by the hash of its content, so that two versions
//! never share a directory. The hooks in it are the guards of a loop, and programs that the assistant starts can write
//! to it: each use compares its files with the embedded ones, and restores them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
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
/// Directory of a plugin in which the assistant records the processes that use it. It loads nothing from there.
const IN_USE: &str = ".in_use";

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
    /// Unpacks the plugins into a data directory, or restores the files of an unpacked version. Safe to call
    /// concurrently from several processes.
    ///
    /// # Errors
    /// Fails on any file system error.
    pub fn unpack(data_dir: &Path) -> io::Result<Self> {
        let parent = parent_dir(data_dir);
        let plugins = Self { marketplace: parent.join(content_hash()) };
        if plugins.marketplace.symlink_metadata().is_err() {
            // Unpacked next to the target, because a rename is only atomic within one file system.
            create_private_dir(&parent)?;
            let fresh = tempfile::Builder::new().prefix(UNPACKING).tempdir_in(&parent)?;
            write_all(fresh.path())?;
            // Fails if another process has unpacked the same content first.
            if std::fs::rename(fresh.path(), &plugins.marketplace).is_ok() {
                // The directory was renamed, so the guard must not delete its old path.
                let _ = fresh.keep();
                return Ok(plugins);
            }
        }
        let changed = plugins.restore()?;
        if !changed.is_empty() {
            tracing::warn!(?changed, "files of the unpacked plugins were changed, and are restored");
        }
        Ok(plugins)
    }

    /// Makes the directory contain the embedded files and nothing else that the assistant could load. Returns the paths
    /// that differed, relative to [`Self::marketplace`]. Files that are right stay untouched, because running loops use
    /// them.
    ///
    /// # Errors
    /// Fails on any file system error.
    pub fn restore(&self) -> io::Result<Vec<PathBuf>> {
        let files: BTreeMap<PathBuf, Cow<'static, [u8]>> =
            files().into_iter().map(|(name, bytes)| (PathBuf::from(name.as_ref()), bytes)).collect();
        let directories: BTreeSet<&Path> = files.keys().flat_map(|path| path.ancestors().skip(1)).collect();
        let expected = ExpectedFiles { root: &self.marketplace, files: &files, directories };
        let mut changed = Vec::new();
        expected.remove_others(Path::new(""), &mut changed)?;
        let wrong: Vec<_> = files.iter().filter(|(path, bytes)| !expected.is_intact(path, bytes)).collect();
        if !wrong.is_empty() {
            // Renamed into place, because a running loop may be reading the file.
            let parent = self.marketplace.parent().unwrap_or(&self.marketplace);
            let fresh = tempfile::Builder::new().prefix(UNPACKING).tempdir_in(parent)?;
            for (path, bytes) in wrong {
                let (from, to) = (fresh.path().join("file"), self.marketplace.join(path));
                to.parent().map_or(Ok(()), std::fs::create_dir_all)?;
                write(&from, path, bytes)?;
                std::fs::rename(&from, &to)?;
                changed.push(path.clone());
            }
        }
        changed.sort();
        changed.dedup();
        Ok(changed)
    }

    /// Returns whether a directory is inside the directory of the unpacked plugins of any version.
    #[must_use]
    pub fn is_unpacked(data_dir: &Path, dir: &Path) -> bool {
        dir.starts_with(parent_dir(data_dir))
    }

    /// Deletes directories that killed processes left half unpacked. The caller must be the only user of the
    /// data directory, because the directories of running processes look the same.
    pub fn remove_leftovers(data_dir: &Path) {
        let Ok(entries) = std::fs::read_dir(parent_dir(data_dir)) else { return };
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

/// Returns whether a path in the directory of an unpacked version is `plugins/<plugin>/.in_use`.
fn is_in_use(path: &Path) -> bool {
    path.ends_with(IN_USE) && path.components().count() == 3
}

fn parent_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("plugins")
}

/// The embedded files, by their path in the directory of an unpacked version.
struct ExpectedFiles<'a> {
    root: &'a Path,
    files: &'a BTreeMap<PathBuf, Cow<'static, [u8]>>,
    directories: BTreeSet<&'a Path>,
}

impl ExpectedFiles<'_> {
    /// Removes all entries below a directory that are not expected, or not of the expected kind.
    fn remove_others(&self, directory: &Path, removed: &mut Vec<PathBuf>) -> io::Result<()> {
        let entries = match std::fs::read_dir(self.root.join(directory)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            // Of the entry itself: a link to files with the expected content could be changed later.
            let kind = entry.file_type()?;
            if kind.is_dir() && self.directories.contains(path.as_path()) {
                self.remove_others(&path, removed)?;
            } else if !(is_in_use(&path) || kind.is_file() && self.files.contains_key(&path)) {
                let result = if kind.is_dir() {
                    std::fs::remove_dir_all(entry.path())
                } else {
                    std::fs::remove_file(entry.path())
                };
                match result {
                    // Another process restores the same directory.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    result => result?,
                }
                removed.push(path);
            }
        }
        Ok(())
    }

    fn is_intact(&self, path: &Path, bytes: &[u8]) -> bool {
        let path = self.root.join(path);
        // The size first, so that a file that became huge is not read.
        path.metadata().is_ok_and(|file| file.len() == bytes.len() as u64)
            && std::fs::read(path).is_ok_and(|content| content == bytes)
    }
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
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        write(&path, Path::new(name.as_ref()), &bytes)?;
    }
    Ok(())
}

/// Writes an embedded file, whose name decides whether it is executable: embedding does not preserve that.
fn write(path: &Path, name: &Path, bytes: &[u8]) -> io::Result<()> {
    std::fs::write(path, bytes)?;
    let is_program =
        name.components().any(|part| ["scripts", "tools"].iter().any(|dir| part.as_os_str() == *dir));
    if is_program { make_executable(path) } else { Ok(()) }
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
    fn changed_missing_and_added_files_are_restored() {
        let home = tempfile::tempdir().unwrap();
        let plugins = Plugins::unpack(home.path()).unwrap();
        let code = plugins.dir("code").unwrap();
        let original = std::fs::read(code.join("hooks/run.sh")).unwrap();
        assert!(plugins.restore().unwrap().is_empty());

        // A note of the assistant is no part of the plugin; everything else may be.
        std::fs::create_dir(code.join(".in_use")).unwrap();
        std::fs::write(code.join(".in_use/4711"), "").unwrap();
        std::fs::write(code.join("hooks/run.sh"), vec![b'x'; original.len()]).unwrap();
        std::fs::remove_file(code.join("commands/code.md")).unwrap();
        std::fs::create_dir_all(code.join("skills/own")).unwrap();
        std::fs::create_dir_all(code.join("skills/.in_use")).unwrap();
        for added in
            ["skills/.in_use/SKILL.md", "skills/own/SKILL.md", "agents/own.md", ".mcp.json", "CLAUDE.md"]
        {
            std::fs::write(code.join(added), "{}").unwrap();
        }
        let foreign = plugins.root().join("foreign");
        std::fs::create_dir_all(foreign.join(".claude-plugin")).unwrap();
        std::fs::write(foreign.join(MANIFEST), "{}").unwrap();
        let changed = plugins.restore().unwrap();
        let expected = [
            "plugins/code/.mcp.json",
            "plugins/code/CLAUDE.md",
            "plugins/code/agents/own.md",
            "plugins/code/commands/code.md",
            "plugins/code/hooks/run.sh",
            "plugins/code/skills/.in_use",
            "plugins/code/skills/own",
            "plugins/foreign",
        ];
        assert_eq!(changed, expected.map(PathBuf::from));
        assert_eq!(std::fs::read(code.join("hooks/run.sh")).unwrap(), original);
        assert!(code.join("commands/code.md").is_file() && code.join(".in_use/4711").is_file());
        assert!(plugins.restore().unwrap().is_empty());

        std::fs::write(code.join("hooks/run.sh"), "exit 0").unwrap();
        Plugins::unpack(home.path()).unwrap();
        assert_eq!(std::fs::read(code.join("hooks/run.sh")).unwrap(), original);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_replaced_by_files() {
        let home = tempfile::tempdir().unwrap();
        let plugins = Plugins::unpack(home.path()).unwrap();
        let hooks = plugins.dir("code").unwrap().join("hooks");
        let moved = home.path().join("moved");
        std::fs::rename(&hooks, &moved).unwrap();
        std::os::unix::fs::symlink(&moved, &hooks).unwrap();
        Plugins::unpack(home.path()).unwrap();
        assert!(hooks.symlink_metadata().unwrap().is_dir() && hooks.join("run.sh").is_file());
    }

    #[cfg(unix)]
    #[test]
    fn restored_scripts_are_executable() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let plugins = Plugins::unpack(home.path()).unwrap();
        std::fs::remove_dir_all(plugins.root()).unwrap();
        plugins.restore().unwrap();
        let mode = |path: &str| plugins.root().join(path).metadata().unwrap().permissions().mode() & 0o111;
        let scripts = std::fs::read_dir(plugins.root().join("code/scripts")).unwrap();
        let names = scripts.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.map(|name| mode(&format!("code/scripts/{name}"))).all(|bits| bits == 0o111));
        assert_eq!(mode("code/commands/code.md"), 0);
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
        assert!(roots.iter().all(|root| root == &roots[0]) && roots[0].join(MARKETPLACE.0).is_file());
    }
}
