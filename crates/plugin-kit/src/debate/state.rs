//! State of a debate, stored next to its plan so that an interrupted debate can be resumed.

use std::path::{Path, PathBuf};

/// Next step of a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The user reads the plan.
    UserReview,
    /// The reviewer reviews the plan.
    ReviewerReview,
    /// The assistant revises the plan.
    AssistantRevision,
}

impl Phase {
    const fn name(self) -> &'static str {
        match self {
            Self::UserReview => "user_review",
            Self::ReviewerReview => "reviewer_review",
            Self::AssistantRevision => "assistant_revision",
        }
    }

    fn parse(name: &str) -> Self {
        match name {
            "user_review" => Self::UserReview,
            "assistant_revision" => Self::AssistantRevision,
            _ => Self::ReviewerReview,
        }
    }
}

/// Persisted state of a debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebateState {
    /// Session id of the assistant.
    pub session: String,
    /// Session id of the reviewer.
    pub reviewer_session: Option<String>,
    /// Current round, starting at 1.
    pub round: u32,
    /// Next step of the debate.
    pub phase: Phase,
    /// Id of the reviewer's log.
    pub log_id: Option<String>,
}

impl DebateState {
    /// Parses lines of the form `KEY=value`; missing ones have defaults. `None` without the assistant's
    /// session.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
            Some(line.trim().to_owned()).filter(|value| !value.is_empty())
        };
        Some(Self {
            session: value("SESSION_ID")?,
            reviewer_session: value("REVIEWER_SESSION_ID"),
            round: value("ROUND").and_then(|round| round.parse().ok()).unwrap_or(1),
            phase: Phase::parse(&value("PHASE").unwrap_or_default()),
            log_id: value("LOG_ID"),
        })
    }

    /// Formats the content of the state file.
    #[must_use]
    pub fn render(&self) -> String {
        format!(
            "SESSION_ID={}\nREVIEWER_SESSION_ID={}\nROUND={}\nPHASE={}\nLOG_ID={}\n",
            self.session,
            self.reviewer_session.as_deref().unwrap_or_default(),
            self.round,
            self.phase.name(),
            self.log_id.as_deref().unwrap_or_default(),
        )
    }
}

/// Returns the path of a file next to the plan that replaces the extension `.md`, or is appended to any other
/// name.
#[must_use]
pub fn sidecar(plan: &Path, ending: &str) -> PathBuf {
    let mut name = plan.with_extension("").into_os_string();
    if plan.extension().is_some_and(|extension| extension != "md") {
        name = plan.as_os_str().to_owned();
    }
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_round_trips_and_missing_lines_have_defaults() {
        let state = DebateState {
            session: "s".into(),
            reviewer_session: Some("r".into()),
            round: 3,
            phase: Phase::AssistantRevision,
            log_id: None,
        };
        assert_eq!(DebateState::parse(&state.render()), Some(state));
        let bare = DebateState::parse("SESSION_ID=s\n").unwrap();
        assert_eq!((bare.round, bare.phase), (1, Phase::ReviewerReview));
        assert_eq!(DebateState::parse("ROUND=2\n"), None);
    }

    #[test]
    fn sidecar_path_is_next_to_the_plan() {
        assert_eq!(sidecar(Path::new("/a/plan.md"), ".state"), Path::new("/a/plan.state"));
        assert_eq!(sidecar(Path::new("/a/plan.v2"), ".state"), Path::new("/a/plan.v2.state"));
    }
}
