//! Builds the web app when its sources changed since the last build.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::install::require_npm;
use crate::run::{npm, run};
use crate::{root, target};

/// Names in `web/` that are generated, and no part of the sources.
const GENERATED: [&str; 4] = ["node_modules", "dist", "test-results", "playwright-report"];

/// Returns the folder of the web app's sources.
pub fn folder() -> PathBuf {
    root().join("web")
}

/// Installs the npm packages unless those of the lock file are installed.
pub fn packages() -> anyhow::Result<()> {
    require_npm()?;
    let lock = std::fs::read(folder().join("package-lock.json")).context("read web/package-lock.json")?;
    // npm writes no stamp of its own that identifies the installed lock file.
    let stamp = folder().join("node_modules/.loopgate-lock");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    run(npm(&folder()).args(["ci", "--loglevel", "error"]))?;
    std::fs::write(&stamp, lock).with_context(|| format!("write {}", stamp.display()))
}

/// Builds the web app unless `web/dist` was built from the current sources.
pub fn build_if_stale() -> anyhow::Result<()> {
    if !folder().join("package.json").exists() {
        anyhow::bail!("web/ has no package.json: this clone is incomplete");
    }
    let sources = fingerprint(&folder())?;
    let stamp = target().join("xtask/web-sources");
    let built_sources = std::fs::read_to_string(&stamp).unwrap_or_default();
    if built_sources == sources && folder().join("dist/index.html").exists() {
        return Ok(());
    }
    packages()?;
    run(npm(&folder()).args(["run", "--silent", "build", "--", "--logLevel", "warn"]))?;
    std::fs::create_dir_all(target().join("xtask"))?;
    std::fs::write(&stamp, sources).with_context(|| format!("write {}", stamp.display()))
}

/// Returns a hash of the names and contents of all source files.
fn fingerprint(folder: &Path) -> anyhow::Result<String> {
    let mut files = BTreeMap::new();
    collect(folder, &mut files)?;
    let mut hasher = DefaultHasher::new();
    // Clones can share a target directory, and with it the stamp.
    root().hash(&mut hasher);
    files.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        if GENERATED.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&path, files)?;
        } else {
            files.insert(path.clone(), std::fs::read(&path)?);
        }
    }
    Ok(())
}
