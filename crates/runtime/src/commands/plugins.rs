//! Finds plugins of the assistant: bundled with Loopgate, or installed by the user.

use std::path::{Path, PathBuf};

use loopgate_home::{expand_home, newest_version_with};
use serde_json::Value;

// Directory in which the assistant installs plugins of the `loopgate` marketplace.
const INSTALLED: &str = "~/.claude/plugins/cache/loopgate";
// The assistant's registry of installed plugins.
const REGISTRY: &str = "~/.claude/plugins/installed_plugins.json";
const MANIFEST: &str = ".claude-plugin/plugin.json";

/// Returns the directory of a plugin: the bundled one, or the newest installed version. Performs blocking
/// I/O.
pub(crate) fn find(bundled_dirs: &Path, name: &str) -> Option<PathBuf> {
    let bundled = bundled_dirs.join(name);
    if bundled.is_dir() {
        return Some(bundled);
    }
    newest_version_with(&expand_home(INSTALLED).join(name), MANIFEST)
}

/// Returns a file of an installed plugin, from the newest version that contains it. Performs blocking I/O.
pub(crate) fn installed_file(name: &str, file: &str) -> Option<PathBuf> {
    newest_version_with(&expand_home(INSTALLED).join(name), file).map(|plugin| plugin.join(file))
}

/// Returns whether the user has installed a plugin of the `loopgate` marketplace for all projects. Performs
/// blocking I/O.
pub(crate) fn installed_for_user(name: &str) -> bool {
    let registry = std::fs::read(expand_home(REGISTRY)).unwrap_or_default();
    is_registered(&registry, name)
}

fn is_registered(registry: &[u8], name: &str) -> bool {
    let registry: Value = serde_json::from_slice(registry).unwrap_or_default();
    let entries = registry["plugins"][format!("{name}@loopgate")].as_array().cloned().unwrap_or_default();
    entries.iter().any(|entry| {
        // Entries without a scope were written by assistant versions that supported installations for the
        // user only.
        let user_scope = entry["scope"].as_str().is_none_or(|scope| scope == "user");
        user_scope && entry["installPath"].as_str().is_some_and(|path| Path::new(path).exists())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // PL-42
    #[test]
    fn bundled_plugin_takes_precedence() {
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
        assert!(!entry("user", &dir.path().join("missing")));
        // The file belongs to another program and may change its format at any time.
        for malformed in ["", "[]", "{}", r#"{"plugins":{"bootstrap@loopgate":7}}"#] {
            assert!(!is_registered(malformed.as_bytes(), "bootstrap"), "{malformed}");
        }
    }
}
