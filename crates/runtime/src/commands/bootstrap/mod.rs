//! BOOTSTRAP: the assistant analyzes repositories one after the other and writes agent definitions for each.
//!
//! Contains the list of repositories, the script that visits them, and the parser of the results. Launch and
//! completion are those of all loop commands. PLAN and EXECUTE run the same plugin for worktrees without
//! agents.

mod preflight;
mod result;

use std::path::{Path, PathBuf};

use loopgate_api::bootstrap::{BootstrapOrder, BootstrapRepo};
use loopgate_api::mcp::McpRecord;
use loopgate_api::shell::quoted;
use loopgate_home::{Repos, Repository, Sandbox, expand_home};
use serde::{Deserialize, Serialize};

pub(crate) use preflight::AgentBootstrap;
pub(crate) use result::conclude;

use crate::process::spawn;
use crate::workspace::repository::{self, Repositories};
use crate::workspace::worktree;
use loopgate_tools::environment::TrustGuard;

/// File with the list of repositories, in the work directory.
pub(crate) const MANIFEST: &str = "bootstrap-manifest.json";
const RUN: &str = include_str!("run.sh");
// Slash command of the plugin.
const COMMAND: &str = "/bootstrap:agent-bootstrap";

/// Repository to bootstrap, as listed in the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BootstrapTarget {
    full_name: String,
    /// Empty when no local path may be used.
    local_path: String,
    branch: String,
    skip: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skip_reason: Option<String>,
}

impl BootstrapTarget {
    fn skipped(full_name: String, branch: String, path: Option<&Path>, reason: &str) -> Self {
        Self {
            full_name,
            local_path: path.map(path_string).unwrap_or_default(),
            branch,
            skip: true,
            skip_reason: Some(reason.to_owned()),
        }
    }

    /// Returns the directory that the assistant is started in, unless the repository is skipped.
    pub(crate) fn visited(&self) -> Option<&Path> {
        (!self.skip).then(|| Path::new(&self.local_path))
    }

    /// Checks the path of a repository. Performs blocking I/O.
    fn at(sandbox: &Sandbox, full_name: String, branch: Option<String>, path: &Path) -> Self {
        let allowed = sandbox.check(path);
        let default_branch = sandbox.repository_at(path).as_ref().and_then(Repository::default_branch);
        let requested = branch.filter(|branch| !branch.trim().is_empty());
        let branch = requested.or(default_branch).unwrap_or_default();
        let Ok(allowed) = allowed else {
            return Self::skipped(full_name, branch, None, "outside sandbox");
        };
        let path = allowed.as_path();
        if !path.exists() {
            return Self::skipped(full_name, branch, Some(path), "path does not exist");
        }
        if !path.is_dir() {
            return Self::skipped(full_name, branch, Some(path), "path is not a directory");
        }
        // The plugin writes files into the clone that the user does not want to see in `git status`.
        if let Err(error) = worktree::exclude(sandbox, path) {
            tracing::info!(%error, "failed to exclude the files of a bootstrap from git");
        }
        Self {
            full_name,
            local_path: path_string(allowed.canonical()),
            branch,
            skip: false,
            skip_reason: None,
        }
    }
}

fn path_string(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

const NOT_FOUND: &str = "not found locally";

/// Returns the repositories of a request, or all known repositories if it names none.
///
/// # Errors
/// Fails when the list of known repositories cannot be read.
pub(crate) async fn targets(
    repositories: &Repositories,
    order: Option<&BootstrapOrder>,
) -> Result<Vec<BootstrapTarget>, String> {
    let Some(order) = order else {
        let (repos, sandbox) = (repositories.repos.clone(), repositories.sandbox.clone());
        let targets = tokio::task::spawn_blocking(move || all(&repos, &sandbox));
        return targets.await.map_err(|error| error.to_string())?;
    };
    let mut targets = Vec::new();
    for BootstrapRepo { full_name, branch, local_path } in order.repos.clone() {
        let path = match local_path.filter(|path| !path.trim().is_empty()) {
            Some(path) => Some(expand_home(path.trim())),
            None => find(repositories, &full_name).await,
        };
        let sandbox = repositories.sandbox.clone();
        let check = move || match path {
            Some(path) => BootstrapTarget::at(&sandbox, full_name, branch, &path),
            None => {
                let branch = branch.unwrap_or_default();
                BootstrapTarget::skipped(full_name, branch, None, NOT_FOUND)
            }
        };
        targets.push(tokio::task::spawn_blocking(check).await.map_err(|error| error.to_string())?);
    }
    Ok(targets)
}

async fn find(repositories: &Repositories, full_name: &str) -> Option<PathBuf> {
    repository::find(repositories, &full_name.trim().parse().ok()?).await
}

/// Returns all known repositories. Performs blocking I/O.
fn all(repos: &Repos, sandbox: &Sandbox) -> Result<Vec<BootstrapTarget>, String> {
    let list = repos.list().map_err(|error| error.to_string())?;
    let target = |path: PathBuf| match sandbox.origin_of(&path) {
        Some(name) => BootstrapTarget::at(sandbox, name.to_string(), None, &path),
        None => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            BootstrapTarget::skipped(name, String::new(), None, NOT_FOUND)
        }
    };
    Ok(list.repos.iter().map(|repo| target(expand_home(&repo.path))).collect())
}

