//! Further repositories of a loop, each with a unique short name.

use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::{expand_home, untrusted};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedDirectory {
    /// Name that is unique among the peers and the primary repository.
    pub name: String,
    /// Path without symbolic links.
    pub path: PathBuf,
}

/// Resolves and names the directories; relative ones start at `project`. Duplicates, and directories that overlap with the work directory, are
/// dropped.
///
/// # Errors
/// Returns the line to print.
pub fn resolve(workdir: &Path, project: &Path, dirs: &[String]) -> Result<Vec<AddedDirectory>, String> {
    let mut peers: Vec<AddedDirectory> = Vec::new();
    for dir in dirs {
        let path = std::fs::canonicalize(project.join(expand_home(dir)))
            .ok()
            .filter(|path| path.is_dir())
            .ok_or_else(|| format!("Error: --add-dir path does not exist or is not a directory: {dir}"))?;
        // The paths are stored as one list that is separated by `|`.
        if path.display().to_string().contains(['|', '\n', '\r']) {
            return Err(format!("Error: --add-dir path must not contain '|' or a line break: {dir}"));
        }
        let overlaps = path.starts_with(workdir) || workdir.starts_with(&path);
        if overlaps || peers.iter().any(|peer| peer.path == path) {
            continue;
        }
        let taken_names: Vec<&str> =
            // The name of the work directory is reserved, as that of the primary repository.
            base_name(workdir).into_iter().chain(peers.iter().map(|peer| peer.name.as_str())).collect();
        let name = free_name(&preferred_name(&path), &path, &taken_names);
        peers.push(AddedDirectory { name, path });
    }
    Ok(peers)
}

/// Returns the paths of the directories; see [`resolve`].
///
/// # Errors
/// Returns the line to print.
pub fn paths(workdir: &Path, project: &Path, dirs: &[String]) -> Result<Vec<PathBuf>, String> {
    Ok(resolve(workdir, project, dirs)?.into_iter().map(|peer| peer.path).collect())
}

/// Returns the name in the repository's identity file, or that of its directory.
fn preferred_name(path: &Path) -> String {
    let identity: Option<Value> = untrusted::read_json(&path.join(STATE_DIR).join(".repo-identity.json"));
    identity
        .as_ref()
        .and_then(|identity| identity.get("name")?.as_str())
        .filter(|name| !name.is_empty() && !name.contains(['|', '=', '\n', '\r']))
        .or_else(|| base_name(path))
        .unwrap_or("repository")
        .to_owned()
}

fn base_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// Extends a taken name by as many parent directories as make it unique, or by a number.
fn free_name(name: &str, path: &Path, taken_names: &[&str]) -> String {
    if !taken_names.contains(&name) {
        return name.to_owned();
    }
    let mut above: Vec<&str> = path
        .parent()
        .into_iter()
        .flat_map(Path::components)
        .filter_map(|part| match part {
            std::path::Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect();
    // `api/api` would otherwise become `api-api`.
    if above.last() == Some(&name) {
        above.pop();
    }
    let by_path = (0..above.len()).rev().map(|first| format!("{name}-{}", above[first..].join("-")));
    let by_number = (2..).map(|number| format!("{name}-{number}"));
    let free = by_path.chain(by_number).find(|candidate| !taken_names.contains(&candidate.as_str()));
    free.unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_extended_by_parent_directories() {
        let root = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(root.path()).unwrap();
        let dir = |path: &str| {
            let dir = base.join(path);
            std::fs::create_dir_all(&dir).unwrap();
            dir.display().to_string()
        };
        let work = PathBuf::from(dir("primary"));
        let dirs =
            [dir("one/api"), dir("two/api"), dir("x/two/api"), dir("one/api"), dir("primary/inner"), dir("")];
        let peers = resolve(&work, &base, &dirs).unwrap();
        let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
        assert_eq!(names, ["api", "api-two", "api-x-two"]);
        assert_eq!(
            resolve(&work, &base, &["/nope".to_owned()]),
            Err("Error: --add-dir path does not exist or is not a directory: /nope".to_owned())
        );
    }

    #[test]
    fn identity_file_determines_the_name() {
        let root = tempfile::tempdir().unwrap();
        let peer = root.path().join("checkout/.loopgate");
        std::fs::create_dir_all(&peer).unwrap();
        std::fs::create_dir_all(root.path().join("work")).unwrap();
        std::fs::write(peer.join(".repo-identity.json"), r#"{"name":"billing"}"#).unwrap();
        let work = std::fs::canonicalize(root.path().join("work")).unwrap();
        let peers =
            resolve(&work, root.path(), &[root.path().join("checkout").display().to_string()]).unwrap();
        assert_eq!(peers[0].name, "billing");
    }
}
