//! Where a plugin of the assistant lies: among ours, else among those that the user has installed.

use std::path::{Path, PathBuf};

use loopgate_home::expand_home;
use serde_json::Value;

/// Where the assistant keeps installed plugins of ours.
const INSTALLED: &str = "~/.claude/plugins/cache/loopgate";
/// What the assistant knows of installed plugins.
const REGISTRY: &str = "~/.claude/plugins/installed_plugins.json";
const MANIFEST: &str = ".claude-plugin/plugin.json";

/// The folder of a plugin; of several installed versions the newest. Looks at the disk.
pub(crate) fn find(ours: &Path, name: &str) -> Option<PathBuf> {
    let own = ours.join(name);
    if own.is_dir() {
        return Some(own);
    }
    newest_with(&expand_home(INSTALLED).join(name), MANIFEST)
}

/// A file of a plugin that the user has installed; of several versions that have it the newest's.
/// Looks at the disk.
pub(crate) fn installed_file(name: &str, file: &str) -> Option<PathBuf> {
    newest_with(&expand_home(INSTALLED).join(name), file).map(|plugin| plugin.join(file))
}

/// Whether the user has installed a plugin of ours for the assistant, whatever the project. Looks at
/// the disk.
pub(crate) fn installed_for_user(name: &str) -> bool {
    let registry = std::fs::read(expand_home(REGISTRY)).unwrap_or_default();
    is_registered(&registry, name)
}

fn is_registered(registry: &[u8], name: &str) -> bool {
    let registry: Value = serde_json::from_slice(registry).unwrap_or_default();
    let entries = registry["plugins"][format!("{name}@loopgate")].as_array().cloned().unwrap_or_default();
    entries.iter().any(|entry| {
        let of_user = entry["scope"].as_str().is_none_or(|scope| scope == "user");
        of_user && entry["installPath"].as_str().is_some_and(|path| Path::new(path).exists())
    })
}

/// The folder of the newest version that has a file.
fn newest_with(plugin: &Path, file: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(plugin).ok()?.flatten();
    let versions = entries.filter_map(|entry| Some((version(entry.file_name().to_str()?)?, entry.path())));
    let complete = versions.filter(|(_, path)| path.join(file).is_file());
    complete.max_by_key(|(version, _)| *version).map(|(_, path)| path)
}

/// The three numbers that a name begins with.
fn version(name: &str) -> Option<[u64; 3]> {
    let mut parts = name.splitn(3, '.');
    let mut whole = || parts.next()?.parse().ok();
    let (major, minor) = (whole()?, whole()?);
    let rest = parts.next()?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    Some([major, minor, rest[..digits].parse().ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    // PL-42
    #[test]
    fn ours_goes_first_and_then_the_newest_complete_version() {
        let dir = tempfile::tempdir().unwrap();
        let plugin = dir.path().join("judges");
        for name in ["1.9.0", "1.10.2-beta", "2.0.0", "latest"] {
            std::fs::create_dir_all(plugin.join(name).join(".claude-plugin")).unwrap();
            if name != "2.0.0" {
                std::fs::write(plugin.join(name).join(MANIFEST), "{}").unwrap();
            }
        }
        assert_eq!(newest_with(&plugin, MANIFEST), Some(plugin.join("1.10.2-beta")));
        assert_eq!(newest_with(&dir.path().join("none"), MANIFEST), None);
        assert_eq!(find(dir.path(), "judges"), Some(plugin));
    }

    #[test]
    fn a_plugin_counts_when_it_is_the_users_and_there() {
        let dir = tempfile::tempdir().unwrap();
        let entry = |scope: &str, path: &Path| {
            let text = serde_json::json!({"plugins": {"bootstrap@loopgate": [{"scope": scope, "installPath": path}]}});
            is_registered(text.to_string().as_bytes(), "bootstrap")
        };
        assert!(entry("user", dir.path()));
        assert!(!entry("project", dir.path()));
        assert!(!entry("user", &dir.path().join("gone")));
        for odd in ["", "[]", "{}", r#"{"plugins":{"bootstrap@loopgate":7}}"#] {
            assert!(!is_registered(odd.as_bytes(), "bootstrap"), "{odd}");
        }
    }
}
