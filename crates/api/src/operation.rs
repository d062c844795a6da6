//! The 29 operations of the gateway, as named by approval policies and telemetry, with their risk tiers and
//! paths.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Risk tier of an operation, compared with the threshold of the approval policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RiskTier {
    /// Below all operations: as a threshold, it requires approval for each of them.
    None,
    /// Reads without private content.
    Low,
    /// Changes in worktrees, and reads of private content.
    Medium,
    /// Starts or removes things outside a worktree.
    High,
}

macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident = $id:tt, $tier:ident;)*) => {
        /// Identifier of an operation of the gateway.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
        pub enum OperationId {
            $($(#[$doc])* #[serde(rename = $id)] $variant,)*
        }

        impl OperationId {
            /// All operations in declaration order.
            pub const ALL: [Self; 29] = [$(Self::$variant),*];

            /// Returns the wire identifier, for example `git_action`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $id),* }
            }

            /// Returns the risk tier of the operation's most dangerous method.
            #[must_use]
            pub const fn risk(self) -> RiskTier {
                match self { $(Self::$variant => RiskTier::$tier),* }
            }
        }
    };
}

operations! {
    /// Starts the loop script of a ticket.
    OrchestratorLaunch = "orchestrator_launch", Medium;
    /// Starts a loop dispatched by the control plane.
    OrchestratorLoop = "orchestrator_loop", Medium;
    /// Cancels a loop of the control plane.
    OrchestratorLoopKill = "orchestrator_loop_kill", Medium;
    /// Sends a message to a running loop of the control plane.
    OrchestratorLoopMessage = "orchestrator_loop_message", Medium;
    /// The page's three-step planning flow.
    OrchestratorPlanLoop = "orchestrator_plan_loop", Medium;
    /// Reads the state of a ticket or work directory.
    OrchestratorStatus = "orchestrator_status", Low;
    /// Terminates a run by pid or ticket.
    OrchestratorKill = "orchestrator_kill", Medium;
    /// Runs a chat about a ticket.
    OrchestratorChat = "orchestrator_chat", Medium;
    /// Runs a chat about a review comment.
    OrchestratorCommentChat = "orchestrator_comment_chat", Medium;
    /// Generates the text of a commit message.
    OrchestratorCommitMessage = "orchestrator_commit_message", Medium;
    /// Lists and changes ticket sessions.
    OrchestratorSessions = "orchestrator_sessions", Medium;
    /// Reads the plan of a ticket.
    OrchestratorPlan = "orchestrator_plan", Medium;
    /// Reads the judges' report of a ticket.
    OrchestratorJudges = "orchestrator_judges", Medium;
    /// Reads the end of a ticket's log.
    OrchestratorLogs = "orchestrator_logs", Low;
    /// Reads and deletes stored chat messages.
    OrchestratorChatHistory = "orchestrator_chat_history", Medium;
    /// Runs the chat of the terminal page.
    TerminalChat = "terminal_chat", Medium;
    /// Runs the chat of a ticket page.
    TicketChat = "ticket_chat", Medium;
    /// Runs the chat of the run viewer.
    RunViewerChat = "run_viewer_chat", Medium;
    /// All reviewer routes except `argue`.
    ReviewerReview = "reviewer_review", Medium;
    /// Runs a debate with the reviewer.
    ReviewerArgue = "reviewer_argue", Medium;
    /// Local git operations in a repository.
    GitAction = "git_action", Medium;
    /// Operations on pull requests and the git user.
    GitPr = "git_pr", Medium;
    /// Looks up the worktree of a branch.
    GitBranchWorktree = "git_branch_worktree", Low;
    /// Reads health, version and MCP metadata.
    HealthCheck = "health_check", Low;
    /// Reads and changes the managed repositories.
    ReposConfig = "repos_config", Medium;
    /// Starts and stops deployments of repositories.
    Deploy = "deploy", High;
    /// Reads, extracts and processes learnings.
    Learnings = "learnings", Medium;
    /// Lists directories, searches files, handles uploads and attachments.
    Filesystem = "filesystem", Medium;
    /// Reads and sets the paths of the five external programs.
    BinaryPathsSettings = "binary_paths_settings", Medium;
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Path prefix of the gateway's authenticated routes.
pub const GATEWAY_PREFIX: &str = "/api/gateway/";

enum OperationRule {
    /// Matches exactly this path.
    Is(&'static str),
    /// Matches this path and all paths below it.
    Under(&'static str),
    /// Matches the paths below this path, but not the path itself.
    Below(&'static str),
}

/// Path rules, relative to [`GATEWAY_PREFIX`]; the first matching rule applies, so narrower paths come first.
const RULES: &[(OperationRule, OperationId)] = {
    use OperationId::*;
    use OperationRule::*;
    &[
        (Is("orchestrator/launch"), OrchestratorLaunch),
        (Is("orchestrator/loop"), OrchestratorLoop),
        (Is("orchestrator/loop/kill"), OrchestratorLoopKill),
        (Is("orchestrator/loop/message"), OrchestratorLoopMessage),
        (Below("orchestrator/plan-loop"), OrchestratorPlanLoop),
        (Under("orchestrator/status"), OrchestratorStatus),
        (Is("orchestrator/kill"), OrchestratorKill),
        (Below("orchestrator/chat"), OrchestratorChat),
        (Below("orchestrator/comment-chat"), OrchestratorCommentChat),
        (Below("orchestrator/commit-message"), OrchestratorCommitMessage),
        (Under("orchestrator/sessions"), OrchestratorSessions),
        (Below("orchestrator/plan"), OrchestratorPlan),
        (Below("orchestrator/judges"), OrchestratorJudges),
        (Below("orchestrator/logs"), OrchestratorLogs),
        (Below("orchestrator/chat-history"), OrchestratorChatHistory),
        (Is("terminal-chat"), TerminalChat),
        (Is("ticket-chat"), TicketChat),
        (Is("run-viewer-chat"), RunViewerChat),
        // Before `reviewer`, which also matches this path.
        (Below("reviewer/argue"), ReviewerArgue),
        (Below("reviewer"), ReviewerReview),
        (Is("git/branch-worktree"), GitBranchWorktree),
        (Under("git/pr"), GitPr),
        // The account at the code host, looked up for pull requests; not a local operation.
        (Is("git/user"), GitPr),
        (Under("git"), GitAction),
        (Is("health-check"), HealthCheck),
        (Is("version"), HealthCheck),
        (Is("mcp-auth"), HealthCheck),
        (Is("openapi.json"), HealthCheck),
        (Is("repos"), ReposConfig),
        (Under("deploy"), Deploy),
        (Under("learnings"), Learnings),
        (Is("orchestrator/record-learning-use"), Learnings),
        (Below("orchestrator/learnings-status"), Learnings),
        (Under("orchestrator/pending-learnings"), Learnings),
        (Under("orchestrator/process-learnings"), Learnings),
        (Under("orchestrator/process-all-learnings"), Learnings),
        (Under("orchestrator/extract-learnings"), Learnings),
        (Is("directories"), Filesystem),
        (Is("files/search"), Filesystem),
        (Under("run-viewer-extract"), Filesystem),
        (Below("work-directory"), Filesystem),
        (Below("orchestrator/attachments"), Filesystem),
        (Below("orchestrator/upload"), Filesystem),
        (Under("settings/binary-paths"), BinaryPathsSettings),
    ]
};

impl OperationId {
    /// Returns the operation of a path below `/api/gateway/`; `path` must not contain a query.
    ///
    /// Prefixes match whole segments. The rules also apply to paths without a route: the gateway answers 501
    /// when a rule matches and rejects the request otherwise.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let rest = path.strip_prefix(GATEWAY_PREFIX)?;
        RULES.iter().find(|(rule, _)| rule.matches(rest)).map(|(_, operation)| *operation)
    }
}

impl OperationRule {
    fn matches(&self, rest: &str) -> bool {
        let below = |prefix: &str| {
            rest.strip_prefix(prefix)
                .and_then(|tail| tail.strip_prefix('/'))
                .is_some_and(|tail| !tail.is_empty())
        };
        match self {
            Self::Is(path) => rest == *path,
            Self::Under(path) => rest == *path || below(path),
            Self::Below(path) => below(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rest: &str) -> Option<&'static str> {
        OperationId::of_path(&format!("{GATEWAY_PREFIX}{rest}")).map(OperationId::as_str)
    }

    #[test]
    fn schema_lists_operations_by_wire_id() {
        use utoipa::PartialSchema as _;
        let schema = serde_json::to_value(OperationId::schema()).unwrap();
        assert_eq!(schema["enum"], serde_json::json!(OperationId::ALL.map(OperationId::as_str)));
    }

    #[test]
    fn narrower_prefix_takes_precedence() {
        assert_eq!(of("reviewer/argue/T-1"), Some("reviewer_argue"));
        assert_eq!(of("reviewer/review/T-1"), Some("reviewer_review"));
        assert_eq!(of("git/branch-worktree"), Some("git_branch_worktree"));
        assert_eq!(of("git/pr/list"), Some("git_pr"));
        assert_eq!(of("git/user"), Some("git_pr"));
        assert_eq!(of("git"), Some("git_action"));
        assert_eq!(of("orchestrator/plan/T-1"), Some("orchestrator_plan"));
        assert_eq!(of("orchestrator/plan-loop/T-1/prepare"), Some("orchestrator_plan_loop"));
        assert_eq!(of("orchestrator/chat-history/T-1"), Some("orchestrator_chat_history"));
    }

    #[test]
    fn prefixes_match_whole_segments() {
        assert_eq!(of("gitx"), None);
        assert_eq!(of("deployment"), None);
        assert_eq!(of("nope"), None);
        assert_eq!(OperationId::of_path("/api/other/git"), None);
    }

    #[test]
    fn every_operation_has_a_path() {
        for operation in OperationId::ALL {
            assert!(RULES.iter().any(|(_, o)| *o == operation), "{operation}");
        }
    }
}
