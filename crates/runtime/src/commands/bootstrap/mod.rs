//! BOOTSTRAP: the assistant looks at repositories, one after the other, and writes agents for each.
//!
//! Owns the list of the repositories that are meant, the script that visits them, and what is read
//! from what they leave. How a loop is started and finished it leaves to the pipeline of all
//! commands. Before PLAN and EXECUTE the same is tried for their worktrees.

mod preflight;
mod result;

use std::path::{Path, PathBuf};

use loopgate_api::bootstrap::{BootstrapOrder, BootstrapRepo};
use loopgate_api::mcp::McpRecord;
use loopgate_home::{Repos, Repository, Sandbox, expand_home};
use serde::{Deserialize, Serialize};

pub(crate) use preflight::AgentBootstrap;
pub(crate) use result::conclude;

use crate::process::spawn;
use crate::workspace::repository::{self, Repositories};
use crate::workspace::worktree;
use loopgate_tools::environment::TrustGuard;

/// The list of the repositories, among the files of the run.
pub(crate) const MANIFEST: &str = "bootstrap-manifest.json";
const RUN: &str = include_str!("run.sh");
/// The command of the plugin.
const COMMAND: &str = "/bootstrap:agent-bootstrap";

/// A repository that is meant, as the manifest lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BootstrapTarget {
    full_name: String,
    /// Empty when there is none that may be used.
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
            local_path: path.map(shown).unwrap_or_default(),
            branch,
            skip: true,
            skip_reason: Some(reason.to_owned()),
        }
    }

    /// Where the assistant looks at it, if it does.
    pub(crate) fn visited(&self) -> Option<&Path> {
        (!self.skip).then(|| Path::new(&self.local_path))
    }

    /// Looks at the place of a repository. Blocks on the disk.
    fn at(sandbox: &Sandbox, full_name: String, branch: Option<String>, path: &Path) -> Self {
        let allowed = sandbox.check(path);
        let known = sandbox.repository_at(path).as_ref().and_then(Repository::default_branch);
        let named = branch.filter(|branch| !branch.trim().is_empty());
        let branch = named.or(known).unwrap_or_default();
        let Ok(allowed) = allowed else {
            return Self::skipped(full_name, branch, None, "outside sandbox");
        };
        let place = allowed.as_path();
        if !place.exists() {
            return Self::skipped(full_name, branch, Some(place), "path does not exist");
        }
        if !place.is_dir() {
            return Self::skipped(full_name, branch, Some(place), "path is not a directory");
        }
        if let Err(error) = worktree::exclude(sandbox, place) {
            tracing::info!(%error, "the files of a bootstrap could not be excluded from git");
        }
        Self { full_name, local_path: shown(allowed.canonical()), branch, skip: false, skip_reason: None }
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

const NOT_FOUND: &str = "not found locally";

/// The repositories that an order means: those that it names, else all that are known.
///
/// # Errors
/// Why the list of known repositories cannot be read.
pub(crate) async fn targets(
    repositories: &Repositories,
    order: Option<&BootstrapOrder>,
) -> Result<Vec<BootstrapTarget>, String> {
    let Some(order) = order else {
        let (repos, sandbox) = (repositories.repos.clone(), repositories.sandbox.clone());
        let known = tokio::task::spawn_blocking(move || all(&repos, &sandbox));
        return known.await.map_err(|error| error.to_string())?;
    };
    let mut targets = Vec::new();
    for BootstrapRepo { full_name, branch, local_path } in order.repos.clone() {
        let path = match local_path.filter(|path| !path.trim().is_empty()) {
            Some(path) => Some(expand_home(path.trim())),
            None => find(repositories, &full_name).await,
        };
        let sandbox = repositories.sandbox.clone();
        let look = move || match path {
            Some(path) => BootstrapTarget::at(&sandbox, full_name, branch, &path),
            None => {
                let branch = branch.unwrap_or_default();
                BootstrapTarget::skipped(full_name, branch, None, NOT_FOUND)
            }
        };
        targets.push(tokio::task::spawn_blocking(look).await.map_err(|error| error.to_string())?);
    }
    Ok(targets)
}

async fn find(repositories: &Repositories, full_name: &str) -> Option<PathBuf> {
    repository::find(repositories, &full_name.trim().parse().ok()?).await
}

/// Every repository of the list. Blocks on the disk.
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

/// The script that visits the repositories.
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
        let mut wish = format!("{COMMAND} --output-dir {}", work_dir.join(agents_dir(number)).display());
        if let Some(depth) = options.depth {
            wish.push_str(&format!(" --depth {}", depth.as_str()));
        }
        if options.update == Some(true) {
            wish.push_str(" --update");
        }
        let mut words = vec![number.to_string(), target.local_path.clone(), wish];
        words.extend(guard.args.iter().map(|arg| (*arg).to_owned()));
        words.push("-p".to_owned());
        words.extend(spawn::stream_args(mcp).iter().map(|arg| arg.to_string_lossy().into_owned()));
        // What is written is outside of the repository.
        words.extend(["--add-dir".to_owned(), shown(work_dir)]);
        words.extend(plugin.into_iter().flat_map(|plugin| ["--plugin-dir".to_owned(), shown(plugin)]));
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        text.push_str(&format!("bootstrap {}\n", words.join(" ")));
    }
    // What became of a repository is in its file; the script itself has done its work.
    text.push_str("exit 0\n");
    text
}

fn agents_dir(number: usize) -> String {
    format!("repo-{number}-agents")
}

/// One quoted word of a shell command line.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loopgate_home::{Overrides, SettingsStore};

    use super::*;

    #[test]
    fn repository_is_skipped_by_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let overrides = Overrides { sandbox_base_directory: Some(base.clone()), ..Overrides::default() };
        let settings = Arc::new(SettingsStore::open(&base.join("s.toml"), overrides).unwrap());
        let sandbox = Sandbox::new(settings, Path::new("/nonexistent-data"));
        std::fs::create_dir(base.join("there")).unwrap();
        std::fs::write(base.join("file"), "").unwrap();
        let at = |path: &Path| {
            let target = BootstrapTarget::at(&sandbox, "acme/x".to_owned(), None, path);
            (target.skip_reason.unwrap_or_default(), target.local_path)
        };
        assert_eq!(at(&base.join("there")), (String::new(), shown(&base.join("there"))));
        assert_eq!(at(&base.join("gone")), ("path does not exist".to_owned(), shown(&base.join("gone"))));
        assert_eq!(at(&base.join("file")), ("path is not a directory".to_owned(), shown(&base.join("file"))));
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
        let wish = "'/bootstrap:agent-bootstrap --output-dir /w/repo-1-agents --depth quick --update'";
        assert!(last.starts_with(&format!(r"bootstrap '1' '/it'\''s $(here)' {wish} '-p' ")), "{last}");
        assert!(last.contains(",mcp__team__*' "), "{last}");
        assert!(!text.contains("/skipped"));
    }
}
