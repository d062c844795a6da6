//! State that is shared by all handlers. The pipeline has a separate state.

use std::path::PathBuf;
use std::sync::Arc;

use loopgate_agents::Agents;
use loopgate_api::names::STATE_DIR;
use loopgate_deploy::{DeployTimeouts, Deploys};
use loopgate_files::FileSearch;
use loopgate_git_cache::GitCache;
use loopgate_home::{Repos, Sandbox, Sessions, SettingsStore};
use loopgate_learnings::{LearningPrograms, Learnings, LearningsConfig, PluginDirs};
use loopgate_review::Reviews;
use loopgate_runtime::tickets::LineCounts;
use loopgate_runtime::{Runtime, WorktreeLayout};
use loopgate_tools::code_host::CodeHost;
use loopgate_tools::git::{BranchStatusBatch, Git};
use loopgate_tools::mcp::Detector;
use loopgate_tools::programs::Programs;

use crate::approval::Approvals;
use crate::approval::command_line::ApprovalsCommand;
use crate::blocking::Limiter;
use crate::config::{GatewayConfig, ServerLimits};
use crate::health::HealthChecks;

/// Shared state of the handlers. Cloning is cheap: it copies an `Arc`.
#[derive(Clone)]
pub(crate) struct App(Arc<AppState>);

pub(crate) struct AppState {
    pub(crate) settings: Arc<SettingsStore>,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) repos: Arc<Repos>,
    pub(crate) sessions: Sessions,
    pub(crate) programs: Arc<Programs>,
    pub(crate) git: Git,
    pub(crate) git_cache: GitCache,
    /// Shared by all handlers, so that one limit applies to all requests to the code host.
    pub(crate) code_host: CodeHost,
    pub(crate) runtime: Option<Arc<Runtime>>,
    pub(crate) agents: Option<Arc<Agents>>,
    pub(crate) reviews: Option<Reviews>,
    pub(crate) worktree_layout: WorktreeLayout,
    pub(crate) deploys: Deploys,
    pub(crate) learnings: Learnings,
    pub(crate) file_search: FileSearch,
    /// Kept between requests, because pages read the end of a log repeatedly while it grows.
    pub(crate) line_counts: Arc<LineCounts>,
    pub(crate) branch_statuses: BranchStatusBatch,
    pub(crate) searches: Limiter,
    pub(crate) unpackings: Limiter,
    pub(crate) diffs: Limiter,
    pub(crate) forms: Limiter,
    pub(crate) health: HealthChecks,
    pub(crate) mcp: Detector,
    /// Read-only for handlers: approvals are decided on the control socket, never over HTTP.
    pub(crate) approvals: Approvals,
    /// Command that responses show to the owner for deciding a request.
    pub(crate) approvals_command: ApprovalsCommand,
    pub(crate) limits: ServerLimits,
    pub(crate) version: String,
    /// Private directory for request bodies that are too large to buffer in memory.
    pub(crate) spool_dir: PathBuf,
}

impl App {
    pub(crate) fn new(config: &GatewayConfig, approvals: Approvals) -> Self {
        let approvals_command = ApprovalsCommand::new(&config.data_dir);
        let git = Git::new(config.programs.clone(), config.sandbox.clone());
        let code_host = CodeHost::new(config.programs.clone(), git.clone());
        Self(Arc::new(AppState {
            settings: config.settings.clone(),
            sandbox: config.sandbox.clone(),
            repos: config.repos.clone(),
            sessions: Sessions::new(config.settings.clone()),
            programs: config.programs.clone(),
            git_cache: GitCache::new(git.clone()),
            reviews: config
                .agents
                .clone()
                .map(|agents| Reviews::new(agents, config.sandbox.clone(), git.clone(), code_host.clone())),
            code_host,
            runtime: config.runtime.clone(),
            agents: config.agents.clone(),
            worktree_layout: WorktreeLayout::new(config.repos.clone(), config.sandbox.clone()),
            branch_statuses: BranchStatusBatch::new(git.clone()),
            git,
            deploys: Deploys::open(&config.data_dir, config.programs.clone(), DeployTimeouts::default()),
            learnings: learnings(config),
            line_counts: Arc::default(),
            file_search: FileSearch::new(config.sandbox.clone()),
            searches: Limiter::one_per_processor(),
            unpackings: Limiter::one_per_processor(),
            diffs: Limiter::one_per_processor(),
            forms: Limiter::one_per_processor(),
            health: HealthChecks::new(
                config.programs.clone(),
                config.plugin_root.clone(),
                config.repos.clone(),
                approvals.clone(),
                approvals_command.clone(),
                config.limits.probe_timeout,
            ),
            mcp: detector(config),
            approvals,
            approvals_command,
            limits: config.limits,
            version: config.version.clone(),
            spool_dir: config.data_dir.clone(),
        }))
    }
}

/// Creates the learnings store in the state directory below the home directory, and reads the patterns and
/// plugins that the assistant keeps in `~/.claude`.
fn learnings(config: &GatewayConfig) -> Learnings {
    let state_dir = config.state_dir.clone().unwrap_or_else(|| config.data_dir.join(STATE_DIR));
    let assistant_dir = state_dir.parent().map(|home| home.join(".claude"));
    let programs = config.runtime.as_ref().map(|runtime| runtime.learning_programs.clone());
    let config = LearningsConfig {
        directory: state_dir.join("learnings"),
        legacy_patterns: assistant_dir.as_ref().map(|dir| dir.join(".learnings/org-patterns.toon")),
        plugins: PluginDirs {
            bundled: config.plugin_root.clone(),
            installed: assistant_dir.map(|dir| dir.join("plugins/cache/loopgate")),
        },
    };
    Learnings::new(config, programs.map(|programs| programs as Arc<dyn LearningPrograms>))
}

/// Returns the runtime's detector, so that loops and pages share its cache, or a new one without a runtime.
fn detector(config: &GatewayConfig) -> Detector {
    let runtime_detector = config.runtime.as_ref().map(|runtime| runtime.mcp.clone());
    runtime_detector.unwrap_or_else(|| Detector::new(config.programs.clone(), config.sandbox.clone()))
}

impl std::ops::Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}
