//! What is known of a review: the file that other programs read, too.

use loopgate_api::provider::ProviderId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How far a review is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewStatus {
    /// Its program runs.
    Running,
    /// Its program exited with 0.
    Completed,
    /// Its program failed or took too long.
    Failed,
    /// A person stopped it, or its program is gone and nobody knows how it ended.
    Stopped,
}

impl ReviewStatus {
    /// The word that is in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// Which changes a review is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewMode {
    /// Those that are not committed.
    Uncommitted,
    /// Those since the worktree left its base branch.
    #[default]
    Base,
    /// Those of one commit.
    Commit,
}

/// What a review was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewConfig {
    /// The model.
    pub model: String,
    /// How long the model may think, in the program's words.
    pub reasoning_effort: String,
    /// Which changes it is about.
    pub review_mode: ReviewMode,
    /// The branch that the changes are compared with.
    pub base_branch: String,
    /// The commit, in the mode `commit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What the person wants looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// A review by one provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewState {
    /// How far it is.
    pub status: ReviewStatus,
    /// The pid of its program, also after its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// When its program was started: ISO 8601, UTC.
    pub started_at: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// The exit code of its program; 1 for a signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Who reviews.
    pub provider: ProviderId,
    /// The program's session; known at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What was asked for.
    pub config: ReviewConfig,
}

impl ReviewState {
    /// Notes that it was stopped, unless it had ended.
    pub(crate) fn stop(&mut self) {
        if self.status == ReviewStatus::Running {
            self.status = ReviewStatus::Stopped;
            self.completed_at = Some(loopgate_api::time::now_iso());
        }
    }

    /// Notes how its program ended. One that was stopped stays so.
    pub(crate) fn end(&mut self, success: bool, exit_code: i32, session_id: Option<String>) {
        if self.status != ReviewStatus::Stopped {
            self.status = if success { ReviewStatus::Completed } else { ReviewStatus::Failed };
            self.completed_at = Some(loopgate_api::time::now_iso());
        }
        self.exit_code = Some(exit_code);
        self.session_id = session_id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running() -> ReviewState {
        let config = ReviewConfig {
            model: "m-1".to_owned(),
            reasoning_effort: "medium".to_owned(),
            review_mode: ReviewMode::Base,
            base_branch: "main".to_owned(),
            commit: None,
            instructions: None,
        };
        ReviewState {
            status: ReviewStatus::Running,
            pid: Some(7),
            started_at: "2030-01-01T00:00:00.000Z".to_owned(),
            completed_at: None,
            exit_code: None,
            provider: ProviderId::REVIEWER,
            session_id: None,
            config,
        }
    }

    #[test]
    fn only_a_running_review_can_be_stopped() {
        let mut state = running();
        state.stop();
        let stopped_at = state.completed_at.clone();
        assert!(state.status == ReviewStatus::Stopped && stopped_at.is_some());
        state.end(false, 1, Some("s".to_owned()));
        assert_eq!((state.status, state.exit_code), (ReviewStatus::Stopped, Some(1)));
        assert_eq!(state.completed_at, stopped_at);
        let mut state = running();
        state.end(true, 0, None);
        state.stop();
        assert_eq!(state.status, ReviewStatus::Completed);
    }
}
