//! The directories of a repository that may contain an application: the packages of its workspaces, and
//! directories with usual names. One level only.

use std::collections::BTreeSet;
use std::path::Path;

use loopgate_home::{Directory, EntryKind, ProjectFiles};
use serde_json::Value;

/// Directories that are searched in addition to the packages of workspaces, in this order.
pub const PLACES: [&str; 7] = ["apps/*", "packages/*", "frontend", "web", "client", "backend", "server"];

/// Limit for large repositories: each directory costs about 20 attempts to open a file.
const MAX_DIRECTORIES: usize = 200;

/// A directory below the root of a repository.
#[derive(Debug)]
pub(super) struct Subdirectory {
    /// Path relative to the root.
    pub(super) path: String,
    /// Whether it belongs to a workspace of the root, whose lock file it shares.
    pub(super) is_member: bool,
}

/// Returns the directories to search, each once: the packages of workspaces in the order of their declaration,
/// then [`PLACES`].
pub(super) fn list(tree: &Directory, root: &ProjectFiles<'_>) -> Vec<Subdirectory> {
    let patterns = workspace_patterns(root);
    let excluded: BTreeSet<String> = patterns
        .iter()
        .filter_map(|pattern| pattern.strip_prefix('!'))
        .flat_map(|pattern| matching(tree, pattern))
        .collect();
    let members = patterns.iter().filter(|pattern| !pattern.starts_with('!'));
    let members = members.flat_map(|pattern| matching(tree, pattern)).filter(|path| !excluded.contains(path));
    let members = members.map(|path| Subdirectory { path, is_member: true });
    let usual = PLACES.iter().flat_map(|pattern| matching(tree, pattern));
    let usual = usual.map(|path| Subdirectory { path, is_member: false });
    let mut seen = BTreeSet::new();
    let unique = members.chain(usual).filter(|directory| seen.insert(directory.path.clone()));
    unique.take(MAX_DIRECTORIES).collect()
}

/// Returns the patterns of workspaces in `package.json` (npm, yarn, bun) and `pnpm-workspace.yaml`.
fn workspace_patterns(root: &ProjectFiles<'_>) -> Vec<String> {
    let manifest = root.json("package.json").unwrap_or_default();
    let declared = manifest.get("workspaces");
    let declared = declared.and_then(|all| all.as_array().or_else(|| all.get("packages")?.as_array()));
    let declared = declared.into_iter().flatten().filter_map(Value::as_str).map(ToOwned::to_owned);
    declared.chain(pnpm_patterns(&root.text("pnpm-workspace.yaml").unwrap_or_default())).collect()
}

/// Returns the items of the list `packages`, in the block style or the flow style of YAML.
fn pnpm_patterns(text: &str) -> Vec<String> {
    let mut lines = text.lines().map(|line| line.split(" #").next().unwrap_or_default().trim_end());
    let Some(first) = lines.find_map(|line| line.strip_prefix("packages:")) else { return Vec::new() };
    let flow = first.trim().trim_start_matches('[').trim_end_matches(']').split(',').map(ToOwned::to_owned);
    let block = lines
        .take_while(|line| line.is_empty() || line.starts_with([' ', '-', '#']))
        .filter_map(|line| line.trim().strip_prefix('-').map(ToOwned::to_owned));
    let items = flow.chain(block).map(|item| item.trim().trim_matches(['"', '\'']).to_owned());
    items.filter(|item| !item.is_empty()).collect()
}

/// Returns the directories that match a pattern: a path, or a path whose last component is `*`. Other wildcards
/// are not supported, and `**` matches one level.
fn matching(tree: &Directory, pattern: &str) -> Vec<String> {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    let (parent, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    if !matches!(name, "*" | "**") {
        let is_directory = tree.kind(Path::new(pattern)) == Some(EntryKind::Directory);
        return Some(pattern.to_owned()).filter(|_| is_directory && is_usable(pattern)).into_iter().collect();
    }
    let entries = tree.directory(Path::new(parent)).and_then(|parent| parent.entries()).unwrap_or_default();
    let directories = entries.into_iter().filter(|entry| entry.kind == EntryKind::Directory);
    let names = directories.filter_map(|entry| entry.name.into_string().ok());
    let paths = names.map(|name| if parent.is_empty() { name } else { format!("{parent}/{name}") });
    let mut paths: Vec<String> = paths.filter(|path| is_usable(path)).collect();
    paths.sort_unstable();
    paths
}

/// Returns whether a path is shown and stored as it is: no hidden directory, no dependency, no control character.
fn is_usable(path: &str) -> bool {
    !path.is_empty()
        && !path.chars().any(char::is_control)
        && path.split('/').all(|part| !part.starts_with('.') && part != "node_modules")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_pnpm_are_read() {
        for (text, expected) in [
            (
                "packages:\n  - 'apps/*' # web\n\n  # comment\n  - \"packages/*\"\ncatalog:\n  - no\n",
                &["apps/*", "packages/*"][..],
            ),
            ("packages:\n- apps/*\n- '!apps/old'\n", &["apps/*", "!apps/old"]),
            ("packages: [\"a/*\", 'b']\n", &["a/*", "b"]),
            ("onlyBuiltDependencies:\n  - esbuild\n", &[]),
            ("", &[]),
        ] {
            assert_eq!(pnpm_patterns(text), expected, "{text}");
        }
    }
}
