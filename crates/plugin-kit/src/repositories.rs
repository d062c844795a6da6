//! `loopgate repos discover`: finds the repositories that a plan may depend on.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_api::names::STATE_DIR;
use loopgate_home::{EntryKind, untrusted};
use serde::{Deserialize, Serialize};

use crate::config_env::ConfigEnv;
use crate::console::print_result;
use crate::loop_run::state_file::LoopState;
use crate::variables as var;

/// Repositories of the user's workspace: `name:path`, comma-separated.
const WORKSPACE_REPOS: &str = "LOOPGATE_WORKSPACE_REPOS";

/// Finds repositories related to the current one.
#[derive(Debug, clap::Subcommand)]
pub enum ReposCommand {
    /// Print the current repository and its peers as a JSON object
    Discover(DiscoverArgs),
}

/// Arguments of `repos discover`.
#[derive(Debug, clap::Args)]
pub struct DiscoverArgs {
    /// Root directory of the project
    #[arg(default_value = ".")]
    project_root: PathBuf,
}

impl ReposCommand {
    /// Prints the result as JSON. Exits with 1 when the project does not exist.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let Self::Discover(args) = self;
        let discovery = discover(&args.project_root)
            .and_then(|discovery| serde_json::to_string(&discovery).map_err(|error| error.to_string()));
        print_result(discovery.map_err(|message| format!("Error: {message}")))
    }
}

/// Source of the list of peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum DiscoveryMethod {
    /// Further repositories of the loop.
    AddDir,
    /// Repositories listed in the environment.
    EnvVar,
    /// Sibling directories of the project with an identity file.
    SiblingScan,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Discovery {
    current_repo: DiscoveredRepository,
    discovery_method: DiscoveryMethod,
    peers: Vec<DiscoveredRepository>,
    monorepo: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct DiscoveredRepository {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    path: PathBuf,
    /// Whether the loop works in the repository too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    local: bool,
}

/// Content of `.loopgate/.repo-identity.json`, with which a repository describes itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RepoIdentity {
    name: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    discoverable: Option<bool>,
}

impl RepoIdentity {
    fn of(path: &Path) -> Option<Self> {
        untrusted::read_json(&path.join(STATE_DIR).join(".repo-identity.json"))
    }
}

impl DiscoveredRepository {
    fn at(path: PathBuf, default_name: Option<&str>, local: bool) -> Self {
        let identity = RepoIdentity::of(&path).unwrap_or_default();
        let base = path.file_name().map(|name| name.to_string_lossy().into_owned());
        Self {
            name: identity.name.or_else(|| default_name.map(str::to_owned)).or(base).unwrap_or_default(),
            kind: identity.kind.unwrap_or_else(|| "unknown".to_owned()),
            path,
            local,
        }
    }
}

fn discover(root: &Path) -> Result<Discovery, String> {
    let root = std::fs::canonicalize(root).map_err(|error| format!("{}: {error}", root.display()))?;
    let current_repo = DiscoveredRepository::at(root.clone(), None, false);
    let mut peers: Vec<DiscoveredRepository> = Vec::new();
    let mut add = |path: &Path, default_name: Option<&str>, local: bool| {
        // Listed directories may not exist on this machine.
        let Ok(path) = std::fs::canonicalize(path) else { return };
        if path.is_dir() && path != root && peers.iter().all(|peer| peer.path != path) {
            peers.push(DiscoveredRepository::at(path, default_name, local));
        }
    };
    // The loop's own peers first: with equal paths, the first entry decides about the name and `local`.
    let (dirs, names) = (loop_variable(var::ADD_DIRS), loop_variable(var::ADD_DIR_NAMES));
    let mut names = names.split('|');
    for dir in dirs.split('|').filter(|dir| !dir.is_empty()) {
        add(Path::new(dir), names.next().filter(|name| !name.is_empty()), true);
    }
    let has_loop_peers = !dirs.is_empty();
    let workspace = var::text(WORKSPACE_REPOS);
    let discovery_method = if let Some(list) = &workspace {
        for (name, path) in list.split(',').filter_map(|entry| entry.trim().split_once(':')) {
            // Relative paths in the environment refer to the project.
            add(&expanded(path.trim(), &root), Some(name.trim()), false);
        }
        DiscoveryMethod::EnvVar
    } else {
        for sibling in siblings(&root) {
            add(&sibling, None, false);
        }
        if has_loop_peers { DiscoveryMethod::AddDir } else { DiscoveryMethod::SiblingScan }
    };
    let has = |name: &str| root.join(name).is_dir();
    let monorepo = current_repo.kind == "monorepo" || has("apps") || has("packages");
    Ok(Discovery { current_repo, discovery_method, peers, monorepo })
}

