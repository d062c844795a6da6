//! Plugins that the assistant has installed: one directory per plugin, with one subdirectory per version.

use std::path::{Path, PathBuf};

/// Returns the directory of the newest version of a plugin that contains `file`, a path relative to that
/// directory. Blocks on disk I/O.
#[must_use]
pub fn newest_version_with(plugin: &Path, file: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(plugin).ok()?.flatten();
    let versions = entries.filter_map(|entry| Some((version(entry.file_name().to_str()?)?, entry.path())));
    // An interrupted installation leaves a version directory without all of its files.
    let complete = versions.filter(|(_, path)| path.join(file).is_file());
    complete.max_by_key(|(version, _)| *version).map(|(_, path)| path)
}

/// Parses the three numbers at the start of a version; a suffix such as `-beta` is ignored.
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
    fn newest_complete_version_is_returned() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["1.9.0", "1.10.2-beta", "2.0.0", "latest"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
            if name != "2.0.0" {
                std::fs::write(dir.path().join(name).join("plugin.json"), "{}").unwrap();
            }
        }
        assert_eq!(newest_version_with(dir.path(), "plugin.json"), Some(dir.path().join("1.10.2-beta")));
        assert_eq!(newest_version_with(&dir.path().join("none"), "plugin.json"), None);
    }
}
