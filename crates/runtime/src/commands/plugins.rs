//! Finds a plugin of the assistant: a bundled one, else one that the user has installed.

use std::path::{Path, PathBuf};

use loopgate_home::{expand_home, newest_version_with};
use serde_json::Value;

/// Directory in which the assistant installs plugins of Loopgate's marketplace.
const INSTALLED: &str = "~/.claude/plugins/cache/loopgate";
/// The assistant's list of installed plugins.
const REGISTRY: &str = "~/.claude/plugins/installed_plugins.json";
const MANIFEST: &str = ".claude-plugin/plugin.json";

/// The folder of a plugin; of several installed versions the newest. Looks at the disk.
pub(crate) fn find(ours: &Path, name: &str) -> Option<PathBuf> {
    let own = ours.join(name);
    if own.is_dir() {
        return Some(own);
    }
    newest_version_with(&expand_home(INSTALLED).join(name), MANIFEST)
}

/// A file of a plugin that the user has installed; of several versions that have it the newest's.
/// Looks at the disk.
pub(crate) fn installed_file(name: &str, file: &str) -> Option<PathBuf> {
    newest_version_with(&expand_home(INSTALLED).join(name), file).map(|plugin| plugin.join(file))
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

#[cfg(test)]
mod tests {
    use super::*;

    // PL-42
    #[test]
    fn bundled_plugin_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let plugin = dir.path().join("judges");
        std::fs::create_dir(&plugin).unwrap();
        assert_eq!(find(dir.path(), "judges"), Some(plugin));
    }

    #[test]
    fn plugin_must_be_installed_for_the_user() {
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
