//! Copies the judges' prompts into the work directory, so that a report can be traced to the prompts that
//! produced it.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_home::untrusted;
use serde_json::{Value, json};

use crate::clock::now;

/// Name of the directory with the copies in a work directory.
const SNAPSHOT: &str = "agents-snapshot";

/// Directory of the prompts in the plugin.
pub const RUBRICS: &str = "rubrics";

/// Copies the rubrics of the plugin unless a snapshot exists, and returns the line to print.
///
/// # Errors
/// Fails on any file system error.
pub fn take(workdir: &Path, plugin_root: &Path) -> io::Result<String> {
    let snapshot_dir = workdir.join(SNAPSHOT);
    let manifest = snapshot_dir.join("manifest.json");
    // The first snapshot of a run is kept: the judges started with these prompts.
    if untrusted::kind(&manifest).is_some() {
        return Ok(format!("A snapshot already exists: {}", snapshot_dir.display()));
    }
    let source = plugin_root.join(RUBRICS);
    let files = prompts(&source)?;
    let mut names = Vec::with_capacity(files.len());
    for file in &files {
        let name = file.strip_prefix(&source).map_err(io::Error::other)?;
        untrusted::write(&snapshot_dir.join(name), &std::fs::read(file)?)?;
        names.push(name.to_string_lossy().into_owned());
    }
    let content = json!({
        "plugin": "judges",
        "plugin_version": version(plugin_root),
        "run_id": super::run_id(workdir),
        "created_at": now(),
        "source_dir": source,
        "files": names,
        "file_count": names.len(),
    });
    // Written last: an interrupted copy has no manifest and is repeated by the next run.
    untrusted::write(&manifest, format!("{content:#}\n").as_bytes())?;
    Ok(format!("Copied {} prompts to {}", names.len(), snapshot_dir.display()))
}

/// Lists the Markdown files of a directory recursively, sorted.
fn prompts(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(prompts(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn version(plugin_root: &Path) -> Option<String> {
    let text = std::fs::read_to_string(plugin_root.join(".claude-plugin/plugin.json")).ok()?;
    let manifest: Value = serde_json::from_str(&text).ok()?;
    Some(manifest.get("version")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // PR-10
    #[test]
    fn prompts_are_copied_once_with_a_manifest() {
        let dir = tempfile::tempdir().unwrap();
        let (plugin, work) = (dir.path().join("judges"), dir.path().join("run-7"));
        std::fs::create_dir_all(plugin.join("rubrics/prd")).unwrap();
        std::fs::create_dir_all(plugin.join(".claude-plugin")).unwrap();
        std::fs::create_dir_all(&work).unwrap();
        std::fs::write(plugin.join(".claude-plugin/plugin.json"), r#"{"version": "1.5.1"}"#).unwrap();
        for (name, text) in
            [("rubrics/test-judge.md", "one"), ("rubrics/prd/auditor.md", "two"), ("rubrics/notes.txt", "")]
        {
            std::fs::write(plugin.join(name), text).unwrap();
        }
        assert!(take(&work, &plugin).unwrap().starts_with("Copied 2 prompts"));
        let stored = || std::fs::read(work.join("agents-snapshot/manifest.json")).unwrap();
        let first = stored();
        let manifest: Value = serde_json::from_slice(&first).unwrap();
        assert_eq!(manifest["files"], json!(["prd/auditor.md", "test-judge.md"]));
        assert_eq!((&manifest["plugin_version"], &manifest["file_count"]), (&json!("1.5.1"), &json!(2)));
        std::fs::write(plugin.join("rubrics/test-judge.md"), "changed").unwrap();
        assert!(take(&work, &plugin).unwrap().starts_with("A snapshot already exists"));
        assert_eq!(stored(), first);
        assert_eq!(std::fs::read_to_string(work.join("agents-snapshot/test-judge.md")).unwrap(), "one");
        assert!(take(dir.path(), Path::new("/nonexistent")).is_err());
    }
}