/// Generates the script that starts the assistant in each repository.
pub(crate) fn script(
    order: Option<&BootstrapOrder>,
    targets: &[BootstrapTarget],
    work_dir: &Path,
    plugin: Option<&Path>,
    mcp: &McpRecord,
    guard: &TrustGuard,
) -> String {
    let options = order.and_then(|order| order.options.clone()).unwrap_or_default();
    let mut text = RUN.to_owned();
    for (number, target) in targets.iter().enumerate().filter(|(_, target)| !target.skip) {
        let mut prompt = format!("{COMMAND} --output-dir {}", work_dir.join(agents_dir(number)).display());
        if let Some(depth) = options.depth {
            prompt.push_str(&format!(" --depth {}", depth.as_str()));
        }
        if options.update == Some(true) {
            prompt.push_str(" --update");
        }
        let mut words = vec![number.to_string(), target.local_path.clone(), prompt];
        words.extend(guard.args.iter().cloned());
        words.push("-p".to_owned());
        words.extend(spawn::stream_args(mcp).iter().map(|arg| arg.to_string_lossy().into_owned()));
        // The agents are written into the work directory, outside the repository.
        words.extend(["--add-dir".to_owned(), path_string(work_dir)]);
        words.extend(plugin.into_iter().flat_map(|plugin| ["--plugin-dir".to_owned(), path_string(plugin)]));
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        text.push_str(&format!("bootstrap {}\n", words.join(" ")));
    }
    // The outcome of each repository is in its own file. A failed one must not fail the loop.
    text.push_str("exit 0\n");
    text
}

fn agents_dir(number: usize) -> String {
    format!("repo-{number}-agents")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loopgate_home::{Overrides, SettingsStore};

    use super::*;

    #[test]
    fn repository_with_unusable_path_is_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let overrides = Overrides { sandbox_base_directory: Some(base.clone()), ..Overrides::default() };
        let settings = Arc::new(SettingsStore::open(&base.join("s.toml"), overrides).unwrap());
        let sandbox = Sandbox::new(settings, Path::new("/nonexistent-data"));
        std::fs::create_dir(base.join("existing")).unwrap();
        std::fs::write(base.join("file"), "").unwrap();
        let at = |path: &Path| {
            let target = BootstrapTarget::at(&sandbox, "acme/x".to_owned(), None, path);
            (target.skip_reason.unwrap_or_default(), target.local_path)
        };
        assert_eq!(at(&base.join("existing")), (String::new(), path_string(&base.join("existing"))));
        assert_eq!(
            at(&base.join("missing")),
            ("path does not exist".to_owned(), path_string(&base.join("missing")))
        );
        assert_eq!(
            at(&base.join("file")),
            ("path is not a directory".to_owned(), path_string(&base.join("file")))
        );
        assert_eq!(at(Path::new("/etc")), ("outside sandbox".to_owned(), String::new()));
    }

    #[test]
    fn script_arguments_are_quoted() {
        let target = |path: &str, skip| BootstrapTarget {
            full_name: "acme/x".to_owned(),
            local_path: path.to_owned(),
            branch: "main".to_owned(),
            skip,
            skip_reason: None,
        };
        let order: BootstrapOrder = serde_json::from_str(
            r#"{"repos":[{"fullName":"acme/x"}],"options":{"depth":"quick","update":true}}"#,
        )
        .unwrap();
        let targets = [target("/skipped", true), target("/it's $(here)", false)];
        let server = Some(("team".to_owned(), "https://mcp.example.test/mcp".to_owned()));
        let mcp = McpRecord::new(true, server, None);
        let text = script(Some(&order), &targets, Path::new("/w"), None, &mcp, &TrustGuard::default());
        let last = text.lines().rev().nth(1).unwrap();
        let prompt = "'/bootstrap:agent-bootstrap --output-dir /w/repo-1-agents --depth quick --update'";
        assert!(last.starts_with(&format!(r"bootstrap 1 '/it'\''s $(here)' {prompt} -p ")), "{last}");
        assert!(last.contains(",mcp__team__*' "), "{last}");
        assert!(!text.contains("/skipped"));
    }
}
