//! The 28 operations that approval policy and telemetry know, their risk and their paths.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How much harm an operation can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RiskTier {
    /// Below every operation: as a threshold it makes each one wait.
    None,
    /// Reads that show nothing private.
    Low,
    /// The ordinary tier.
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
            /// Every operation.
            pub const ALL: [Self; 28] = [$(Self::$variant),*];

            /// The identifier as it travels.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $id),* }
            }

            /// The tier of the operation's most dangerous method.
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
    /// Starts a loop ordered by the control plane.
    OrchestratorLoop = "orchestrator_loop", Medium;
    /// Stops such a loop.
    OrchestratorLoopKill = "orchestrator_loop_kill", Medium;
    /// The browser's three-step planning flow.
    OrchestratorPlanLoop = "orchestrator_plan_loop", Medium;
    /// State of a ticket or work directory.
    OrchestratorStatus = "orchestrator_status", Low;
    /// Stops by pid or ticket.
    OrchestratorKill = "orchestrator_kill", Medium;
    /// Chat about a ticket.
    OrchestratorChat = "orchestrator_chat", Medium;
    /// Chat about a review comment.
    OrchestratorCommentChat = "orchestrator_comment_chat", Medium;
    /// Generated commit text.
    OrchestratorCommitMessage = "orchestrator_commit_message", Medium;
    /// Session list.
    OrchestratorSessions = "orchestrator_sessions", Medium;
    /// Plan of a ticket.
    OrchestratorPlan = "orchestrator_plan", Medium;
    /// Judges' output of a ticket.
    OrchestratorJudges = "orchestrator_judges", Medium;
    /// Tail of a ticket's log.
    OrchestratorLogs = "orchestrator_logs", Low;
    /// Stored chat messages.
    OrchestratorChatHistory = "orchestrator_chat_history", Medium;
    /// Terminal chat session.
    TerminalChat = "terminal_chat", Medium;
    /// Ticket chat session.
    TicketChat = "ticket_chat", Medium;
    /// Run-viewer chat session.
    RunViewerChat = "run_viewer_chat", Medium;
    /// Everything of the reviewer but argue.
    ReviewerReview = "reviewer_review", Medium;
    /// Argue with the reviewer.
    ReviewerArgue = "reviewer_argue", Medium;
    /// Local git work.
    GitAction = "git_action", Medium;
    /// Pull requests.
    GitPr = "git_pr", Medium;
    /// Looks up the worktree of a branch.
    GitBranchWorktree = "git_branch_worktree", Low;
    /// Health, version, MCP metadata.
    HealthCheck = "health_check", Low;
    /// Managed repositories.
    ReposConfig = "repos_config", Medium;
    /// Deployments.
    Deploy = "deploy", High;
    /// Learnings.
    Learnings = "learnings", Medium;
    /// Directories, search, uploads, attachments.
    Filesystem = "filesystem", Medium;
    /// Paths of the five programs.
    BinaryPathsSettings = "binary_paths_settings", Medium;
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Namespace of the gateway's authenticated routes.
pub const GATEWAY_PREFIX: &str = "/api/gateway/";

enum OperationRule {
    /// The whole rest of the path.
    Is(&'static str),
    /// The path itself or anything below it.
    Under(&'static str),
    /// Anything below it, not the path itself.
    Below(&'static str),
}

/// Tried in order; the first rule that matches wins.
const RULES: &[(OperationRule, OperationId)] = {
    use OperationId::*;
    use OperationRule::*;
    &[
        (Is("orchestrator/launch"), OrchestratorLaunch),
        (Is("orchestrator/loop"), OrchestratorLoop),
        (Is("orchestrator/loop/kill"), OrchestratorLoopKill),
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
        (Below("reviewer/argue"), ReviewerArgue),
        (Below("reviewer"), ReviewerReview),
        (Is("git/branch-worktree"), GitBranchWorktree),
        (Under("git/pr"), GitPr),
        (Is("git/user"), GitPr),
        (Under("git"), GitAction),
        (Is("health-check"), HealthCheck),
        (Is("version"), HealthCheck),
        (Is("mcp-auth"), HealthCheck),
        (Is("openapi.json"), HealthCheck),
        (Is("repos"), ReposConfig),
        (Under("deploy"), Deploy),
        (Is("learnings"), Learnings),
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
    /// The operation of a path below `/api/gateway/`, without its query.
    ///
    /// Prefixes match whole segments. The rules also decide for a path that has no route: below
    /// one of them it is answered 501, elsewhere it is refused.
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
    fn description_lists_operations_as_they_travel() {
        use utoipa::PartialSchema as _;
        let described = serde_json::to_value(OperationId::schema()).unwrap();
        assert_eq!(described["enum"], serde_json::json!(OperationId::ALL.map(OperationId::as_str)));
    }

    #[test]
    fn overlapping_prefixes_go_to_the_narrower_operation() {
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
