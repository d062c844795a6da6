//! Checks of the plugins that Loopgate ships. Loops run these copies, whether or not the user has installed plugins in
//! the assistant.

use std::path::Path;

use serde_json::Value;

use super::check::Check;

/// Returns one check per plugin in a directory, sorted by name. Blocks on disk I/O.
pub(super) fn rows(bundled: &Path) -> Vec<Check> {
    let entries = std::fs::read_dir(bundled).into_iter().flatten().flatten();
    let mut rows: Vec<Check> = entries
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| Some(row(&entry.file_name().into_string().ok()?, &entry.path())))
        .collect();
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    rows
}

fn row(name: &str, plugin: &Path) -> Check {
    let id = format!("plugin-{name}");
    match version(plugin) {
        Some(version) => Check::passed(&id, name, true, Some(version)),
        None => {
            let remedy = format!("Remove {} and start Loopgate again.", plugin.display());
            Check::failed(&id, name, true, "The plugin's manifest is missing or malformed", remedy)
        }
    }
}

/// Returns the version in a plugin's manifest.
fn version(plugin: &Path) -> Option<String> {
    let manifest = std::fs::read(plugin.join(".claude-plugin/plugin.json")).ok()?;
    let manifest: Value = serde_json::from_slice(&manifest).ok()?;
    manifest.get("version").and_then(Value::as_str).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_plugins_are_the_rows() {
        let dir = tempfile::tempdir().unwrap();
        for (name, manifest) in [("self-learning", r#"{"version": "1.1.2"}"#), ("code", "{")] {
            let place = dir.path().join(name).join(".claude-plugin");
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join("plugin.json"), manifest).unwrap();
        }
        let rows = rows(dir.path());
        let found: Vec<_> =
            rows.iter().map(|row| (row.id.as_str(), row.passed, row.version.as_deref())).collect();
        assert_eq!(found, [("plugin-code", false, None), ("plugin-self-learning", true, Some("1.1.2"))]);
        assert!(rows[0].remediation.as_ref().is_some_and(|remedy| remedy.contains("start Loopgate again")));
    }
}