/// Returns a variable of the loop from the environment, or from the settings that set-up stored in the work
/// directory.
fn loop_variable(name: &str) -> String {
    let from_config =
        || ConfigEnv::load(Path::new(&var::text(var::WORKDIR)?)).ok()?.get(name).map(str::to_owned);
    var::text(name).or_else(from_config).unwrap_or_default()
}

/// Returns the paths of the peers of the current directory's project, sorted.
pub fn peer_paths() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = discover(Path::new("."))
        .map(|discovery| discovery.peers.into_iter().map(|peer| peer.path).collect())
        .unwrap_or_default();
    paths.sort();
    paths
}

/// Repository that a loop works in.
#[derive(Debug)]
pub struct ProjectRepository {
    /// Short name; `None` for the project.
    pub name: Option<String>,
    /// Root directory of the repository.
    pub path: PathBuf,
}

/// Returns the project that the current directory is in, and the further repositories in the settings of set-up.
///
/// # Errors
/// Returns the line to print when the current directory does not exist.
pub fn loop_repositories(workdir: &Path) -> Result<Vec<ProjectRepository>, String> {
    let current = std::env::current_dir().map_err(|error| format!("Error: no current directory: {error}"))?;
    let project = project_root(&current, workdir);
    let config = ConfigEnv::load(workdir).unwrap_or_default();
    let peers =
        config.get(var::REPO_MAP).unwrap_or_default().split('|').filter_map(|entry| entry.split_once('='));
    let peers =
        peers.map(|(name, path)| ProjectRepository { name: Some(name.to_owned()), path: path.into() });
    Ok(std::iter::once(ProjectRepository { name: None, path: project }).chain(peers).collect())
}

/// Returns the project of a loop from a directory in it: where the state file of the loop is, else the working tree.
pub(crate) fn project_root(current: &Path, workdir: &Path) -> PathBuf {
    let real = |path: &Path| path.canonicalize().ok();
    let is_of_loop =
        |root: &&Path| LoopState::load(root).is_ok_and(|state| real(&state.workdir) == real(workdir));
    let is_working_tree = |root: &&Path| root.join(".git").symlink_metadata().is_ok();
    let root = current.ancestors().find(is_of_loop).or_else(|| current.ancestors().find(is_working_tree));
    root.unwrap_or(current).to_owned()
}

/// Expands `~/`, and resolves a relative path against the project.
fn expanded(path: &str, root: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => std::env::home_dir().unwrap_or_default().join(rest),
        None => root.join(path),
    }
}

/// Returns the sibling directories with an identity that does not opt out of discovery, sorted.
fn siblings(root: &Path) -> Vec<PathBuf> {
    let Some(parent) = root.parent() else { return Vec::new() };
    let mut paths: Vec<PathBuf> = untrusted::entries(parent)
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::Directory)
        .map(|entry| parent.join(entry.name))
        .filter(|path| RepoIdentity::of(path).is_some_and(|identity| identity.discoverable != Some(false)))
        .collect();
    paths.sort();
    paths
}
